"""Which features are bought how often: what the maps show and what they leave out."""

import pytest

from budgetbench.report.page import build_tables
from budgetbench.report.sections import what_to_buy
from tests.factories import make_points, make_report


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


def test_the_page_says_how_many_features_it_hides(monkeypatch):
    monkeypatch.setattr(what_to_buy, "MOST_FEATURES", 4)
    report = make_report(make_points())
    section = what_to_buy.AcquiredFeatures(report.study)
    case = section.context(build_tables([section], report))["cases"][0]
    assert case["caption"].endswith("the 4 features bought most, 9 more are not shown")
