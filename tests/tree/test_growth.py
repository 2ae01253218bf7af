"""Grown trees against a slow twin: every split is a best one, every leaf deserves to be one."""

import numpy as np
import pytest

from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import GrowthRule, grow_tree
from budgetlearn.tree.impurity import Entropy, Gini, Polynomial, Powers, ThresholdPairs

from . import reference

IMPURITIES = {
    "pairs": (ThresholdPairs(), lambda n: reference.impurity("pairs", n)),
    "pairs_2.5": (ThresholdPairs(2.5), lambda n: reference.impurity("pairs", n, 2.5)),
    "powers": (Powers(3), lambda n: reference.impurity("powers", n, 3)),
    "polynomial": (Polynomial(), lambda n: reference.impurity("polynomial", n)),
    "gini": (Gini(), lambda n: reference.impurity("gini", n)),
    "entropy": (Entropy(), lambda n: reference.impurity("entropy", n)),
}


def make_table(n, kind, n_classes, seed):
    """Return X (a mixture of column kinds), labels, bootstrap weights and prices."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=n).astype(np.int32)
    shift = labels[:, None] * rng.random(6)
    continuous = rng.normal(size=(n, 6)) + shift
    columns = {
        "continuous": continuous,
        "few": continuous.round(),
        "binary": (continuous > 0.5).astype(float),
        "mixed": np.c_[
            continuous[:, :2],
            continuous[:, 2:4].round(1),
            continuous[:, 4] > 0,
            np.zeros(n),
            np.where(rng.random(n) < 0.7, 0.0, continuous[:, 5]),
        ],
    }
    weights = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)
    return columns[kind].astype(float), labels, weights


def rows_of_nodes(tree, X):
    """Return, for each node, the mask of the rows that reach it."""
    reached = {0: np.ones(len(X), dtype=bool)}
    for node in range(tree.node_count):
        if tree.children_left[node] >= 0:
            left = X[:, tree.feature[node]] <= tree.threshold[node]
            reached[int(tree.children_left[node])] = reached[node] & left
            reached[int(tree.children_right[node])] = reached[node] & ~left
    return reached


def check_tree(tree, X, labels, weights, n_classes, name, rule, prices):
    """Compare each node of a tree with all its possible splits."""
    _, function = IMPURITIES[name]
    for node, rows in rows_of_nodes(tree, X).items():
        x, y, w = X[rows], labels[rows], weights[rows]
        counts = np.bincount(y, w, minlength=n_classes)
        np.testing.assert_array_equal(tree.value[node], counts)
        assert tree.n_node_samples[node] == np.count_nonzero(w)
        scores = reference.best_splits(
            x, y, w, n_classes, function, rule.split, rule.score, prices
        )
        if tree.children_left[node] < 0:
            pure = np.count_nonzero(counts) < 2 or function(counts) <= 0
            assert pure or not scores or node_depth(tree, node) == rule.max_depth
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        present = X[rows & (weights > 0), feature]
        low, high = present[present <= threshold].max(), present[present > threshold].min()
        assert threshold == pytest.approx((low + high) / 2, rel=1e-12)
        assert scores[feature, low, high] == pytest.approx(min(scores.values()), rel=1e-9)


def node_depth(tree, node):
    depth = 0
    while node:
        parents = (tree.children_left == node) | (tree.children_right == node)
        node = int(np.flatnonzero(parents)[0])
        depth += 1
    return depth


@pytest.mark.parametrize("kind", ["continuous", "few", "binary", "mixed"])
@pytest.mark.parametrize("n", [5, 18, 60, 400])
@pytest.mark.parametrize("split", ["minimax", "expected"])
@pytest.mark.parametrize("name", IMPURITIES)
def test_every_split_is_a_best_one(name, split, n, kind):
    for seed, n_classes in enumerate([2, 3, 7]):
        X, labels, weights = make_table(n, kind, n_classes, seed)
        prices = np.random.default_rng(seed).integers(0, 4, X.shape[1]).astype(float)
        for score in ("risk", "gain"):
            rule = GrowthRule(IMPURITIES[name][0], split, score, max_depth=4)
            used = prices.copy() if score == "risk" else 0.0 * prices
            tree = grow_tree(bin_features(X), labels, weights, n_classes, rule, used, seed)
            check_tree(tree, X, labels, weights, n_classes, name, rule, used)
