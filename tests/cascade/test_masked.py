"""Masked models and units."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from budgetlearn.cascade.dynamic import Units
from budgetlearn.cascade.models import MaskedModel, OnDemand, Table, masked_trees
from budgetlearn.costs import FeatureCosts


@pytest.fixture(scope="module")
def table():
    X = np.random.RandomState(0).standard_normal((500, 4))
    return X, (X[:, 0] + X[:, 3] > 0).astype(int)


def units_of(costs, *features):
    return Units(features, FeatureCosts.of(costs, 4))


def test_units_are_what_stages_add():
    units = Units.of_stages([(2,), (2, 0, 3)], FeatureCosts([1, 1, 1, 1]))
    assert units.features == ((2,), (0, 3))
    acquired = np.array([[True, False], [False, True]])
    np.testing.assert_array_equal(
        units.columns(acquired), [[False, False, True, False], [True, False, False, True]]
    )
    np.testing.assert_array_equal(
        np.isnan(units.hidden(np.zeros((2, 4)), acquired)), ~units.columns(acquired)
    )


def test_prices_of_units_add_what_is_unpaid_of_groups():
    costs = FeatureCosts([1, 2, 4, 8], [0, 0, 1, -1], [100, 50])
    units = Units(((0,), (1, 2), (3,)), costs)
    acquired = np.array([[False, False, False], [True, False, False], [False, True, False]])
    prices = units.prices(acquired)
    for row, before in enumerate(acquired):
        spent = costs.subset(np.flatnonzero(units.columns(before[None])[0]))
        for unit in np.flatnonzero(~before):
            after = before.copy()
            after[unit] = True
            total = costs.subset(np.flatnonzero(units.columns(after[None])[0]))
            assert prices[row, unit] == total - spent


def test_all_lengths_are_drawn_and_early_units_more_often():
    drawn = units_of(None, (0,), (1,), (2,), (3,)).drawn(4000, np.random.RandomState(0))
    sizes = np.bincount(drawn.sum(axis=1), minlength=5)
    assert (np.abs(sizes / 4000 - 0.2) < 0.03).all()
    shares = drawn.mean(axis=0)
    assert (np.diff(shares) < 0).all()
    assert shares[-1] > 0.1


@pytest.mark.parametrize("n_classes", [2, None])
def test_it_predicts_from_whatever_is_known(table, n_classes):
    X, y = table
    units = units_of(None, (0,), (3,), (1, 2))
    model = MaskedModel.fit(Table(X[:300], y[:300], n_classes), units, 0)
    known = {}
    for features in ((), (0,), (3,), (0, 3)):
        hidden = np.full((200, 4), np.nan)
        hidden[:, features] = X[300:, features]
        known[features] = ((model.predict(hidden)[:, -1] > 0.5) == y[300:]).mean()
    assert known[()] < 0.65
    assert min(known[0,], known[3,]) > 0.65
    assert known[0, 3] > 0.88


def test_a_class_that_is_not_there_is_never_predicted(table):
    X, y = table
    learned = Table(X, np.where(y == 1, 2, 0), 3)
    model = MaskedModel.fit(learned, units_of(None, (0,), (3,)), 0)
    np.testing.assert_allclose(model.trees.predict(X)[:, 1], 0)
    np.testing.assert_allclose(model.predict(X).sum(axis=1), 1)


def test_on_demand_it_is_fitted_once_and_stored_without_the_rows(table, monkeypatch):
    X, y = table
    units, fits, fit = units_of(None, (0,), (3,), (1, 2)), [], MaskedModel.fit
    monkeypatch.setattr(
        MaskedModel, "fit", lambda *args, **keys: fits.append(1) or fit(*args, **keys)
    )
    learned = Table(X[:200], y[:200], 2)
    waiting = OnDemand(partial(MaskedModel.fit, learned, units, 0))
    assert not fits
    stored = pickle.dumps(waiting)
    hidden = units.hidden(X[200:], np.array([[True, False, True]] * 300))
    expected = fit(learned, units, 0).predict(hidden)
    np.testing.assert_array_equal(waiting.predict(hidden), expected)
    np.testing.assert_array_equal(pickle.loads(stored).predict(hidden), expected)
    assert len(fits) == 1
    assert waiting._fit is None  # nor the rows that it referred to


@pytest.mark.parametrize("large", [1e9, -1e9, 1e17])
def test_a_hidden_value_is_apart_from_one_large_value(large):
    X, y = np.full((200, 1), large), np.repeat([0, 1], 100)
    X[y == 1] = np.nan
    trees = masked_trees(ExtraTreesClassifier(5, random_state=0), Table(X, y, 2))
    np.testing.assert_array_equal(trees.predict(X), np.eye(2)[y])
