"""What the figures draw, and when they draw points only."""

import numpy as np
import pytest

from budgetlearn.benchmark import aggregate
from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import figures
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
