"""Times: every method and data set, and room for the labels."""

from itertools import pairwise

import numpy as np
import pytest

from budgetbench.analysis.efforts import time_table
from budgetbench.report.sections.effort import time_figure, time_rows
from tests.factories import make_display, make_points


@pytest.fixture
def display():
    return make_display()


@pytest.mark.parametrize("n_runs", [1, 4])
def test_every_method_and_data_set_is_drawn_the_fastest_first(display, n_runs):
    points = make_points(n_runs=n_runs)
    points["fit_seconds"] = points["method"].map({"logitb": 0.1, "msb": 1.0}).fillna(2.0)
    figure = time_figure(time_table(points), display)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == [
        "logitB",
        "msB",
        "all features",
    ]
    for axes in figure.axes:
        points, medians = axes.get_lines()[::2], axes.get_lines()[1::2]
        assert [len(line.get_xdata()) for line in points] == [2, 2, 2]
        colours = [display.methods[name].colour for name in ("logitb", "msb", "all_features")]
        assert [line.get_color() for line in points] == colours
        for line, median in zip(points, medians, strict=True):
            assert median.get_xdata()[0] == pytest.approx(np.median(line.get_xdata()))


def test_the_time_axes_have_room_for_their_labels(display):
    points = make_points()
    points.loc[points["method"] == "msb", "fit_seconds"] *= 5000
    points.loc[points["method"] == "logitb", "fit_seconds"] = 0.0
    figure = time_figure(time_table(points), display)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [
        label.get_window_extent()
        for label in axes.get_xticklabels()
        if label.get_text()
        and 0 <= axes.transAxes.inverted().transform(label.get_window_extent())[0, 0] <= 1
    ]
    assert len(boxes) >= 3
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_numbers_stand_under_their_data_set(display):
    points = make_points(n_runs=2).query("not (method == 'logitb' and dataset == 'wine')")
    titles, rows = time_rows(time_table(points), display, "predict")
    assert titles == ["Wine", "Breast cancer Wisconsin (diagnostic)"]
    texts = {label: cells for label, *cells in rows}
    assert texts["logitB"][0] == "–"
    assert texts["msB"] == ["0.002 ± 0", "0.002 ± 0"]
