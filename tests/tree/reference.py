"""Slow twins of the tree kernels, in plain Python and NumPy."""

import numpy as np


def walk(tree, x):
    """Return the leaf of one example and the set of features tested on its path."""
    node, seen = 0, set()
    while tree.children_left[node] >= 0:
        feature = tree.feature[node]
        seen.add(int(feature))
        left = x[feature] <= tree.threshold[node]
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
