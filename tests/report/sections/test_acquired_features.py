"""Which features are bought how often: what the maps show and what they leave out."""

import pytest

from budgetbench.report.sections import acquired_features
from budgetbench.report.style import figure_bytes
from tests.factories import make_display, make_points, make_report


@pytest.fixture(scope="module")
def display():
    return make_display()


@pytest.fixture(scope="module")
def table():
    report = make_report(make_points())
    return acquired_features.AcquiredFeatures(report.study).tables(report)["acquisition"]


def test_the_most_bought_come_first_and_the_rest_is_counted(table, monkeypatch):
    monkeypatch.setattr(acquired_features, "MOST_FEATURES", 4)
    features, rates, hidden = acquired_features.most_bought(table, "wine", "random")
    assert list(features.index) == list(rates.index)
    assert (len(rates), hidden) == (4, 9)
    assert rates.mean(axis=1).is_monotonic_decreasing
    assert list(rates) == ["msb", "logitb"]


def test_the_figure_says_how_many_features_it_hides(table, display, monkeypatch):
    monkeypatch.setattr(acquired_features, "MOST_FEATURES", 4)
    figure = acquired_features.acquisition_figure(table, display, "wine", "random")
    assert figure.axes[0].get_xlabel().startswith("9 features")
    assert b"<svg" in figure_bytes(figure, "svg")


def test_nothing_affordable_becomes_a_message(table, display):
    figure = acquired_features.acquisition_figure(table.iloc[:0], display, "wine", "random")
    assert b"<svg" in figure_bytes(figure, "svg")
    assert acquired_features.acquisition_maps(table.iloc[:0], display) == []


def test_sections_show_every_rate(table, display):
    sections = acquired_features.acquisition_maps(table, display)
    assert [section["name"] for section in sections] == ["wine_random", "breast_cancer_random"]
    first = sections[0]
    assert first["methods"] == [("msB", 5), ("logitB", 5)]
    assert len(first["rows"]) == 13
    assert first["hidden"] == 0
    assert all(len(rates) == 2 for _, _, rates in first["rows"])
