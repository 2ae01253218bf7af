"""Slow twins of the tree kernels, in plain Python and NumPy."""

from fractions import Fraction
from itertools import repeat

import numpy as np


def walk(tree, x):
    """Return the leaf of one example and the set of features tested on its path."""
    node, seen = 0, set()
    while tree.children_left[node] >= 0:
        feature = tree.feature[node]
        seen.add(int(feature))
        left = x[feature] <= tree.threshold[node]
        if tree.missing_left is not None and np.isnan(x[feature]):
            left = tree.missing_left[node]
        node = (tree.children_left if left else tree.children_right)[node]
    return int(node), seen


def walk_forest(trees, X):
    """Return summed values, votes, leaves and acquired features of a forest, row by row."""
    n, n_values = len(X), trees[0].value.shape[1]
    values, votes = np.zeros((n, n_values)), np.zeros((n, n_values), dtype=int)
    leaves, acquired = np.zeros((n, len(trees)), dtype=int), np.zeros(X.shape, dtype=bool)
    for row, x in enumerate(X):
        for index, tree in enumerate(trees):
            leaf, seen = walk(tree, x)
            leaves[row, index] = leaf
            values[row] += tree.value[leaf]
            votes[row, tree.value[leaf].argmax()] += 1
            acquired[row, list(seen)] = True
    return values, votes, leaves, acquired


def impurity(name, counts, parameter=0.0):
    """Return F(counts) by its definition: a double sum over classes, or shares.

    Classes are in the last axis; of many counts there are as many F.
    """
    n = np.asarray(counts, dtype=float)
    total = n.sum(axis=-1)
    if name in ("gini", "entropy"):
        p = n / np.where(total > 0, total, 1)[..., None]
        if name == "gini":
            return np.where(total > 0, 1 - (p**2).sum(axis=-1), 0.0)
        return -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)
    if name == "powers":
        return total**parameter - (n**parameter).sum(axis=-1)
    classes = range(n.shape[-1])
    pairs = [(n[..., i], n[..., j]) for i in classes for j in classes if i != j]
    if name == "polynomial":
        return sum(a**2 * b for a, b in pairs)
    alpha = parameter
    products = [np.maximum(a - alpha, 0) * np.maximum(b - alpha, 0) for a, b in pairs]
    return sum(np.maximum(product - alpha**2, 0) for product in products)


def splits(X, labels, weights, n_classes, function):
    """Yield feature, lower value, upper value, F and n of both sides for every possible split."""
    counted = weights > 0
    for feature in range(X.shape[1]):
        values, place = np.unique(X[counted, feature], return_inverse=True)
        counts = np.zeros((len(values), n_classes))
        np.add.at(counts, (place, labels[counted]), weights[counted])
        left, right = counts.cumsum(axis=0)[:-1], counts[::-1].cumsum(axis=0)[::-1][1:]
        sides = [(function(side), side.sum(axis=1)) for side in (left, right)]
        F, n = (np.transpose(both) for both in zip(*sides, strict=True))
        yield from zip(repeat(feature), values[:-1], values[1:], F, n)


def best_splits(
    X, labels, weights, n_classes, function, split, score, prices, tolerance=1e-10, least=0
):
    """Return {(feature, lower value, upper value): score} of all splits; lower is better.

    No side of them weighs less than `least`.
    """
    whole = function(np.bincount(labels, weights, minlength=n_classes))
    scores = {}
    for feature, low, high, F, n in splits(X, labels, weights, n_classes, function):
        if min(n) < least:
            continue
        after = max(F) if split == "minimax" else np.dot(F, n) / sum(n)
        drop = whole - after
        if score == "gain":
            scores[feature, low, high] = prices[feature] - drop
        elif drop > tolerance * whole:
            price = prices[feature]
            scores[feature, low, high] = price / drop if price > 0 else -drop
    return scores


def chances_of_samples(features, n_wanted):
    """Return the possible least scores, in order, and the chance that the least is no larger.

    `features` has the scores of all thresholds of each feature, of which the least of a sample of
    `n_wanted`, drawn without replacement, counts.
    """
    scores = np.unique(np.concatenate(features))
    none = np.ones(scores.size)  # chance that no sampled threshold scores as low
    for own in features:
        larger = own.size - np.searchsorted(np.sort(own), scores, side="right")
        for i in range(min(n_wanted, own.size)):
            none *= np.maximum(larger - i, 0) / (own.size - i)
    return scores, 1 - none


def variance_drops(X, targets, weights):
    """Return {(feature, lower value, upper value, missing left): drop} of all splits, exactly.

    Sums are whole numbers: of targets and weights in units of their smallest power of two. The
    upper value is NaN where all that have a value go left.
    """
    y, w = (_whole(numbers) for numbers in (targets, weights))
    total, whole = sum(w), sum(a * b for a, b in zip(w, y, strict=True))
    drops = {}
    for feature in range(X.shape[1]):
        x = X[:, feature]
        order = np.argsort(x)
        order, absent = order[~np.isnan(x[order])], np.flatnonzero(np.isnan(x))
        sides = {False: (0, 0)}
        if absent.size:
            sides[True] = sum(w[i] for i in absent), sum(w[i] * y[i] for i in absent)
        n_left = sum_left = 0
        for i, after in zip(order, np.append(x[order], np.nan)[1:], strict=True):
            n_left, sum_left = n_left + w[i], sum_left + w[i] * y[i]
            for missing_left, (n_more, sum_more) in sides.items():
                n, s = n_left + n_more, sum_left + sum_more
                if x[i] != after and 0 < n < total:
                    drop = Fraction((s * total - n * whole) ** 2, n * (total - n))
                    drops[feature, x[i], after, missing_left] = drop
    return drops


def _whole(numbers):
    """Return numbers times the power of two that makes them whole."""
    ratios = [float(number).as_integer_ratio() for number in numbers]
    unit = max(below for _, below in ratios)
    return [above * (unit // below) for above, below in ratios]
