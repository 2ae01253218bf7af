"""`SmallTrees`: many small trees, swept instead of walked."""

import numpy as np

from ._sweep import sweep_rows

# Rows of a block of the kernel: codes are padded to whole blocks.
BLOCK = 512
MOST_CODES = np.iinfo(np.int16).max
# Measured (benchmarks/speed_gif.py): a split that all rows look at takes this share of a step of a
# walk, and finding the code of a number takes as long as so many steps.
SPLIT, CODE = 0.08, 20.0


class SmallTrees:
    """The trees of a forest with the ranks of their thresholds, for sweeps of many rows.

    A row's code is, for each feature, how many of its distinct thresholds lie below the row's
    value: x <= threshold exactly where the code is at most the threshold's rank.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        Of all trees.
    starts : ndarray of int32 of shape (n_trees + 1,)
        Where each tree begins, and the last one ends.
    """

    def __init__(self, nodes, starts):
        self._nodes, self._starts = nodes, starts
        self._ranks = np.zeros(len(nodes), dtype=np.int16)
        self._grids = {}
        inner = np.flatnonzero(nodes["feature"] >= 0)
        feature, threshold = nodes["feature"][inner], nodes["threshold"][inner]
        order = np.lexsort((threshold, feature))
        ends = np.flatnonzero(np.diff(feature[order], append=-1)) + 1
        for own in np.split(order, ends[:-1]):
            if own.size:
                grid, rank = np.unique(threshold[own], return_inverse=True)
                self._grids[int(feature[own[0]])] = grid
                self._ranks[inner[own]] = np.minimum(rank, MOST_CODES)
        self._n_splits = inner.size
        largest = max((grid.size for grid in self._grids.values()), default=0)
        self._fits = largest < MOST_CODES and int(np.diff(starts).max()) < MOST_CODES

    def pay(self, n_rows, first, last):
        """Return whether sweeping the trees [first, last) takes less time than walking them."""
        if n_rows < BLOCK or not self._fits:
            return False
        n_trees = last - first
        splits = self._n_splits / (self._starts.size - 1)
        steps = n_trees * 1.3 * np.log2(splits + 1)
        return n_trees * splits * SPLIT + len(self._grids) * CODE < steps

    def add(self, X, node_values, first, last, values):
        """Add the values of the leaves that the rows of X reach in the trees [first, last).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Without NaN.
        node_values : ndarray of float64 of shape (n_nodes, n_values)
            Of the nodes.
        first, last : int
            Range of trees.
        values : ndarray of float64 of shape (n_rows, n_values)
            Added to, tree after tree.
        """
        codes = np.zeros((X.shape[1], -len(X) // BLOCK * -BLOCK), dtype=np.int16)
        for feature, grid in self._grids.items():
            codes[feature, : len(X)] = grid.searchsorted(X[:, feature])
        sweep_rows(self._nodes, self._ranks, self._starts, first, last, codes, node_values, values)
