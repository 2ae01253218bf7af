"""The ledger charges each example once for a feature, and once for what a group shares."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.costs import FeatureCosts
from budgetlearn.protocol import Ledger
from tests.test_costs import acquisitions

COSTS = FeatureCosts([1, 2, 4, 8, 16], groups=[0, -1, 0, 1, 1], group_costs=[32, 64])


def test_bills_and_order_are_those_of_one_acquisition_after_another():
    random = np.random.default_rng(0)
    ledger, acquired = Ledger(COSTS, 30), [[] for _ in range(30)]
    for _ in range(20):
        rows = np.flatnonzero(random.random(30) < 0.4)
        feature = int(random.integers(5))
        before = ledger.cost.copy()
        added = ledger.marginal(rows, feature)
        ledger.acquire(rows, feature)
        np.testing.assert_array_equal(ledger.cost[rows] - before[rows], added)
        for row in rows:
            if feature not in acquired[row]:
                acquired[row].append(feature)
    np.testing.assert_array_equal(ledger.cost, COSTS.total(ledger.acquired))
    for row, features in enumerate(acquired):
        assert set(np.flatnonzero(ledger.acquired[row])) == set(features)
        assert ledger.order[row].tolist() == features + [-1] * (5 - len(features))
    assert any(len(features) == 5 for features in acquired)


def test_a_cap_counts_the_charge_of_an_unpaid_group():
    ledger, everybody = Ledger(COSTS, 2, max_cost=40), np.arange(2)
    ledger.acquire(np.array([0]), 0)
    assert ledger.affordable(everybody, 2).tolist() == [True, True]
    ledger.acquire(everybody, 1)
    assert ledger.cost.tolist() == [35, 2]
    assert ledger.affordable(everybody, 2).tolist() == [True, True]
    assert ledger.affordable(everybody, 3).tolist() == [False, False]


@given(acquisitions(), st.integers(0, 7))
def test_a_feature_adds_to_each_bill_what_marginal_says(case, feature):
    costs, acquired = case
    feature, rows = feature % costs.n_features, np.arange(len(acquired))
    for prices in (costs, FeatureCosts(costs.costs)):  # with shared charges, and without
        ledger = Ledger(prices, len(acquired))
        ledger.acquired[:] = acquired
        expected = [prices.marginal(row)[feature] for row in np.array(acquired)]
        assert ledger.marginal(rows, feature).tolist() == expected
