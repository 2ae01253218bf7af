"""What the figures draw, and when they draw points only."""

import numpy as np
import pytest

from budgetlearn.benchmark import aggregate
from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import figures
from budgetlearn.report.build import build_figures, build_tables
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.smooth import lowess_mean
from budgetlearn.report.style import figure_bytes

from ..made_up import made_up_metadata, made_up_points


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def curves(points, metadata):
    return figures.curve_figure(compressed_points(points), metadata, "wine", "random")


def test_curves_show_the_points_of_every_run(metadata):
    points = made_up_points()
    drawn = curves(points, metadata)
    axes = drawn.axes[0]
    kept = compressed_points(points).query("dataset == 'wine' and method in ['msb', 'logitb']")
    assert sum(len(c.get_offsets()) for c in axes.collections[:2]) == len(kept)
    assert set(legend(drawn)) == {"msB", "logitB", "all features", "free constant"}


def test_free_models_stand_left_of_all_others_on_a_logarithmic_axis(metadata):
    points = made_up_points().assign(costs="given")
    cheapest = points.query("method == 'msb' and stage == 0").index
    points.loc[cheapest, ["cost", "valid_cost", "cost_fraction", "n_features"]] = 0.0
    points.loc[points["cost"] > 0, "cost"] **= 2
    kept = compressed_points(points)
    axes = figures.curve_figure(kept, metadata, "wine", "given").axes[0]
    assert axes.get_xscale() == "log"
    own = kept.query("dataset == 'wine' and method == 'msb'")
    places = next(c for c in axes.collections if len(c.get_offsets()) == len(own)).get_offsets()
    free = places[:, 0] < own.loc[own["cost"] > 0, "cost"].min()
    assert free.sum() == (own["cost"] == 0).sum() == 5
    (floor,) = np.unique(places[free, 0])
    assert axes.xaxis.get_major_formatter()(floor, 0) == f"≤ {floor:g}"
    assert axes.xaxis.get_major_formatter()(10 * floor, 0) == f"{10 * floor:g}"


def test_dollars_in_names_are_no_mathematics():
    given = made_up_metadata()
    given["datasets"]["wine"]["title"] = r"Fees in $, \frac{$"
    given["methods"]["msb"]["label"] = "$_{$"
    given["profiles"]["feature"] += r" $\bad{$"
    metadata, points = Metadata.from_dict(given), made_up_points(n_runs=2)
    tables = build_tables(points, metadata)
    for name, figure in build_figures(points, tables, metadata).items():
        assert figure_bytes(figure, "png"), name


def test_few_points_get_no_mean(metadata):
    few = made_up_points(n_runs=1)
    drawn = curves(few, metadata)
    assert "msB" in legend(drawn)
    solid = [line for line in drawn.axes[0].lines if line.get_color() == "#0072b2"]
    assert solid == []


def test_many_points_become_pixels(metadata, monkeypatch):
    points = made_up_points()
    as_paths = figure_bytes(curves(points, metadata), "svg")
    monkeypatch.setattr(figures, "_MANY_POINTS", 10)
    as_pixels = figure_bytes(curves(points, metadata), "svg")
    assert b"<image" not in as_paths
    assert b"<image" in as_pixels


def test_lowess_follows_a_line_and_knows_its_limits():
    x = np.linspace(0, 1, 40)
    grid, mean = lowess_mean(x, 0.3 + 0.5 * x)
    np.testing.assert_allclose(mean, 0.3 + 0.5 * grid, atol=1e-9)
    assert lowess_mean(x[:19], x[:19]) is None
    assert lowess_mean(np.repeat([0.1, 0.2, 0.3, 0.4], 10), np.ones(40)) is None
    tied = lowess_mean(np.repeat([0.0, 0.1, 0.2, 0.3, 0.4], 10), np.ones(50))
    assert tied is None or np.isfinite(tied[1]).all()


@pytest.mark.parametrize("n_runs", [1, 4])
def test_the_area_figure_shows_every_method_and_case(metadata, n_runs):
    areas = figures.area_figure(aggregate.area_table(made_up_points(n_runs=n_runs)), metadata)
    assert legend(areas) == ["msB", "logitB"]
    rows = [t.get_text().replace("\n", " ") for t in areas.axes[0].get_yticklabels()]
    assert rows == ["Wine", "Breast cancer Wisconsin (diagnostic)"]


def test_one_method_alone_has_a_figure(metadata):
    areas = aggregate.area_table(made_up_points(n_runs=2))
    drawn = figures.area_figure(areas[areas["method"] == "msb"], metadata)
    assert legend(drawn) == ["msB"]
    assert b"<svg" in figure_bytes(drawn, "svg")
