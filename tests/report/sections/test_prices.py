"""What the features cost: over all runs, and in all."""

import pytest

from budgetbench.report.sections.about import price_summary
from tests.factories import make_points, make_prices, make_report, prices_of
from tests.report.writing import write_page


def test_prices_are_summed_within_runs_and_averaged_over_them():
    row = price_summary(make_prices()).set_index("dataset").loc["wine"]
    runs = [prices_of("wine", run) for run in range(5)]
    assert row["least"] == min(prices.min() for prices in runs)
    assert row["most"] == max(prices.max() for prices in runs)
    assert row["full"] == pytest.approx(sum(prices.sum() for prices in runs) / 5)


def test_the_page_shows_them(tmp_path):
    points = make_points(n_runs=1).query("dataset == 'wine'")
    page = write_page(make_report(points), tmp_path, "prices").read_text(encoding="utf-8")
    assert '<a href="#prices">Prices</a>' in page
    assert (tmp_path / "tables" / "prices.csv").exists()
