"""Which features are bought how often: what the maps show and what they leave out."""

import pytest

from budgetbench.report.page import build_tables
from budgetbench.report.sections import what_to_buy
from budgetbench.report.style import figure_bytes
from tests.factories import make_display, make_points, make_report


@pytest.fixture(scope="module")
def display():
    return make_display()


@pytest.fixture(scope="module")
def table():
    report = make_report(make_points())
    return what_to_buy.AcquiredFeatures(report.study).tables(report)["acquisition"]


def test_the_most_bought_come_first_and_the_rest_is_counted(table, monkeypatch):
    monkeypatch.setattr(what_to_buy, "MOST_FEATURES", 4)
    features, rates, hidden = what_to_buy.most_bought(table, "wine", "random")
    assert list(features.index) == list(rates.index)
    assert (len(rates), hidden) == (4, 9)
    assert rates.mean(axis=1).is_monotonic_decreasing
    assert list(rates) == ["msb", "logitb"]


def test_the_figure_says_how_many_features_it_hides(table, display, monkeypatch):
    monkeypatch.setattr(what_to_buy, "MOST_FEATURES", 4)
    figure = what_to_buy.acquisition_figure(table, display, "wine", "random")
    assert figure.axes[0].get_xlabel().startswith("9 features")
    assert b"<svg" in figure_bytes(figure, "svg")


def test_nothing_affordable_becomes_a_message(table, display):
    figure = what_to_buy.acquisition_figure(table.iloc[:0], display, "wine", "random")
    assert b"<svg" in figure_bytes(figure, "svg")


def test_sections_show_every_rate():
    report = make_report(make_points())
    section = what_to_buy.AcquiredFeatures(report.study)
    report = build_tables([section], report)
    cases = section.context(report)["cases"]
    assert [case["title"] for case in cases] == ["Wine", "Breast cancer Wisconsin (diagnostic)"]
    assert [head["text"] for head in cases[0]["heads"]] == ["msB", "logitB"]
    assert cases[0]["caption"].endswith("on Wine, means over 5 runs")
    assert len(cases[0]["rows"]) == 13
    assert all(len(rates) == 2 for _, _, *rates in cases[0]["rows"])
