"""Orders of acquisition of a cascade."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from budgetlearn.cascade import orders
from budgetlearn.cascade.models import Table
from budgetlearn.cascade.orders import ORDERS
from budgetlearn.costs import FeatureCosts

every_order = pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())


def problem(costs, n_classes=2, n_samples=400, seed=0):
    """Return a table whose first three features count, the first most."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_samples, 6))
    score = 3 * X[:, 0] + 2 * X[:, 1] + X[:, 2]
    y = score if n_classes is None else np.digitize(score, [0.0]) if n_classes == 2 else None
    return Table(X, y, n_classes), FeatureCosts(costs), seed


@every_order
@pytest.mark.parametrize("n_classes", [2, None])
def test_of_equal_price_the_best_comes_first(order, n_classes):
    found = order(*problem(np.ones(6), n_classes))
    assert found[0] == 0
    assert set(found[:3]) == {0, 1, 2}
    assert sorted(found) == list(range(6))


@every_order
def test_the_best_comes_first_wherever_it_stands(order):
    table, costs, _ = problem(np.ones(6))
    found = order(Table(table.X[:, ::-1], table.y, 2), costs, 0)
    assert found[0] == 5
    assert set(found[:3]) == {3, 4, 5}


@every_order
def test_a_price_that_is_much_too_high_puts_the_best_behind(order):
    found = order(*problem([1000, 1, 1, 1, 1, 1]))
    assert found.index(0) > found.index(1)


@every_order
@pytest.mark.parametrize("cheap", [0, 1])
def test_of_equally_good_features_the_cheaper_comes_first(order, cheap):
    X = np.random.default_rng(0).standard_normal((600, 2))
    prices = np.where(np.arange(2) == cheap, 1.0, 1.3)
    table = Table(X, (X.sum(axis=1) > 0).astype(int), 2)
    assert order(table, FeatureCosts(prices), 0) == [cheap, 1 - cheap]


@every_order
def test_the_unit_of_the_prices_does_not_matter(order):
    prices = np.array([5.0, 3, 9, 1, 2, 4])
    assert order(*problem(prices)) == order(*problem(1000 * prices))


@every_order
def test_free_features_do_no_harm(order):
    assert sorted(order(*problem([0, 0, 1, 1, 0, 2]))) == list(range(6))
    assert sorted(order(*problem(np.zeros(6)))) == list(range(6))


def test_shared_charges_count():
    """The two weak features come first when the best one's charge is paid for it alone."""
    X, y = make_classification(400, 4, n_informative=4, n_redundant=0, random_state=0)
    costs = FeatureCosts([1, 1, 1, 1], groups=[0, -1, -1, -1], group_costs=[1e4])
    assert ORDERS["boosted_path"](Table(X, y, 2), costs, 0)[-1] == 0


def test_boosting_leaves_what_cheaper_features_tell_already_for_later():
    random = np.random.default_rng(0)
    told, other = random.standard_normal((2, 600))
    same = (told + 0.2 * random.standard_normal(600) for _ in range(2))
    X = np.column_stack([*same, other])
    y = (2 * told + other + 0.3 * random.standard_normal(600) > 0).astype(int)
    # Without prices the second feature gains nearly as much as the first.
    assert ORDERS["boosted_path"](Table(X, y, 2), FeatureCosts([1, 1.5, 3]), 0) == [0, 2, 1]


def test_the_schedule_measures_importance_again_after_each_removal(monkeypatch):
    asked, worth = [], np.arange(1.0, 21)

    def importance(table, left, seed, n_jobs):
        asked.append(left.size)
        return worth[left]

    monkeypatch.setattr(orders, "_importance", importance)
    # The charge of the last two is shared by both, and by one alone where the other is removed.
    groups = [-1] * 18 + [0, 0]
    costs = FeatureCosts(np.ones(20), groups, [18.0])
    found = ORDERS["schedule"](None, costs, 0)
    assert asked == [20, 17, 15, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert found == [*range(17, 1, -1), 19, 1, 18, 0]


def test_very_many_examples_are_thinned_out():
    X, y = make_regression(201, 2, random_state=0)
    assert len(Table(X, y, None).thinned(100).X) <= 100
