"""What the figures draw, and when they draw points only."""

from types import SimpleNamespace

import numpy as np
import pytest

from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections import cost_curves
from budgetbench.report.style import svg_bytes
from tests.factories import make_display, make_points, make_report, make_study


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def curves(points, costs="random"):
    results = SimpleNamespace(schedules=compressed_points(points))
    report = SimpleNamespace(results=results, display=make_display())
    return cost_curves.CostCurves(make_study()).draw(report, "wine", costs)


def case_of(points):
    """What the page's script gets about wine."""
    report = make_report(points)
    return cost_curves.CostCurves(report.study).script_data(report, "wine", "random")


def test_curves_show_the_points_of_every_run():
    points = make_points()
    drawn = curves(points)
    axes = drawn.axes[0]
    kept = compressed_points(points).query("dataset == 'wine' and method in ['msb', 'logitb']")
    assert sum(len(c.get_offsets()) for c in axes.collections[:2]) == len(kept)
    assert set(legend(drawn)) == {"msB", "logitB", "all features", "free constant"}


def test_free_models_stand_left_of_all_others_on_a_logarithmic_axis():
    points = make_points().assign(costs="given")
    cheapest = points.query("method == 'msb' and stage == 0").index
    points.loc[cheapest, ["cost", "valid_cost", "cost_fraction", "n_features"]] = 0.0
    points.loc[points["cost"] > 0, "cost"] **= 2
    kept = compressed_points(points)
    axes = curves(points, "given").axes[0]
    assert axes.get_xscale() == "log"
    own = kept.query("dataset == 'wine' and method == 'msb'")
    places = next(c for c in axes.collections if len(c.get_offsets()) == len(own)).get_offsets()
    free = places[:, 0] < own.loc[own["cost"] > 0, "cost"].min()
    assert free.sum() == (own["cost"] == 0).sum() == 5
    (floor,) = np.unique(places[free, 0])
    assert axes.xaxis.get_major_formatter()(floor, 0) == f"≤ {floor:g}"
    assert axes.xaxis.get_major_formatter()(10 * floor, 0) == f"{10 * floor:g}"


def test_few_points_get_no_mean():
    few = make_points(n_runs=1)
    drawn = curves(few)
    assert "msB" in legend(drawn)
    solid = [line for line in drawn.axes[0].lines if line.get_color() == "#0072b2"]
    assert solid == []


def test_many_points_become_pixels(monkeypatch):
    points = make_points()
    as_paths = svg_bytes(curves(points))
    monkeypatch.setattr(cost_curves.style, "MANY_POINTS", 10)
    as_pixels = svg_bytes(curves(points))
    assert b"<image" not in as_paths
    assert b"<image" in as_pixels


def test_a_case_tells_curves_from_controls():
    case = case_of(make_points())
    kinds = {curve["method"]: curve["kind"] for curve in case["curves"]}
    expected = {"msb": "curve", "logitb": "curve", "all_features": "point", "constant": "level"}
    assert kinds == expected
    assert case["runs_shown"] == case["n_runs"] == 5
    assert set(case["points"]["method"]) == {"msb", "logitb"}


def test_single_runs_are_left_out_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(cost_curves, "MOST_POINTS", 50)
    case = case_of(make_points())
    assert len(case["points"]["method"]) <= 50
    assert 1 <= case["runs_shown"] < 5


def test_cheap_models_get_room():
    points = make_points()
    paid = points["method"].isin(["msb", "logitb"])
    points.loc[paid, ["cost", "valid_cost", "cost_fraction"]] *= 0.05
    axes = curves(points).axes[0]
    places = axes.transAxes.inverted().transform(axes.transData.transform([(0, 0), (0.05, 0)]))
    assert places[0, 0] == pytest.approx(0)
    assert places[1, 0] > 0.2
    even = curves(make_points()).axes[0]
    ends = even.transData.transform([(0, 0), (0.2, 0), (1, 0)])[:, 0]
    assert ends[1] - ends[0] == pytest.approx(ends[2] - ends[1])  # the first fifth has half
    assert even.transData.inverted().transform((ends[1], 0))[0] == pytest.approx(0.2)


def test_a_hard_budget_has_curves_of_its_own_where_examples_differ():
    points = make_points()
    uneven = points["method"] == "logitb"
    points.loc[uneven, ["cost_max", "valid_cost_max"]] *= 2
    case = case_of(points)
    given = {curve["method"]: curve.get("hard") for curve in case["curves"]}
    (own,) = (curve for curve in case["curves"] if curve["method"] == "logitb")
    for end in (0, -1):
        twice = 2 * own["share"]["budget"][end]
        assert own["hard"]["budget"][end] == pytest.approx(twice, rel=1e-4)
    assert given["msb"] is given["constant"] is None
