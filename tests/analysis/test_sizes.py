"""Error against memory: what validation data choose within each budget of nodes."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.budgets import best_in_little, size_table

CASE = ("wine", "unit")


def points_of(rows, **changes):
    """Operating points from (method, run, fit, nodes, validation score, test score)."""
    columns = ["method", "run", "fit", "n_nodes", "valid_score", "test_score"]
    frame = pd.DataFrame(rows, columns=columns).assign(dataset="wine", costs="unit", status="ok")
    frame["setting"] = "depth=" + frame["fit"].astype(str)
    sizes = frame["n_nodes"].astype(float)
    known = {"n_nodes": sizes, "n_bytes": 8 * sizes, "test_mse": np.nan, "fit_seconds": 1.0}
    return frame.assign(**known, **changes)


def drawn_points(random, n_runs):
    """Two settings, each of some sizes, scores of both kinds drawn apart."""
    return points_of(
        [
            ("m", run, fit, nodes, random.integers(5) / 5, random.random())
            for run in range(n_runs)
            for fit in range(2)
            for nodes in random.integers(1, 300, 6)
        ]
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_tuned_method_is_what_validation_data_choose_within_each_budget(seed):
    points = drawn_points(np.random.default_rng(seed), n_runs=3)
    table = size_table(points, ["m"], {("wine", "m")}).set_index("setting")
    before = None
    for budget in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        within = points[points["n_nodes"] <= budget].sort_values("n_nodes", kind="stable")
        chosen = within.loc[within.groupby("run")["valid_score"].idxmax()]
        errors, name = list(1 - chosen["test_score"]), f"≤ {budget} nodes"
        if len(chosen) < 3 or errors == before:
            assert name not in table.index
            continue
        before = errors
        assert table.loc[name, "error"] == pytest.approx(np.mean(errors))
        assert table.loc[name, "n_nodes"] == pytest.approx(chosen["n_nodes"].mean())
    assert set(table["n_runs"]) == {3}
    assert set(table["variant"]) == {""}


def test_others_keep_all_their_sizes():
    points = drawn_points(np.random.default_rng(0), n_runs=1)
    assert len(size_table(points, ["m"])) == len(points.groupby(["fit", "setting"]))


def test_of_several_variants_validation_data_name_the_one_that_competes():
    rows = [
        ("a", 0, 0, 10, 0.9, 0.6), ("a", 0, 1, 10, 0.8, 1.0),  # better on test data only
        ("b", 0, 0, 10, 0.5, 0.7),
    ]  # fmt: skip
    table = size_table(points_of(rows), ["a", "b"])
    assert sorted(table["variant"]) == ["", "depth=0", "depth=1"]
    assert best_in_little(table, [CASE]) == ["b"]
    assert best_in_little(size_table(points_of(rows[:2]), ["a"]), [CASE]) == ["depth=1"]
    # Equal errors are nobody's win.
    alike = size_table(points_of([(*row[:-1], 0.7) for row in rows]), ["a", "b"])
    assert best_in_little(alike, [CASE]) == ["several with equal errors"]
    # Each case has its own winner, or none if sizes are unknown or nobody competes.
    turned = [(*row[:-1], 1 - row[-1]) for row in rows]
    other, third = points_of(turned, costs="random"), points_of(turned, dataset="iris")
    parts = points_of(rows), other, third.assign(n_bytes=np.nan)
    table = size_table(pd.concat(parts, ignore_index=True), ["a", "b"])
    cases = [CASE, ("wine", "random"), ("iris", "unit")]
    assert best_in_little(table, cases) == ["b", "a", "a"]
    assert best_in_little(table, cases, "n_bytes") == ["b", "a"]
    assert best_in_little(table[table["method"] == "b"], cases) == []
    # Of a variant, the largest model of that size competes, whatever is preferred of the smaller.
    smaller = table[table["method"] == "b"].assign(n_nodes=5.0, valid_score=1.0, error=0.9)
    assert best_in_little(pd.concat([table, smaller]), [CASE]) == ["b"]


def test_a_tuned_method_without_models_has_no_rows():
    points = points_of([("m", 0, 0, 10, 0.5, 0.5)], status="failed: no")
    assert size_table(points, ["m"], {("wine", "m")}).empty


def test_a_tuned_method_whose_models_have_no_node_has_one_size():
    points = drawn_points(np.random.default_rng(0), 2).assign(n_nodes=0.0, valid_score=0.5)
    table = size_table(points, ["m"], [("wine", "m")])
    assert table["setting"].tolist() == ["≤ 1 nodes"]
    assert table["n_nodes"].tolist() == [0]
