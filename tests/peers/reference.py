"""Slow twins: acquisition counted from scikit-learn's own paths."""

import numpy as np


def union_of_paths(ensemble, X):
    """Return which features each example meets on its paths through all trees of an ensemble."""
    X = X.astype(np.float32)
    acquired = np.zeros(X.shape, dtype=bool)
    for member in np.ravel(ensemble.estimators_):
        paths = member.decision_path(X).tocsr()
        for row in range(len(X)):
            nodes = paths.indices[paths.indptr[row] : paths.indptr[row + 1]]
            tested = member.tree_.feature[nodes]
            acquired[row, tested[tested >= 0]] = True
    return acquired


def _best_split(X, residual, rows, penalties):
    """Return (net gain, feature, threshold) of the best split of some rows, or None."""
    best = None
    base = residual[rows].sum() ** 2 / rows.size
    for feature in range(X.shape[1]):
        order = rows[np.argsort(X[rows, feature])]
        left = np.cumsum(residual[order])[:-1]
        n_left = np.arange(1, rows.size)
        right = residual[rows].sum() - left
        gain = left**2 / n_left + right**2 / (rows.size - n_left) - base - penalties[feature]
        cut = gain.argmax()
        if best is None or gain[cut] > best[0]:
            middle = (X[order[cut], feature] + X[order[cut + 1], feature]) / 2
            best = gain[cut], feature, middle
    return best


def greedy_miser_tree(X, residual, prices, owned, max_depth):
    """Return one regression tree's values; features it acquires are added to the set `acquired`.

    The leaf whose split lowers squared error plus prices most is split first, so that it is
    the one to pay for a feature; from then on the feature is free everywhere.
    """
    leaves = [(np.arange(len(X)), 0)]
    while True:
        penalties = [0 if f in owned else price for f, price in enumerate(prices)]
        choices = []
        for position, (rows, depth) in enumerate(leaves):
            if depth < max_depth and rows.size > 1:
                choices.append((*_best_split(X, residual, rows, penalties), position))
        gain, feature, middle, position = max(choices, default=(0, 0, 0, 0))
        if gain <= 1e-9:
            break
        rows, depth = leaves.pop(position)
        owned.add(feature)
        left = X[rows, feature] <= middle
        leaves += [(rows[left], depth + 1), (rows[~left], depth + 1)]
    value = np.empty(len(X))
    for rows, _ in leaves:
        value[rows] = residual[rows].mean()
    return value
