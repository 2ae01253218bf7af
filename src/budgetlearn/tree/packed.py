"""`PackedForest`: the trees of a forest in one block of memory, for fast walks."""

from typing import NamedTuple

import numpy as np

from .._parallel import row_blocks, thread_map
from .structure import LEAF
from .traversal import NODE_DTYPE, walk_rows


class Walk(NamedTuple):
    """What a walk down a forest gathered; None where it was not asked for.

    Attributes
    ----------
    values : ndarray of float64 of shape (n_samples, n_values)
        Sum over the trees of the values of the leaves reached.
    votes : ndarray of int32 of shape (n_samples, n_values)
        How many trees reach a leaf whose largest value is that one (the lowest of equals).
    leaves : ndarray of int32 of shape (n_samples, n_trees)
        Leaf ids, in the numbering of each `Tree`.
    acquired : ndarray of bool of shape (n_samples, n_features)
        Features that some node on the paths tests: the union over the trees.
    """

    values: np.ndarray | None
    votes: np.ndarray | None
    leaves: np.ndarray | None
    acquired: np.ndarray | None


def _pack(tree, offset):
    """Return node records and positions of one tree; the children of a node lie side by side."""
    inner = np.flatnonzero(~tree.is_leaf)
    position = np.zeros(tree.node_count, dtype=np.int64)
    position[tree.children_left[inner]] = 1 + 2 * np.arange(inner.size)
    position[tree.children_right[inner]] = 2 + 2 * np.arange(inner.size)
    nodes = np.empty(tree.node_count, dtype=NODE_DTYPE)
    nodes["threshold"][position] = tree.threshold
    nodes["feature"][position] = np.where(tree.is_leaf, LEAF, tree.feature)
    child = np.arange(tree.node_count)
    child[inner] = offset + position[tree.children_left[inner]]
    nodes["child"][position] = child
    return nodes, position


class PackedForest:
    """The trees of a forest, packed for walks of many examples.

    Sixteen bytes for each node, siblings side by side, so that a step needs one record and no
    branch. The result of a walk does not depend on `n_jobs`: each row adds up its trees in order.

    Parameters
    ----------
    trees : sequence of Tree
        At least one; all with the same number of values.
    n_features : int
        Columns of the tables that will be walked.
    shares : bool, default=False
        Divide the values of each node by their sum: class counts become class shares.

    Attributes
    ----------
    n_trees, n_features, n_values : int
        Sizes.
    """

    def __init__(self, trees, n_features, shares=False):
        packed, values, roots, offset = [], [], [], 0
        for tree in trees:
            nodes, position = _pack(tree, offset)
            ordered = np.empty_like(tree.value)
            ordered[position] = tree.value
            packed.append(nodes)
            values.append(ordered)
            roots.append(offset)
            offset += tree.node_count
        if offset > np.iinfo(np.int32).max:
            raise ValueError(f"a packed forest holds at most 2**31 - 1 nodes, got {offset}.")
        self.n_trees, self.n_features = len(roots), n_features
        self._nodes = np.concatenate(packed)
        self._values = np.concatenate(values)
        if shares:
            self._values /= self._values.sum(axis=1, keepdims=True)
        self._labels = self._values.argmax(axis=1).astype(np.int32)
        self._roots = np.array(roots, dtype=np.int32)
        self.n_values = self._values.shape[1]

    def walk(
        self, X, *, values=False, votes=False, leaves=False, acquired=False, trees=None, n_jobs=None
    ):
        """Send every row of X down the trees, once, and gather what is asked for.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            Without NaN. Compared with the thresholds in its own precision: scikit-learn's trees
            expect float32.
        values, votes, leaves, acquired : bool, default=False
            Which parts of the `Walk` to compute.
        trees : tuple of int, default=None
            (first, last): only the trees of that half-open range. None: all.
        n_jobs : int, default=None
            Threads, as in joblib.

        Returns
        -------
        Walk
        """
        first, last = (0, self.n_trees) if trees is None else trees
        walk = self._empty(X, values, votes, leaves, acquired, last - first)
        self._add(X, walk, first, last, n_jobs)
        return walk

    def staged_walk(self, X, *, values=False, votes=False, acquired=False, n_jobs=None):
        """Walk tree by tree; after each tree yield the totals so far.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            As for `walk`.
        values, votes, acquired : bool, default=False
            Which parts of the `Walk` to compute.
        n_jobs : int, default=None
            Threads, as in joblib.

        Yields
        ------
        Walk
            Its arrays are updated in place by the next stage: copy what you keep.
        """
        walk = self._empty(X, values, votes, False, acquired, 0)
        for tree in range(self.n_trees):
            self._add(X, walk, tree, tree + 1, n_jobs)
            yield walk

    def _empty(self, X, values, votes, leaves, acquired, n_trees):
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got shape {X.shape}.")
        n = X.shape[0]
        return Walk(
            np.zeros((n, self.n_values)) if values else None,
            np.zeros((n, self.n_values), dtype=np.int32) if votes else None,
            np.empty((n, n_trees), dtype=np.int32) if leaves else None,
            np.zeros((n, self.n_features), dtype=bool) if acquired else None,
        )

    def _add(self, X, walk, first, last, n_jobs):
        X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)

        def block(rows):
            part = [None if array is None else array[rows] for array in walk]
            if part[3] is not None:
                part[3] = part[3].view(np.uint8)
            walk_rows(
                self._nodes, self._roots, first, last, X[rows], self._values, self._labels, *part
            )

        thread_map(block, row_blocks(X.shape[0], n_jobs), n_jobs)
