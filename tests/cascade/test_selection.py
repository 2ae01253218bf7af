"""The share of the gain over the constant that is no fit to chance."""

import numpy as np
import pytest

from budgetlearn.cascade import orders
from budgetlearn.cascade.models import Table, as_kind, assign_folds
from budgetlearn.cascade.orders import acquisitions_of, confirmed_share, geometric_stages
from budgetlearn.costs import FeatureCosts


def share(table):
    costs = FeatureCosts(np.ones(table.X.shape[1]))
    stages = geometric_stages(acquisitions_of("boosted_path", table, costs, 0), costs, 5)
    everything = list(range(table.X.shape[1]))
    last = as_kind("forest", table.n_classes).fit_both(table, everything, 0)[0]
    return confirmed_share(table, costs, "boosted_path", stages, last, 0)


def table_of(y, n_classes, signal, seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(len(y), 30))
    X[:, 3] += signal * y
    return Table(X, y, n_classes, assign_folds(y, n_classes, 5, random))


@pytest.mark.parametrize("seed", range(2))
def test_of_coins_nothing_remains(seed):
    coins = np.random.RandomState(seed).permutation(np.arange(150) % 2)
    assert share(table_of(coins, 2, 0.0, seed)) < 0.2


def test_of_a_signal_most_remains():
    assert share(table_of(np.arange(150) % 2, 2, 3.0, 0)) > 0.8


def test_of_numbers_too():
    y = np.random.RandomState(0).normal(size=150)
    assert share(table_of(y, None, 0.0, 1)) < 0.2
    assert share(table_of(y, None, 3.0, 1)) > 0.8


def test_large_tables_are_not_looked_into(monkeypatch):
    monkeypatch.setattr(orders, "MOST_PILOT_ROWS", 149)
    assert share(table_of(np.arange(150) % 2, 2, 0.0, 0)) == 1.0
