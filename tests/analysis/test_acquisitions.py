"""Which features are bought how often: means over runs at half of the full cost."""

import numpy as np
import pytest

from budgetbench.analysis.budgets import acquisition_table
from budgetbench.analysis.schedules import compressed_points
from tests.factories import FEATURES, make_display, make_points, make_prices, prices_of


@pytest.fixture(scope="module")
def kept():
    return compressed_points(make_points())


def bought(kept, prices=None):
    return acquisition_table(kept, make_display(), make_prices() if prices is None else prices)


@pytest.fixture(scope="module")
def table(kept):
    return bought(kept)


def test_rates_are_means_over_runs_at_half_of_the_cost(kept, table):
    own = kept[(kept["dataset"] == "wine") & (kept["method"] == "msb")]
    chosen = own[own["valid_fraction"] <= 0.5].groupby("run").tail(1)
    mean = np.mean(chosen["acquisition_rates"].tolist(), axis=0)
    rows = table[(table["dataset"] == "wine") & (table["method"] == "msb")]
    assert rows["rate"].to_numpy() == pytest.approx(mean)
    assert set(rows["n_runs"]) == {5}


def test_prices_are_means_over_runs(table):
    rows = table[(table["dataset"] == "wine") & (table["method"] == "logitb")]
    mean = np.mean([prices_of("wine", run) for run in range(5)], axis=0)
    assert rows["price"].to_numpy() == pytest.approx(mean)
    assert list(rows["name"]) == [f"wine measurement {f}" for f in range(FEATURES["wine"])]


def test_controls_are_left_out(table):
    assert set(table["method"]) == {"msb", "logitb"}


def test_features_without_prices_keep_their_index(kept):
    table = bought(kept, make_prices().iloc[:0])
    assert table["price"].isna().all()
    assert set(table["name"]) == {f"x{feature}" for feature in range(30)}
