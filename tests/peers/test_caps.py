"""A cap on each example's cost alone: peers that say little when cut short take smaller models."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetlearn.peers import (
    ASTCClassifier,
    FilterBoostingClassifier,
    FilterForestClassifier,
    GreedyMiserClassifier,
    LightGBMCostClassifier,
)

X, Y = make_classification(500, 8, n_informative=4, n_redundant=1, n_classes=3, random_state=1)
PRICES = np.array([8.0, 9.0, 3.0, 4.0, 5.0, 6.0, 1.0, 7.0])
PEERS = [
    ASTCClassifier(),
    FilterForestClassifier(n_estimators=20, random_state=0),
    GreedyMiserClassifier(),
    LightGBMCostClassifier(random_state=0),
]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: type(peer).__name__)
def test_a_cap_alone_takes_a_model_that_fits_into_it(peer):
    peer = peer.set_params(feature_costs=PRICES).fit(X[:200], Y[:200], X[200:300], Y[200:300])
    costs = peer.operating_points_["cost"]
    cap = (costs[costs > 0].min() + costs.max()) / 2
    alone = peer.decisions(X[300:], max_cost=cap, fallback=True)
    both = peer.decisions(X[300:], budget=cap, max_cost=cap, fallback=True)
    np.testing.assert_array_equal(alone.prediction, both.prediction)
    np.testing.assert_array_equal(alone.cost, both.cost)
    assert alone.cost.max() <= cap
    assert (alone.prediction == Y[300:]).mean() > 0.45  # the majority class has .35
    # A cap below every model: the largest one goes as far as it can.
    if (costs > 0).all():
        few = peer.decisions(X[300:], max_cost=0.5 * costs.min(), fallback=True)
        assert few.cost.max() <= 0.5 * costs.min()


@pytest.mark.parametrize("peer", [GreedyMiserClassifier(), FilterBoostingClassifier()], ids=type)
def test_a_bill_does_not_depend_on_the_other_examples_of_the_table(peer):
    peer = peer.set_params(feature_costs=PRICES).fit(X[:200], Y[:200], X[200:300], Y[200:300])
    table = X[300:340].copy()
    table[np.random.default_rng(0).random(table.shape) < 0.2] = np.nan
    # A sum of trees ends at the first one that lacks a value: what lies behind is of no use.
    together = peer.decisions(table, fallback=True)
    rows = [peer.decisions(row[None], fallback=True) for row in table]
    np.testing.assert_array_equal(together.acquired, [each.acquired[0] for each in rows])
    np.testing.assert_array_equal(together.order, [each.order[0] for each in rows])
    np.testing.assert_array_equal(peer.acquired_features(table, fallback=True), together.acquired)


@pytest.mark.parametrize("peer", [GreedyMiserClassifier(), FilterBoostingClassifier()], ids=type)
def test_where_values_lack_examples_that_ask_together_pay_for_the_few_calls(peer):
    peer = peer.set_params(feature_costs=PRICES).fit(X[:200], Y[:200], X[200:300], Y[200:300])
    table, calls = X[300:340].copy(), []
    table[np.random.default_rng(0).random(table.shape) < 0.2] = np.nan

    def source(rows, feature):
        calls.append(feature)
        return table[rows, feature]

    from_table = peer.decisions(table, fallback=True)
    together = peer.predict_acquiring(source, 40, fallback=True)
    assert len(calls) <= 2 * X.shape[1]
    np.testing.assert_array_equal(together.prediction, from_table.prediction)
    assert (together.cost >= from_table.cost).all()
    assert together.cost.mean() > from_table.cost.mean()
    alone = [
        peer.predict_acquiring(lambda _, feature, row=row: [row[feature]], 1, fallback=True).cost[0]
        for row in table
    ]
    np.testing.assert_array_equal(alone, from_table.cost)
