"""Splits and prices told apart: components known by construction."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.analysis.variances import variance_table


def crossed_areas(by_split, by_profile, rest=0.0, seed=0):
    """Return areas of runs that cross splits and profiles of given effects."""
    random = np.random.default_rng(seed)
    rows = [
        {"dataset": "d", "costs": "random", "method": "m", "run": len(by_profile) * i + j}
        | {"aup_test": 0.7 + split + price + rest * random.standard_normal()}
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


def test_what_neither_explains_is_the_rest():
    random = np.random.default_rng(1)
    areas = crossed_areas(0.05 * random.standard_normal(60), np.zeros(40), rest=0.02)
    (row,) = variance_table(areas, 40).to_dict("records")
    assert row["splits"] == pytest.approx(0.05, rel=0.25)
    assert row["rest"] == pytest.approx(0.02, rel=0.1)
    assert row["prices"] < 0.005


def test_incomplete_designs_are_left_out():
    areas = crossed_areas([0, 0.1], [0, 0.2])
    lacking = areas.assign(aup_test=areas["aup_test"].where(areas["run"] != 3))
    assert variance_table(lacking, 2).empty
    assert variance_table(areas, 4).empty  # one split
