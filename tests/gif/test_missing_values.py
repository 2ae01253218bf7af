"""Globally induced forests that learn from missing values."""

import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier

from budgetlearn import GIFClassifier, GIFRegressor
from budgetlearn.exceptions import MissingValueError
from tests.tree import reference

FAST = {"n_estimators": 15, "learning_rate": 0.3, "random_state": 0}


def table(n=240, seed=0):
    """Return X whose columns but the last have holes, some of which say something, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.abs(X[:, 0]) + X[:, 1] + X[:, 4]
    X[(np.abs(X[:, 0]) > 1.2) & (rng.random(n) < 0.8), 0] = np.nan
    X[rng.random(n) < 0.2, 1] = np.nan
    X[:, 2] = np.where(rng.random(n) < 0.5, np.nan, 1.0)
    X[rng.random(n) < 0.02, 3] = np.nan
    return X, score + np.isnan(X[:, 2])


MODELS = [
    GIFClassifier(600, **FAST),
    GIFClassifier(600, candidate_window=None, loss="squared", max_features=None, **FAST),
    GIFRegressor(600, **FAST),
    GIFRegressor(600, split_on="residuals", n_thresholds=4, **FAST),
    GIFRegressor(600, loss="huber", min_samples_leaf=3, **FAST),
    GIFRegressor(100, joint_fit="ridge", prune_factor=4, **FAST),
]


def fitted(model, weight=None):
    X, y = table()
    return model.fit(X, y > 1.2 if is_classifier(model) else y, sample_weight=weight), X, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_every_training_row_is_counted_where_prediction_takes_it(model, weighted):
    weight = np.random.default_rng(2).uniform(0.5, 2, 240) if weighted else None
    model, X, _ = fitted(model, weight)
    assert any(tree.missing_left is not None for tree in model.trees_)
    # The walk in Python starts from the finished trees: kernels and prediction must agree.
    reached = [reference.walk_forest([tree], X)[2][:, 0] for tree in model.trees_]
    for tree, leaves in zip(model.trees_, reached, strict=True):
        ends = tree.children_left < 0
        counts = np.bincount(leaves, minlength=tree.node_count)
        np.testing.assert_array_equal(counts[ends], tree.n_node_samples[ends])


@pytest.mark.parametrize("model", MODELS)
def test_missing_values_are_values_in_whatever_is_asked(model):
    model = pickle.loads(pickle.dumps(fitted(model)[0]))
    X_new = table(300, 1)[0]
    acquired = reference.walk_forest(model.trees_, X_new)[3]
    np.testing.assert_array_equal(model.acquired_features(X_new), acquired)
    decisions = model.predict_acquiring(lambda rows, feature: X_new[rows, feature], 300)
    np.testing.assert_allclose(decisions.cost, model.acquisition_cost(X_new))
    predicted = model.predict(X_new)
    if is_classifier(model):
        np.testing.assert_array_equal(decisions.prediction, predicted)
    else:
        np.testing.assert_allclose(decisions.prediction, predicted)


def test_holes_tell_what_filled_cells_do_not():
    (X, y), (X_new, y_new) = table(600), table(600, 1)
    filled = GIFRegressor(2000, **FAST).fit(np.nan_to_num(X), y)
    model = GIFRegressor(2000, **FAST).fit(X, y)
    assert model.score(X_new, y_new) > filled.score(np.nan_to_num(X_new), y_new) + 0.03


def test_what_has_a_value_is_told_from_what_has_none():
    X = np.array([[1.0], [1.0], [1.0], [np.nan], [np.nan]])
    model = GIFRegressor(20, n_estimators=2, learning_rate=1.0, random_state=0)
    model.fit(X, [0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.predict([[1e300], [-3.0], [np.nan]]), [0, 0, 1], atol=1e-9)


def test_where_no_training_row_was_without_a_value_missing_ones_go_with_most():
    X = np.column_stack([np.arange(40.0), np.arange(40.0) % 7])
    X[39, 0] = np.nan
    model = GIFRegressor(300, **FAST).fit(X, np.sin(X[:, 1]) + (np.arange(40) > 10))
    n_looked = 0
    for tree in model.trees_:
        for node in np.flatnonzero(tree.feature == 0):
            if 39 not in rows_of(tree, X, node):  # else a coin has been thrown
                sizes = tree.n_node_samples[[tree.children_left[node], tree.children_right[node]]]
                goes_left = tree.missing_left is not None and tree.missing_left[node]
                assert goes_left == (sizes[0] > sizes[1])
                n_looked += 1
    assert n_looked > 20


def rows_of(tree, X, wanted):
    """Return the rows that reach a node."""
    found = []
    for row, x in enumerate(X):
        node = 0
        while node != wanted and tree.children_left[node] >= 0:
            value = x[tree.feature[node]]
            left = (
                tree.missing_left is not None and tree.missing_left[node]
                if np.isnan(value)
                else value <= tree.threshold[node]
            )
            node = tree.children_left[node] if left else tree.children_right[node]
        if node == wanted:
            found.append(row)
    return found


def test_only_features_with_holes_in_training_may_lack_values():
    model, X, _ = fitted(GIFRegressor(600, **FAST))
    row = X[:1].copy()
    row[0, 4] = np.nan
    with pytest.raises(MissingValueError, match="feature 4, which the prediction looks at"):
        model.predict(row)
    assert model.__sklearn_tags__().input_tags.allow_nan


def test_a_device_sends_missing_values_the_same_way():
    for limits in ({}, {"byte_budget": 2500, "byte_format": "int8"}):
        model = fitted(GIFClassifier(600, **FAST, **limits))[0]
        X_new = table(300, 1)[0].astype(np.float32)
        assert (model.compact().predict(X_new) == model.predict(X_new)).mean() > 0.99
        assert model.nbytes("int8") <= limits.get("byte_budget", np.inf)
