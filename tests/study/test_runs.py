"""Splits and cost profiles: shared by all methods, independent of chunks, refused when wrong."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.synthetic import generate
from budgetbench.study.runs import (
    choosing_rows,
    draw_costs,
    draw_splits,
    iterate,
    profiles_of,
    ratio_of_test_rows,
)
from budgetlearn.costs import read_prices
from budgetlearn.exceptions import CostError

SIZES = [0.6, 0.2, 0.2]


def test_runs_do_not_depend_on_their_chunk(wine):
    together = draw_splits(wine, [0, 1, 2], 5, SIZES)
    assert together[["2"]].equals(draw_splits(wine, [2], 5, SIZES))
    costs = draw_costs(wine, "random", [0, 1, 2], 5)
    alone = draw_costs(wine, "random", [2], 5)
    assert costs[costs["run"] == 2].reset_index(drop=True).equals(alone)


@pytest.mark.parametrize(
    ("sizes", "refit", "ratio"),
    [
        (SIZES, False, 36 / 107),
        (SIZES, True, 36 / 142),
        ([0.5, 0.1, 0.4], False, 71 / 89),
        ([90, 30, "rest"], True, 58 / 120),
        ([0.8, 0, 0.2], False, 36 / 128),  # of 142 training rows a tenth validates
    ],
)
def test_validation_rows_train_only_where_models_are_fitted_again(wine, sizes, refit, ratio):
    study = SimpleNamespace(seed=5, sizes=lambda _: sizes, config={"refit": refit})
    assert ratio_of_test_rows(wine, study) == pytest.approx(ratio, rel=1e-9)


def test_a_given_split_without_validation_holds_out_training_rows(wine):
    given = np.repeat(np.int8([0, 2]), [120, 58])
    given = given[np.random.default_rng(0).permutation(178)]
    parts = draw_splits(replace(wine, part=given), [0, 1], 5, "given")
    for run in ("0", "1"):
        assert ((parts[run] == 2) == (given == 2)).all()
        assert (parts[run] == 1).sum() == 12
        held_out = np.bincount(wine.y[parts[run] == 1])
        np.testing.assert_allclose(held_out, np.bincount(wine.y[given == 0]) / 10, atol=1)
    assert (parts["0"] != parts["1"]).any()


def test_a_given_validation_part_stays(wine):
    given = np.arange(178) % 3
    parts = draw_splits(replace(wine, part=given), [0], 5, "given")
    assert parts["0"].tolist() == given.tolist()


def test_held_out_queries_stay_whole():
    table = generate("yahoo_like", n_samples=600, seed=1)
    groups = table.groups
    data = Dataset(**vars(table), id="documents", title="Documents", task="ranking")
    data = replace(data, part=np.where(groups < np.median(groups), 0, 2))
    part = draw_splits(data, [0], 5, "given")["0"]
    assert set(part) == {0, 1, 2}
    assert all(len(set(query)) == 1 for _, query in part.groupby(groups))


def test_half_of_each_class_chooses_between_methods_in_all_runs(wine):
    choosing = choosing_rows(wine, 5)
    np.testing.assert_allclose(np.bincount(wine.y[choosing]), np.bincount(wine.y) / 2, atol=1)
    assert (choosing == choosing_rows(wine, 5)).all()
    assert (choosing != choosing_rows(wine, 6)).any()
    splits, costs = draw_splits(wine, [0, 1], 5, SIZES), draw_costs(wine, "unit", [0, 1], 5)
    for run in iterate(wine, splits, costs, "unit", 5):
        test = np.flatnonzero(splits[str(run.number)] == 2)
        assert (run.choosing == choosing[test]).all()


def test_no_method_can_change_the_data_of_a_run(wine):
    splits, costs = draw_splits(wine, [0], 5, SIZES), draw_costs(wine, "unit", [0], 5)
    (run,) = iterate(wine, splits, costs, "unit", 5)
    for values in (*run.train, *run.valid, *run.test):
        with pytest.raises(ValueError, match="read-only"):
            values *= 2


def test_whole_queries_choose_between_methods():
    table = generate("yahoo_like", n_samples=600, seed=1)
    data = Dataset(**vars(table), id="documents", title="Documents", task="ranking")
    choosing = choosing_rows(data, 5)
    sides = [set(table.groups[side]) for side in (choosing, ~choosing)]
    assert not sides[0] & sides[1]
    assert abs(len(sides[0]) - len(sides[1])) <= 1


def test_rows_of_one_group_are_on_one_side_in_all_that_a_run_splits(wine):
    grouped = replace(wine, groups=np.arange(178) // 3)
    (run,) = iterate(
        grouped, draw_splits(grouped, [0], 5, SIZES), draw_costs(wine, "unit", [0], 5), "unit", 5
    )
    assert run.valid_queries is None  # scored by rows; only in ranking by query
    choosing = choosing_rows(grouped, 5)
    assert not set(grouped.groups[choosing]) & set(grouped.groups[~choosing])


def test_random_costs_are_whole_numbers_of_the_range(wine):
    cost = draw_costs(wine, "random", range(50), 5)["cost"]
    assert (cost == cost.round()).all()
    assert (cost.min(), cost.max()) == (1, 100)


def test_unit_costs(wine):
    assert (draw_costs(wine, "unit", [0], 5)["cost"] == 1).all()


def price_list(wine, **changes):
    frame = pd.DataFrame({"feature": wine.feature_names, "cost": np.arange(13.0)})
    return frame.assign(**changes)


def test_given_costs_with_groups_survive_the_file(wine, tmp_path):
    group = ["lab"] * 3 + [None] * 10
    given = price_list(wine, group=group, group_cost=[5.0] * 3 + [None] * 10).sample(
        frac=1, random_state=0
    )
    path = tmp_path / "costs.csv"
    draw_costs(wine, "given", [4], 5, given).to_csv(path, index=False)
    costs = profiles_of(read_prices(path), wine.feature_names)[4]
    assert costs.costs.tolist() == list(range(13))
    assert costs.subset([0]) == 5
    assert costs.subset([0, 1, 3]) == 5 + 1 + 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.iloc[:12], "no price for features: proline"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "features more than once: alcohol"),
        (lambda f: f.replace("proline", "x"), "unknown features: x; no price for features: pro"),
        (lambda f: f.assign(cost=-1.0), ">= 0"),
        (lambda f: f.assign(cost=np.nan), "finite"),
        (
            lambda f: f.assign(group="lab", group_cost=f["cost"]),
            "'lab' must have the same .* 0, 1,",
        ),
        (lambda f: f.assign(group="lab", group_cost=[5.0] * 12 + [np.nan]), r"found 5, none\."),
        (lambda f: f.assign(group="lab"), r"found none\."),
        (lambda f: f.assign(group_cost=3.0), "'alcohol' has a group_cost but no group"),
    ],
)
def test_wrong_price_lists_are_refused(wine, change, message):
    with pytest.raises(CostError, match=message):
        draw_costs(wine, "given", [0], 5, change(price_list(wine)))


def test_gaps_are_filled_from_the_training_rows_of_each_run(wine):
    X, words = wine.X.copy(), np.arange(178) % 3
    X[:, 1] = words
    X[::5, :2] = np.nan
    table = replace(wine, X=X, gaps=True, categories={wine.feature_names[1]: ("a", "b", "c")})
    splits = draw_splits(table, [0, 1], 5, SIZES)
    runs = iterate(table, splits, draw_costs(table, "unit", [0, 1], 5), "unit", 5)
    for run, column in zip(runs, splits.columns, strict=True):
        train = X[splits[column] == 0]
        numbers, codes = (train[~np.isnan(train[:, k]), k] for k in (0, 1))
        counts = np.unique(codes, return_counts=True)
        for part, rows in enumerate((run.train, run.valid, run.test)):
            own = X[splits[column] == part]
            gaps = np.isnan(own[:, 0])
            assert (rows[0][gaps, 0] == np.median(numbers)).all()
            assert (rows[0][gaps, 1] == counts[0][counts[1].argmax()]).all()
            np.testing.assert_array_equal(rows[0][~gaps], own[~gaps])
