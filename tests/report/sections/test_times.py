"""Times: every method and data set, room for the labels, growth only where sizes differ."""

from dataclasses import replace
from itertools import pairwise

import pytest

from budgetlearn.analysis.durations import time_table
from budgetlearn.report.display import Display
from budgetlearn.report.sections.times import growth_figure, time_figure, time_rows

from ...factories import METHODS, make_display, make_points


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
    (legend,) = figure.legends
    titles = [text.get_text() for text in legend.get_texts()]
    assert titles == ["Wine", "Breast cancer Wisconsin (diagnostic)"]


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


def test_growth_needs_two_sizes(display):
    table = time_table(make_points(n_runs=2))
    assert "same number of rows" in growth_figure(table, display).texts[0].get_text()
    sheets = display.datasets | {"wine": replace(display.datasets["wine"], rows=1000)}
    figure = growth_figure(table, Display(METHODS, sheets))
    for axes in figure.axes:
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert [len(line.get_xdata()) for line in axes.get_lines()] == [2, 2, 2]


def test_numbers_stand_under_their_data_set(display):
    points = make_points(n_runs=2).query("not (method == 'logitb' and dataset == 'wine')")
    rows = time_rows(time_table(points), display)
    assert rows["columns"] == ["Wine", "Breast cancer Wisconsin (diagnostic)"]
    texts = {row["label"]: row["texts"] for row in rows["predict"]}
    assert texts["logitB"][0] == "–"
    assert texts["msB"] == ["0.002 ± 0", "0.002 ± 0"]
