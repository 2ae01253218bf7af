"""How sure: splits told from prices where a study crosses them."""

from budgetbench.report.page import build_tables
from budgetbench.report.sections.differences import Differences
from tests.factories import make_points, make_report, make_study


def context_of(**config):
    section = Differences(make_study(4, **config))
    report = make_report(make_points(n_runs=4), section.study)
    report = build_tables([section], report)
    assert {f"tables/{name}.csv" for name in report.tables} == {p.path for p in section.parts}
    return section.context(report)


def test_splits_and_prices_are_told_apart_where_they_cross():
    assert context_of()["variances"] == []
    rows = context_of(crossed=2)["variances"]
    assert {"msB", "logitB"} <= {label for label, *_ in rows}
    assert all(float(text) >= 0 for _, *texts in rows for text in texts)
