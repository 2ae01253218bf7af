"""Limits of the trees that a globally induced forest grows: depth, and examples in a leaf."""

import numpy as np
import pytest

from budgetlearn import GIFClassifier, GIFRegressor
from budgetlearn.validation import ParameterError

OPTIONS = {"n_estimators": 20, "learning_rate": 0.3, "random_state": 0}


def table(n=300, n_levels=None):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5)) if n_levels is None else random.integers(n_levels, size=(n, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n)


def depths(tree):
    """Return the depth of each node."""
    depth = np.zeros(tree.node_count, dtype=int)
    for node in np.flatnonzero(tree.children_left >= 0):
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return depth


def made(kind, **options):
    X, y = table()
    return kind(4000, **OPTIONS | options).fit(X, y if kind is GIFRegressor else y > 0)


@pytest.mark.parametrize("kind", [GIFRegressor, GIFClassifier])
@pytest.mark.parametrize("options", [{}, {"candidate_window": None}, {"split_on": "residuals"}])
def test_no_node_is_deeper_than_max_depth(kind, options):
    if "split_on" in options and kind is GIFClassifier:
        options = options | {"loss": "squared"}
    for most in (1, 3):
        trees = made(kind, max_depth=most, **options).trees_
        assert max(depths(tree).max() for tree in trees) == most


@pytest.mark.parametrize("kind", [GIFRegressor, GIFClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_side_has_fewer_examples_than_min_samples_leaf(kind, weighted):
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    targets = y if kind is GIFRegressor else y > 0
    model = kind(4000, min_samples_leaf=12, **OPTIONS).fit(X, targets, sample_weight=weight)
    sizes = np.concatenate([tree.n_node_samples for tree in model.trees_])
    assert 12 <= sizes.min() <= 20
    freely = kind(4000, **OPTIONS).fit(X, targets, sample_weight=weight)
    assert min(tree.n_node_samples.min() for tree in freely.trees_) == 1


def test_bytes_know_the_least_leaf_too():
    # Whole numbers take the other path through the kernel.
    X, y = table(n_levels=9)
    model = GIFRegressor(4000, min_samples_leaf=7, **OPTIONS).fit(X, y)
    assert 7 <= min(tree.n_node_samples.min() for tree in model.trees_) <= 12


def test_a_forest_whose_roots_cannot_be_split_is_the_constant():
    X, y = table(30)
    model = GIFRegressor(4000, min_samples_leaf=16, **OPTIONS).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_limits_that_do_not_bind_change_nothing():
    free, limited = made(GIFClassifier), made(GIFClassifier, max_depth=1000)
    X, _ = table()
    np.testing.assert_array_equal(free.predict_proba(X), limited.predict_proba(X))


@pytest.mark.parametrize("options", [{"max_depth": 0}, {"max_depth": 1.5}, {"min_samples_leaf": 0}])
def test_limits_that_are_no_limits_are_refused(options):
    with pytest.raises(ParameterError, match=f"{next(iter(options))} must be an integer >= 1"):
        made(GIFRegressor, **options)
