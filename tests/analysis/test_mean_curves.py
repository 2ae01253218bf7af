"""Mean curves: exact staircases whose area is the AUP."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis import areas as mean_curves
from budgetbench.analysis.schedules import compressed_points
from tests.factories import fail, make_points, make_results


def schedules(points, method, dataset="wine"):
    kept = compressed_points(points).query("dataset == @dataset")
    baselines = kept[kept["method"] == "constant"].set_index("run")["test_score"]
    return kept[kept["method"] == method], baselines


def test_a_budget_gets_the_last_model_that_it_affords():
    # Test costs in another order than that of the schedule: no budget is worse off for more.
    costs, values = np.array([1.0, 3.001, 3.0, 5.0, 5.0]), np.array([0.7, 0.1, 0.9, 0.2, 0.8])
    budgets = np.array([0.5, 1.0, 2.9, 3.0, 3.001, 5.0, 9.0])
    got = mean_curves.staircase(costs, values, budgets, 0.4)
    assert got.tolist() == [0.4, 0.7, 0.7, 0.9, 0.9, 0.8, 0.8]
    assert mean_curves.staircase(np.zeros(0), np.zeros(0), budgets, 0.4).tolist() == [0.4] * 7


@pytest.mark.parametrize("method", ["msb", "logitb"])
def test_the_area_under_the_mean_curve_is_the_mean_aup(method):
    points = make_points()
    own, baselines = schedules(points, method)
    curve = mean_curves.mean_curve(own, "cost_fraction", baselines)
    edges = np.concatenate(([0.0], curve["budget"], [1.0]))
    heights = np.concatenate(([baselines.mean()], curve["mean"]))
    areas = make_results(points).areas.query("dataset == 'wine' and method == @method")
    assert np.diff(edges) @ heights == pytest.approx(areas["aup_test"].mean())


def test_the_spread_is_the_one_over_runs_and_vanishes_for_one():
    own, baselines = schedules(make_points(), "msb")
    curve = mean_curves.mean_curve(own, "cost", baselines)
    last = own.sort_values("cost").groupby("run")["test_score"].last()
    assert curve["sd"].iloc[-1] == pytest.approx(last.std())
    assert curve["n_affording"].is_monotonic_increasing
    assert curve["n_affording"].iloc[-1] == curve["n_runs"].iloc[-1] == 5
    alone = mean_curves.mean_curve(own[own["run"] == 0], "cost", baselines.loc[[0]])
    assert alone["sd"].isna().all()
    # Sums of the same prices in another order are one budget.
    summed = own.groupby("run").head(1).assign(cost=[0.3, 0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2])
    (row,) = mean_curves.mean_curve(summed, "cost", baselines).itertuples()
    assert (row.budget, row.n_affording) == (0.3, 5)


def test_many_budgets_are_thinned_to_exact_values(monkeypatch):
    own, baselines = schedules(make_points(), "msb")
    full = mean_curves.mean_curve(own, "cost", baselines).set_index("budget")
    monkeypatch.setattr(mean_curves, "MOST_BUDGETS", 7)
    thin = mean_curves.mean_curve(own, "cost", baselines).set_index("budget")
    assert len(thin) == 7
    pd.testing.assert_frame_equal(full.loc[thin.index], thin)


def test_runs_without_a_constant_are_left_out():
    own, baselines = schedules(fail(make_points(), "constant", 2), "msb")
    assert set(mean_curves.mean_curve(own, "cost", baselines)["n_runs"]) == {4}
