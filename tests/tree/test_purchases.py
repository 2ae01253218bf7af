"""Prices that fall with what the examples of a node have acquired, node by node."""

import numpy as np
import pytest

from budgetlearn.costs import FeatureCosts
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import Acquisitions, GrowthRule
from budgetlearn.tree.impurity import Entropy, ThresholdPairs
from tests.tree.growing import grow_tree

GROUPS = [0, 0, 1, 1, -1, -1]
COSTS = FeatureCosts([2.0, 0.0, 3.0, 1.0, 4.0, 2.5], GROUPS, group_costs=[5.0, 1.5])
RULES = {
    "minimax": {"impurity": ThresholdPairs(), "split": "minimax"},
    "entropy": {"impurity": Entropy(), "split": "expected"},
}


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 6)).round(1)
    labels = (X[:, 0] + X[:, 2] * X[:, 4] + random.normal(size=80) > 0).astype(np.int32)
    return X, labels, random.integers(0, 3, 80).astype(float), random.random((80, 6)) < 0.4


def prices_of(acquired, weights, discount, exponent):
    """Return what features cost where these examples stand, by the definition."""

    def kept(paid):
        return discount + (1 - discount) * (weights * ~paid).sum() / weights.sum()

    prices = []
    for feature, (price, group) in enumerate(zip(COSTS.costs, GROUPS, strict=True)):
        cost = price * kept(acquired[:, feature])
        if group >= 0:
            members = [k for k in range(6) if GROUPS[k] == group]
            cost += COSTS.group_costs[group] * kept(acquired[:, members].any(axis=1))
        prices.append(cost**exponent if cost > 0 else 0.0)
    return np.array(prices)


def root_of(tree):
    return tree.feature[0], tree.threshold[0]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("discount", "exponent"), [(0.5, 1.0), (0.0, 1.0), (0.25, 0.5)])
def test_each_node_sees_what_its_own_examples_have_acquired(table, name, discount, exponent):
    X, labels, weights, acquired = table
    data, acquisitions = bin_features(X), Acquisitions(COSTS, len(X))
    acquisitions.add(acquired)
    rule = GrowthRule(
        **RULES[name],
        score="risk",
        ties="first",
        max_depth=2,
        reuse_discount=discount,
        cost_exponent=exponent,
    )
    tree = grow_tree(data, labels, weights, 2, rule, COSTS.costs.copy(), 0, acquisitions)
    np.testing.assert_array_equal(acquisitions.acquired[:6].T.astype(bool), acquired)  # as it was
    plain = GrowthRule(**RULES[name], score="risk", ties="first", max_depth=1)

    def expected(rows, paid):
        there = weights * rows
        prices = prices_of(paid, there, discount, exponent)
        return root_of(grow_tree(data, labels, there, 2, plain, prices, 0))

    feature, threshold = root_of(tree)
    assert (feature, threshold) == expected(np.ones(len(X), dtype=bool), acquired)
    paid = acquired.copy()
    paid[:, feature] = True
    left = X[:, feature] <= threshold
    n_checked = 0
    for child, rows in ((tree.children_left[0], left), (tree.children_right[0], ~left)):
        if tree.feature[child] >= 0:
            assert (tree.feature[child], tree.threshold[child]) == expected(rows, paid)
            n_checked += 1
    assert n_checked


def test_the_prices_matter_in_this_table(table):
    X, labels, weights, acquired = table
    data, nothing = bin_features(X), np.zeros_like(acquired)
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk", ties="first", max_depth=1)
    roots = {
        root_of(grow_tree(data, labels, weights, 2, rule, prices_of(paid, weights, 0.0, 1.0), 0))
        for paid in (nothing, acquired, ~nothing)
    }
    assert len(roots) > 1
