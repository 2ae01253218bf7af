"""Importances of features: how much the splits on each lower the impurity."""

import numpy as np


def gini_importance(trees, n_features):
    """Return the drop in Gini impurity by the splits on each feature, mean over the trees.

    The values of the trees are class counts.
    """
    total = np.zeros(n_features)
    for tree in trees:
        size = tree.value.sum(axis=1)
        impurity = size - (tree.value**2).sum(axis=1) / size
        inner = ~tree.is_leaf
        left, right = tree.children_left[inner], tree.children_right[inner]
        drop = impurity[inner] - impurity[left] - impurity[right]
        total += np.bincount(tree.feature[inner], drop, minlength=n_features) / size[0]
    return total / len(trees)


def variance_importance(trees, n_features):
    """Return the drop in variance by the splits on each feature, mean over the trees.

    The values of the trees are means of the target.
    """
    total = np.zeros(n_features)
    for tree in trees:
        weight, mean = np.ones(tree.node_count), tree.value[:, 0]
        for node in np.flatnonzero(~tree.is_leaf):  # parents come before their children
            left, right = tree.children_left[node], tree.children_right[node]
            # A node's mean lies between its sides' in proportion to their weights.
            apart = mean[right] - mean[left]
            share = (mean[right] - mean[node]) / apart if apart else 0.5
            weight[left], weight[right] = share * weight[node], (1 - share) * weight[node]
            total[tree.feature[node]] += weight[node] * share * (1 - share) * apart**2
    return total / len(trees)
