"""What the features cost: over all runs, and in all."""

from types import SimpleNamespace

import numpy as np
import pytest

from budgetbench.report.sections.about import Prices
from budgetbench.report.sheets import prices_of as prices_of_run
from tests.factories import make_points, make_prices, make_report, make_study, prices_of
from tests.report.writing import write_page


def row_of(prices):
    """The row of wine in the table of these prices."""
    tables = Prices(make_study()).tables(SimpleNamespace(prices=prices))
    return tables["prices"].set_index("dataset").loc["wine"]


def test_prices_are_summed_within_runs_and_averaged_over_them():
    row = row_of(make_prices())
    runs = [prices_of("wine", run) for run in range(5)]
    assert row["least"] == min(prices.min() for prices in runs)
    assert row["most"] == max(prices.max() for prices in runs)
    assert row["full"] == pytest.approx(sum(prices.sum() for prices in runs) / 5)


def test_what_features_share_is_counted_once():
    prices = make_prices()
    shared = prices["feature"].isin([f"wine measurement {place}" for place in (3, 4, 7)])
    prices.loc[shared, ["group", "group_cost"]] = ["blood", 12.5]
    row, before = row_of(prices), row_of(make_prices())
    assert row["full"] == pytest.approx(before["full"] + 12.5)
    assert row["most"] == before["most"]


def test_a_shared_charge_stands_beside_the_price():
    prices = make_prices()
    prices.loc[prices["feature"] == "wine measurement 3", ["group", "group_cost"]] = ["blood", 12.5]
    costs = prices_of_run(prices, "wine", "random", 0)["cost"]
    own = prices_of("wine", 0)
    assert costs[3] == f"{own[3]:g} + 12.5 for blood"
    assert costs.drop(3).tolist() == np.delete(own, 3).tolist()


def test_the_page_shows_them(tmp_path):
    points = make_points(n_runs=1).query("dataset == 'wine'")
    page = write_page(make_report(points), tmp_path, "prices").read_text(encoding="utf-8")
    assert '<a href="#prices">Prices</a>' in page
    assert (tmp_path / "tables" / "prices.csv").exists()
