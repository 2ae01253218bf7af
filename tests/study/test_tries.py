"""Equal tries: settings drawn from declared spaces, each with all models that it comes to."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from budgetbench.study import experiment, records
from budgetbench.study.experiment import (
    MOST_MORE,
    OUT_OF_FOLD,
    fit,
    operating_points,
    refitted,
    run_method,
    settings_of,
    with_seconds,
)
from budgetbench.study.methods import build
from budgetlearn.files import read_yaml
from budgetlearn.peers import FreeConstantClassifier, GreedyMiserClassifier

ROOT = Path(__file__).resolve().parents[2]
METHODS = read_yaml(ROOT / "config/methods.yaml")
SPACE = {"depth": [1, 2, None], "rate": {"low": 0.01, "high": 1, "log": True}}
FILTER = {
    "class": "budgetlearn.peers.FilterForestClassifier",
    "parameters": {"n_estimators": 3, "n_selected": [1, 2, 5]},
    "space": {"cost_exponent": {"low": 0, "high": 2}, "n_estimators": [3, 5]},
}


def drawn(space, tries=200):
    return settings_of("m", {"space": space, "tries": tries}, 1, "wine")


def test_the_methods_own_setting_comes_first_then_draws():
    settings = drawn(SPACE)
    assert 180 < len(settings) <= 200
    assert settings[0] == {}
    assert {setting["depth"] for setting in settings[1:]} == {1, 2, None}
    rates = np.array([setting["rate"] for setting in settings[1:]])
    assert 0.01 <= rates.min() < rates.max() <= 1
    assert 0.07 < np.median(rates) < 0.14  # 0.1 halves a logarithmic range
    assert settings == drawn(SPACE)
    assert settings != settings_of("other", {"space": SPACE, "tries": 200}, 1, "wine")


def test_one_of_several_spaces_is_drawn_from():
    settings = drawn([{"a": [1]}, {"b": {"low": 2, "high": 9, "integer": True}}])[1:]
    numbers = [setting["b"] for setting in settings if "b" in setting]
    assert {"a": 1} in settings
    assert all(setting.keys() in ({"a"}, {"b"}) for setting in settings)
    assert all(isinstance(number, int) for number in numbers)
    assert set(numbers) <= set(range(2, 10))


def test_what_is_drawn_again_is_not_tried_again():
    assert drawn({"a": [1, 2]}) in ([{}, {"a": 1}, {"a": 2}], [{}, {"a": 2}, {"a": 1}])


def test_without_a_space_the_grid_is_tried():
    assert settings_of("m", {"grid": {"a": [1, 2]}}, 1, "wine") == [{"a": 1}, {"a": 2}]
    assert settings_of("m", {}, 1, "wine") == [{}]


@pytest.mark.parametrize("tries", [1, 3, 10])
def test_tries_are_settings_whatever_each_comes_to(wine_runs, tries):
    rows = list(run_method("filter", {**FILTER, "tries": tries}, wine_runs[0]))
    assert {row["fit"] for row in rows} == set(range(tries))
    assert {row["n_fitted"] for row in rows} == {3}
    assert {row["status"] for row in rows} == {"ok"}


def test_ten_tradeoffs_are_one_try(wine_runs):
    spec = METHODS["lightgbm_coupled"]
    spec = {**spec, "parameters": {**spec["parameters"], "n_trees": [1]}, "tries": 3}
    rows = list(run_method("lightgbm_coupled", spec, wine_runs[0]))
    assert {(row["fit"], row["n_fitted"]) for row in rows} == {(0, 10), (1, 10), (2, 10)}


def test_refitting_learns_from_validation_data_and_is_chosen_without(wine_runs):
    run, plain = wine_runs[0], {**FILTER, "tries": 6}
    once, again = (
        list(run_method("filter", spec, run)) for spec in (plain, plain | {"refit": True})
    )
    assert [row["valid_score"] for row in once] == [row["valid_score"] for row in again]
    assert [row["setting"] for row in once] == [row["setting"] for row in again]
    assert [row["test_score"] for row in once] != [row["test_score"] for row in again]


def test_folds_of_training_and_validation_rows_measure_what_is_chosen_out_of_fold(wine_runs):
    run, spec = wine_runs[0], {"class": FILTER["class"], "parameters": FILTER["parameters"]}
    fitted = []
    rows = list(run_method("filter", spec | {"refit": OUT_OF_FOLD}, run, fitted=fitted))
    both = [np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True)]
    alone = clone(fitted[0]).fit(*both)
    measured = [(row["valid_cost"], row["valid_score"]) for row in rows]
    points = alone.operating_points_
    assert measured == list(zip(points["cost"], points["score"], strict=True))
    right = [(stage.output == run.test[1]).mean() for stage in alone.stages(run.test[0])]
    assert [row["test_score"] for row in rows] == right
    once = list(run_method("filter", spec, run))
    assert rows[0]["n_fitted"] == 6 * once[0]["n_fitted"]


class Remembers(BaseEstimator):
    """What fit was given; like those of some users, `fit` returns nothing."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y


def test_refitting_learns_from_each_training_and_validation_row_once(wine_runs):
    run = wine_runs[0]
    again = refitted(Remembers(), run)
    for given, part in ((again.X_, 0), (again.y_, 1)):
        np.testing.assert_array_equal(given, np.concatenate([run.train[part], run.valid[part]]))


def test_a_refit_without_features_does_not_replace_a_stage_that_has_some(wine_runs):
    run, prices = wine_runs[0], wine_runs[0].costs
    first, final = (
        GreedyMiserClassifier(feature_costs=prices, cost_weights=weights, n_trees=(2, 4)).fit(
            *run.train
        )
        for weights in ((10, 3, 1, 0), (3e5, 1e5, 1, 0))
    )
    alone = pd.DataFrame(operating_points(final, run))
    pairs = pd.DataFrame(operating_points(first, run, final=final))
    lost = (pairs["valid_cost"] > 0) & (alone["n_features"] == 0)
    assert 2 <= lost.sum() < len(lost) - 2
    names = ["test_score", "cost", "n_features", "cost_max", "n_nodes", "n_bytes"]
    for place, row in pairs.iterrows():
        stand_in = place
        if lost[place]:
            # As many trees: every second stage.
            others = [k for k in alone.index[place % 2 :: 2] if alone["n_features"][k] > 0]
            stand_in = min(others, key=lambda k: abs(alone["cost"][k] - row["valid_cost"]))
        assert row[names].tolist() == alone.loc[stand_in, names].tolist()
        assert row["setting"] == alone["setting"][place]


def test_the_seconds_of_a_fit_have_those_of_refitting(wine_runs, monkeypatch):
    monkeypatch.setattr(experiment, "refitted", lambda model, run: time.sleep(0.3))
    spec = {"class": f"{__name__}.Resumed", "refit": True}
    (row,) = run_method("resumed", spec, wine_runs[0])
    assert row["fit_seconds"] >= 100.3


def test_what_sees_validation_data_in_fit_is_not_refitted(wine_runs):
    logit = {"class": "budgetlearn.msb.LogitPathClassifier", "parameters": {"n_lambda": 20}}
    once, again = (
        list(run_method("m", spec, wine_runs[0])) for spec in (logit, logit | {"refit": True})
    )
    assert [row["test_score"] for row in once] == [row["test_score"] for row in again]
    assert once[0]["n_fitted"] == again[0]["n_fitted"] == 1  # a path is one fit


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if "space" in spec])
def test_every_part_of_a_declared_space_can_be_fitted(method, wine_runs, regression_run):
    spec, least = METHODS[method], {"n_estimators": 2, "n_trees": [2]}
    regresses = "regressor" in method
    run = regression_run if regresses else wine_runs[0]
    spaces = spec["space"] if isinstance(spec["space"], list) else [spec["space"]]
    for space in spaces:
        settings = settings_of(method, {"space": space, "tries": 3}, 1, "wine")[1:]
        for setting in [*settings, {name: _last(values) for name, values in space.items()}]:
            model = build(spec, feature_costs=run.costs, random_state=0)
            names = model.get_params().keys() & (least.keys() - setting.keys())
            model.set_params(**{name: least[name] for name in names}).set_params(**setting)
            fit(model, run)


def _last(values):
    return values[-1] if isinstance(values, list) else values["high"]


def test_seconds_that_are_left_acquire_more_settings(wine_runs):
    plain = {**FILTER, "tries": 2}
    more = {**plain, "seconds_of": "cascade"}
    fits = [
        sorted({row["fit"] for row in run_method("filter", spec, wine_runs[0])})
        for spec in (plain, more | {"seconds": 0.0}, more | {"seconds": 1e9})
    ]
    most = len(settings_of("filter", more, wine_runs[0].study_seed, "wine"))
    assert fits == [[0, 1], [0, 1], list(range(most))]
    assert most > MOST_MORE


class Resumed(FreeConstantClassifier):
    """A fit that took a hundred seconds before it was resumed, and hardly any since."""

    resumed_seconds_ = 100.0

    def __init__(self, number=0, feature_costs=None):
        super().__init__(feature_costs=feature_costs)
        self.number = number


def test_the_seconds_that_are_left_are_those_of_all_fits(wine_runs):
    space = {"number": {"low": 1, "high": 1000, "integer": True}}
    spec = {"class": f"{__name__}.Resumed", "space": space, "tries": 1}
    spec |= {"seconds_of": "cascade", "seconds": 250.0}
    rows = list(run_method("resumed", spec, wine_runs[0]))
    assert [row["fit"] for row in rows] == [0, 1, 2]  # 200 seconds leave room for one more


def test_the_tries_are_the_same_with_seconds_left(wine_runs):
    plain = {**FILTER, "tries": 3}
    more = {**plain, "seconds_of": "cascade"}
    assert settings_of("m", more, 1, "wine")[:3] == settings_of("m", plain, 1, "wine")


def test_the_seconds_are_those_of_the_same_run(tmp_path):
    spec = {"tries": 2, "seconds_of": "cascade"}
    names = {"dataset": "wine", "costs": "unit", "method": "cascade"}
    rows = [
        {**names, "run": run, "fit": fit, "stage": 10 * fit + stage, "processor_seconds": 3.0 + run}
        for run in (0, 1)
        for fit in (0, 1)
        for stage in (0, 1)
    ]
    records.write(rows, tmp_path / "0.parquet")
    assert with_seconds(spec, 1, [tmp_path / "0.parquet"])["seconds"] == 8.0
    assert with_seconds(spec, 9, [tmp_path / "0.parquet"])["seconds"] == 0.0
    assert with_seconds(spec, 1, []) == spec
