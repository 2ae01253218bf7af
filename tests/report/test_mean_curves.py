"""Mean curves: exact staircases whose area is the AUP."""

import json

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.aggregate import area_table
from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import interactive, mean_curves
from budgetlearn.report.metadata import CONTROL_MARKERS, MARKERS, Metadata

from ..made_up import fail, made_up_metadata, made_up_points


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


def schedules(points, method, dataset="wine"):
    kept = compressed_points(points).query("dataset == @dataset")
    baselines = kept[kept["method"] == "constant"].set_index("run")["test_score"]
    return kept[kept["method"] == method], baselines


def test_a_budget_gets_the_dearest_model_that_it_affords():
    costs, values = np.array([3.0, 1.0]), np.array([0.9, 0.7])
    got = mean_curves.staircase(costs, values, np.array([0.5, 1.0, 2.9, 3.0, 9.0]), 0.4)
    assert got.tolist() == [0.4, 0.7, 0.7, 0.9, 0.9]


@pytest.mark.parametrize("method", ["msb", "logitb"])
def test_the_area_under_the_mean_curve_is_the_mean_aup(method):
    points = made_up_points()
    own, baselines = schedules(points, method)
    curve = mean_curves.mean_curve(own, "cost_fraction", baselines)
    edges = np.concatenate(([0.0], curve["budget"], [1.0]))
    heights = np.concatenate(([baselines.mean()], curve["mean"]))
    areas = area_table(points).query("dataset == 'wine' and method == @method")
    assert np.diff(edges) @ heights == pytest.approx(areas["aup_test"].mean())


def test_the_spread_is_the_one_over_runs_and_vanishes_for_one():
    own, baselines = schedules(made_up_points(), "msb")
    curve = mean_curves.mean_curve(own, "cost", baselines)
    last = own.sort_values("cost").groupby("run")["test_score"].last()
    assert curve["sd"].iloc[-1] == pytest.approx(last.std())
    assert curve["n_affording"].is_monotonic_increasing
    assert curve["n_affording"].iloc[-1] == curve["n_runs"].iloc[-1] == 5
    alone = mean_curves.mean_curve(own[own["run"] == 0], "cost", baselines)
    assert alone["sd"].isna().all()


def test_many_budgets_are_thinned_to_exact_values():
    own, baselines = schedules(made_up_points(), "msb")
    full = mean_curves.mean_curve(own, "cost", baselines).set_index("budget")
    thin = mean_curves.mean_curve(own, "cost", baselines, most=7).set_index("budget")
    assert len(thin) == 7
    pd.testing.assert_frame_equal(full.loc[thin.index], thin)


def test_runs_without_a_constant_are_left_out():
    own, baselines = schedules(fail(made_up_points(), "constant", 2), "msb")
    assert set(mean_curves.mean_curve(own, "cost", baselines)["n_runs"]) == {4}


def test_a_case_tells_curves_from_controls(metadata):
    case = mean_curves.case_curves(compressed_points(made_up_points()), metadata, "wine", "random")
    kinds = {curve["method"]: curve["kind"] for curve in case["curves"]}
    expected = {"msb": "curve", "logitb": "curve", "all_features": "point", "constant": "level"}
    assert kinds == expected
    assert case["runs_shown"] == case["n_runs"] == 5
    assert set(case["points"]["method"]) == {"msb", "logitb"}


def test_single_runs_are_left_out_where_there_are_too_many(metadata, monkeypatch):
    monkeypatch.setattr(mean_curves, "MOST_POINTS", 50)
    case = mean_curves.case_curves(compressed_points(made_up_points()), metadata, "wine", "random")
    assert len(case["points"]["method"]) <= 50
    assert 1 <= case["runs_shown"] < 5


def test_script_data_cannot_end_their_script(metadata):
    text = interactive.script_data({"wine": {"title": "</script><!--"}}, metadata)
    assert "<" not in text
    assert json.loads(text)["cases"]["wine"]["title"] == "</script><!--"


@pytest.mark.parametrize("marker", [*MARKERS, *CONTROL_MARKERS])
def test_markers_become_paths_in_the_unit_square(marker):
    path = interactive.shape_path(marker)
    numbers = [float(n) for n in path.replace("M", " ").replace("L", " ").replace(",", " ").split()]
    assert path.startswith("M")
    assert max(map(abs, numbers)) == 1
