"""Splits and prices told apart: components known by construction."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.differences import variance_table


def crossed_areas(by_split, by_profile, rest=0.0, seed=0):
    """Return areas of runs that cross splits and profiles of given effects."""
    random = np.random.default_rng(seed)
    rows = [
        {"dataset": "d", "costs": "random", "method": "m", "run": len(by_profile) * i + j}
        | {"status": "ok", "aup_test": 0.7 + split + price + rest * random.standard_normal()}
        for i, split in enumerate(by_split)
        for j, price in enumerate(by_profile)
    ]
    return pd.DataFrame(rows)


def test_effects_of_splits_and_of_prices_are_told_apart():
    splits, prices = [-0.1, 0, 0.1], [-0.02, 0.02]
    (row,) = variance_table(crossed_areas(splits, prices), 2).to_dict("records")
    assert row["splits"] == pytest.approx(np.std(splits, ddof=1))
    assert row["prices"] == pytest.approx(np.std(prices, ddof=1))
    assert row["rest"] == pytest.approx(0, abs=1e-9)
    assert (row["n_splits"], row["n_prices"]) == (3, 2)


def test_components_are_those_of_the_mean_squares():
    # 3 splits × 4 prices; mean squares by the textbook, over 2, 3 and 2 · 3 degrees of freedom.
    table = np.random.default_rng(2).normal(0.7, 0.1, size=(3, 4))
    table += np.array([[0.0], [0.4], [0.9]]) + np.array([0.0, 0.5, 1.0, 0.2])
    squares = [
        size * ((table.mean(axis=axis) - table.mean()) ** 2).sum()
        for size, axis in ((4, 1), (3, 0))
    ]
    rest = (((table - table.mean()) ** 2).sum() - sum(squares)) / 6
    areas = crossed_areas(np.zeros(3), np.zeros(4)).assign(aup_test=table.ravel())
    (row,) = variance_table(areas, 4).to_dict("records")
    assert row["rest"] == pytest.approx(np.sqrt(rest))
    assert row["splits"] == pytest.approx(np.sqrt((squares[0] / 2 - rest) / 4))
    assert row["prices"] == pytest.approx(np.sqrt((squares[1] / 3 - rest) / 3))


def test_what_neither_explains_is_the_rest():
    random = np.random.default_rng(1)
    areas = crossed_areas(0.05 * random.standard_normal(60), np.zeros(40), rest=0.02)
    (row,) = variance_table(areas, 40).to_dict("records")
    assert row["splits"] == pytest.approx(0.05, rel=0.25)
    assert row["rest"] == pytest.approx(0.02, rel=0.1)
    assert row["prices"] < 0.005


def test_incomplete_designs_are_left_out():
    areas = crossed_areas([0, 0.1], [0, 0.2])
    lacking = areas.assign(status=areas["status"].where(areas["run"] != 3, "failed: made up"))
    assert variance_table(lacking, 2).empty
    assert variance_table(areas, 4).empty  # one split
    more = crossed_areas([0, 0.1, 0.2], [0, 0.2])
    lost_split = more.assign(status=more["status"].where(more["run"] < 4, "failed: made up"))
    assert variance_table(lost_split, 2).empty


def test_a_component_below_zero_is_none():
    areas = crossed_areas([0, 0], [0, 0]).assign(aup_test=[0.6, 0.8, 0.8, 0.6])
    (row,) = variance_table(areas, 2).to_dict("records")
    assert row["splits"] == row["prices"] == 0
    assert row["rest"] == pytest.approx(0.2)
