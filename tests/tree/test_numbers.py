"""Regression trees against a slow twin that computes without rounding."""

from dataclasses import replace

import numpy as np
import pytest

from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import GrowthRule
from budgetlearn.tree.impurity import Variance
from tests.tree import reference
from tests.tree.growing import grow_tree


def rows_of_nodes(tree, X):
    """Return, for each node, the rows that reach it."""
    reached = {0: np.arange(len(X))}
    for node in np.flatnonzero(~tree.is_leaf):
        rows, feature = reached[node], tree.feature[node]
        left = X[rows, feature] <= tree.threshold[node]
        if tree.missing_left is not None:
            left |= np.isnan(X[rows, feature]) & tree.missing_left[node]
        reached[int(tree.children_left[node])] = rows[left]
        reached[int(tree.children_right[node])] = rows[~left]
    return reached


def check_tree(tree, X, y, weights, prices=None, max_depth=None):
    """Compare each node with all its possible splits; return the best risk / that of its split."""
    shares = []
    prices = np.ones(X.shape[1]) if prices is None else prices
    for node, rows in rows_of_nodes(tree, X).items():
        rows = rows[weights[rows] > 0]
        x, target, weight = X[rows], y[rows], weights[rows]
        assert tree.n_node_samples[node] == rows.size
        mean = np.average(target.astype(np.longdouble), weights=weight)
        spread = np.abs(target - mean).max()
        assert abs(tree.value[node, 0] - mean) <= 1e-12 * spread + 1e-15 * abs(mean)
        if tree.is_leaf[node]:
            same = np.unique(target).size == 1 or (np.isnan(x) | (x == x[0])).all()
            assert same or max_depth is not None
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        gains = {
            split: float(drop) / prices[split[0]]
            for split, drop in reference.variance_drops(x, target, weight).items()
        }
        known = x[:, feature][~np.isnan(x[:, feature])]
        low, high = known[known <= threshold].max(), known[known > threshold]
        missing_left = tree.missing_left is not None and bool(tree.missing_left[node])
        missing_left &= known.size < rows.size
        ours = [
            gain
            for (column, below, above, left), gain in gains.items()
            if (column, below, left) == (feature, low, missing_left)
            and (np.isnan(above) if high.size == 0 else above == high.min())
        ]
        shares.append(ours[0] / max(gains.values()))
    return np.array(shares)


def targets(kind, X, rng):
    """Return numbers that a careless sum of squares gets wrong."""
    signal = X[:, 0] + np.sin(3 * X[:, 1])
    if kind == "heavy":
        return np.exp(14 * rng.normal(size=len(X)) + 3 * signal)
    return {"plain": 0.0, "offset": 1e9, "negative": -1e12}[kind] + signal + rng.normal(size=len(X))


def table(shape, n, rng):
    X = rng.normal(size=(n, 4))
    if shape == "few":
        X = X.round()
    if shape == "missing":
        X[:, 1:3] = X[:, 1:3].round(1)
        X[rng.random((n, 4)) < [0.0, 0.3, 0.1, 0.02]] = np.nan
    return X


@pytest.mark.parametrize("shape", ["continuous", "few", "missing"])
@pytest.mark.parametrize("kind", ["plain", "heavy", "offset", "negative"])
def test_every_split_is_a_best_one(kind, shape):
    rng = np.random.default_rng(0)
    X = table(shape, 300, rng)
    y = targets(kind, np.nan_to_num(X), rng)
    assert kind != "heavy" or np.abs(y).max() > 1e12 * np.median(np.abs(y))
    weights = np.bincount(rng.integers(300, size=300), minlength=300).astype(float)
    weights *= rng.random(300) if shape == "few" else 1.0
    prices = rng.integers(1, 5, size=4).astype(float)
    rule = GrowthRule(Variance(), score="risk", count_constants=False)
    data = bin_features(X, missing=np.isnan(X).any(axis=0))
    tree = grow_tree(data, y, weights, 1, rule, prices, seed=0)
    shares = check_tree(tree, X, y, weights, prices, max_depth=99 if shape == "few" else None)
    assert shares.size > 20
    assert np.mean(shares > 1 - 1e-9) >= 0.99


@pytest.mark.parametrize("shape", ["continuous", "missing"])
def test_drawn_features_are_counted_or_sorted(shape):
    # All columns are the same: whichever is drawn, the best split is the best of all.
    rng = np.random.default_rng(0)
    X = np.repeat(table(shape, 2000, rng)[:, 2:3], 3, axis=1)
    y = targets("heavy", np.nan_to_num(X), rng)
    rule = GrowthRule(Variance(), score="risk", count_constants=False, max_features=1)
    data = bin_features(X, missing=np.isnan(X).any(axis=0))
    tree = grow_tree(data, y, np.ones(2000), 1, rule, np.ones(3), seed=0)
    shares = check_tree(
        replace(tree, feature=np.minimum(tree.feature, 0)), X[:, :1], y, np.ones(2000)
    )
    assert shares.size > 50
    assert np.mean(shares > 1 - 1e-9) >= 0.99


@pytest.mark.parametrize("shape", ["continuous", "few", "missing"])
def test_random_thresholds_are_possible_ones(shape):
    rng = np.random.default_rng(0)
    X = table(shape, 300, rng)
    y, weights = targets("plain", np.nan_to_num(X), rng), np.ones(300)
    data = bin_features(X, missing=np.isnan(X).any(axis=0))
    rule = GrowthRule(Variance(), score="risk", thresholds="random", max_depth=6)
    trees = [grow_tree(data, y, weights, 1, rule, np.ones(4), seed) for seed in (0, 1)]
    shares = check_tree(trees[0], X, y, weights, max_depth=6)
    assert 0 < shares.min() <= shares.max() <= 1 + 1e-9
    if shape == "continuous":  # more thresholds than are drawn
        assert shares.min() < 0.999
        assert trees[0].threshold[0] != trees[1].threshold[0] or shares[0] > 0.99
