"""`Tree`, the read-only arrays of a tree, and `ForestPredictor`, a forest in one memory block."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..parallel import row_blocks, thread_map
from ..validation import INT32_MAX
from .nodes import NODE_DTYPE
from .on_demand import WaitingTrees
from .permutation import Walker
from .walking import SmallTrees, pack, walk_rows

LEAF = -1  # no child, as scikit-learn's TREE_LEAF
DTYPES = {"threshold": np.float64, "value": np.float64, "missing_left": bool}  # others: int32


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree; an example with x[feature] <= threshold goes left.

    All arrays except `value` have the shape (node_count,).
    """

    feature: np.ndarray  # int32: tested at each node; -1 at a leaf
    threshold: np.ndarray  # float64, in the unit of the feature
    # int32: node ids, always larger than the parent's; -1 at a leaf.
    children_left: np.ndarray
    children_right: np.ndarray
    # float64 (node_count, n_values): class counts, outputs in regression, weights in a GIF.
    value: np.ndarray
    n_node_samples: np.ndarray  # int32: training examples that reached each node
    # bool: whether missing values (NaN) go left at each node; None: at no node.
    missing_left: np.ndarray | None = None

    def __post_init__(self):
        arrays = vars(self)
        for name, array in arrays.items():
            if array is not None:
                arrays[name] = np.ascontiguousarray(array, DTYPES.get(name, np.int32))
                arrays[name].setflags(write=False)

    @classmethod
    def of_nodes(cls, columns, value, names=None):
        """Return a tree from a kernel's `columns_of` its nodes, and the value of each node.

        `names`, (n_features + 1,), are the feature numbers of the table's columns, and -1.
        """
        feature, *tests, n_samples, missing_left = columns
        feature = feature if names is None else names[feature]
        return cls(feature, *tests, value, n_samples, missing_left)

    def __reduce__(self):
        # Unpickled arrays are writeable; the constructor makes them read-only.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def node_count(self):
        """Number of nodes, including leaves."""
        return self.feature.size

    @property
    def is_leaf(self):
        """Mask of the leaves."""
        return self.children_left == LEAF

    def parents(self):
        """Return the parent of each node; -1 at the root."""
        parent = np.full(self.node_count, LEAF, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.children_left[inner]] = parent[self.children_right[inner]] = inner
        return parent


class Walk(NamedTuple):
    """The results of a walk down a forest; those that are not wanted are None."""

    # float64 (n_samples, n_values): sum over the trees of the values of the leaves reached.
    values: np.ndarray | None
    # int32 (n_samples, n_values): votes of trees, each for the first largest value of its leaf.
    votes: np.ndarray | None
    leaves: np.ndarray | None  # int32 (n_samples, n_trees): node ids of each `Tree`
    acquired: np.ndarray | None  # bool (n_samples, n_features): tested on the path of any tree


class SecondColumns:
    """The features of a forest with a second column, which is appended to the table.

    The kernels that walk trees send NaN right at every node. If missing values of a feature go left
    at some nodes, these nodes test a second column of the feature, in which missing values are
    -inf. So the kernels need no special case, and forests without missing values lose no time.
    """

    def __init__(self, trees, n_features):
        sending = (tree for tree in trees if tree.missing_left is not None)
        flagged = [tree.feature[tree.missing_left] for tree in sending]
        self.features = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *flagged]))
        self.n_features = n_features

    def tested(self, tree):
        """Return the column that each node of a tree tests, int32."""
        if tree.missing_left is None:
            return tree.feature
        second = self.n_features + np.searchsorted(self.features, tree.feature)
        return np.where(tree.missing_left, second, tree.feature).astype(np.int32)

    def added(self, X):
        """Return the table X with the second columns appended."""
        if not self.features.size:
            return X
        second = X[:, self.features]
        second[np.isnan(second)] = -np.inf
        return np.hstack([X, second])

    def fold(self, acquired):
        """Return the mask of acquired features, given the mask of acquired columns."""
        features = acquired[:, : self.n_features].copy()
        features[:, self.features] |= acquired[:, self.n_features :]
        return features


class ForestPredictor:
    """The trees of a forest, packed for prediction.

    There is at least one tree, and all have the same `n_values`. A node takes sixteen bytes, and
    siblings are side by side, so that a step reads one record and has no branch. Many rows are
    swept through many small trees instead of walked (`SmallTrees`). The result of a walk does not
    depend on `n_jobs`, because each row adds its trees in order.

    `shares` divides the values of each node by their sum, which turns class counts into class
    shares. If the values of the trees are consecutive slices of one array, pass it as `values`,
    (n_nodes, n_values), to avoid a copy. In this case, right children must follow left ones.
    """

    def __init__(self, trees, n_features, shares=False, values=None):
        self.trees, self._shares = trees, shares
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        n_nodes = int(starts[-1])
        if n_nodes > INT32_MAX:
            raise ValueError(f"a forest holds at most {INT32_MAX:,} nodes, got {n_nodes:,}.")
        self.n_trees, self.n_features = len(trees), n_features
        # The start of each tree, and the end of the last one.
        self._starts = starts.astype(np.int32)
        self._roots = self._starts[:-1]
        self.n_values = trees[0].value.shape[1]
        self._second = SecondColumns(trees, n_features)
        self._nodes = np.empty(n_nodes, dtype=NODE_DTYPE)
        self._values = np.empty((n_nodes, self.n_values)) if values is None else values
        for tree, root in zip(trees, self._roots.tolist(), strict=True):
            tested, left, right = self._second.tested(tree), tree.children_left, tree.children_right
            out = self._values if values is None else None
            pack(tested, tree.threshold, left, right, tree.value, root, self._nodes, out)
        # Divide once per node, instead of once for each example that reaches it.
        if shares:
            self._values /= self._values.sum(axis=1, keepdims=True)

    def __reduce__(self):
        # A pickled estimator also holds these trees, so they are stored once.
        return type(self), (self.trees, self.n_features, self._shares)

    def node_count(self, n_trees):
        """Return the number of nodes of the first trees."""
        return int(self._starts[n_trees])

    def walk(self, X, *, trees=None, counts=None, n_jobs=None, **wanted):
        """Send every row of X down the trees and return the `wanted` parts of a `Walk`.

        X, float64 or float32, is compared with the thresholds in its own precision; scikit-learn's
        trees expect float32. NaN goes left at the nodes of `Tree.missing_left`, otherwise right.
        `trees` is a half-open range (first, last); None: all. `counts`, bool (last - first,
        n_samples), selects the trees that add their values to the sum of each row; None: all.
        """
        first, last = (0, self.n_trees) if trees is None else trees
        walk = self._empty(X, last - first, **wanted)
        self._add(X, walk, first, last, n_jobs, counts)
        return walk

    def staged_walk(self, X, *, n_jobs=None, **wanted):
        """Walk one tree after another, yielding the totals so far, which later trees update."""
        walk = self._empty(X, 0, **wanted)
        for tree in range(self.n_trees):
            self._add(X, walk, tree, tree + 1, n_jobs)
            yield walk

    def waiting_trees(self, n_samples, n_trees, *, one_by_one=False, until_refused=False):
        """Return the `WaitingTrees` of examples without any known feature."""
        roots, second = self._roots[:n_trees], self._second.features
        return WaitingTrees(
            self._nodes, roots, n_samples, self.n_features, second, one_by_one, until_refused
        )

    def leaf_totals(self, walking, n_samples, *, votes=False, per_step=0):
        """Return sums over the leaves that `waiting_trees` reached, and each sum's number of trees.

        Sums are of votes or values, as in `Walk`. With `per_step=0`, all finished trees count.
        Otherwise the trees before the first unfinished one count, in whole steps of `per_step`.
        """
        totals = np.zeros((n_samples, self.n_values))
        n_counted = np.zeros(n_samples, dtype=np.int32)
        labels = self._labels if votes else None
        walking.add_leaves(self._values, labels, per_step, totals, n_counted)
        return totals, n_counted

    def permuted_hits(self, X, labels, partners, *, votes, n_jobs):
        """Count correct predictions on the unchanged rows, and with each feature permuted.

        The second count has shape (n_features, n_repeats). X must not contain NaN. `partners`,
        int32 (n_repeats, n_samples), are the rows that the permuted values come from. With `votes`
        the trees vote; otherwise their values are added.
        """
        leaf_votes = np.eye(self.n_values)[self._labels] if votes else self._values

        def count(rows):
            walker = Walker(self._nodes, self.n_features, len(partners))
            return walker.count_hits(
                self._roots, leaf_votes, X, labels, partners, rows.start, rows.stop
            )

        counted = thread_map(count, row_blocks(X.shape[0], n_jobs, smallest=128), n_jobs)
        return sum(hits for hits, _ in counted), sum(permuted for _, permuted in counted)

    def lost_hits(self, tree, X, labels, rows, partners):
        """Count the correct votes of a tree on `rows` that are lost when each feature is permuted.

        `partners`, a permutation of `rows`, are the rows that the permuted values come from.
        """
        lost = np.zeros(self.n_features, dtype=np.int64)
        walker = Walker(self._nodes, self.n_features, 1)
        walker.lost_hits(self._roots[tree], self._labels, X, labels, rows, partners, lost)
        return lost

    def _empty(self, X, n_trees, values=False, votes=False, leaves=False, acquired=False):
        """Return an empty `Walk` with the wanted parts."""
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got shape {X.shape}.")
        n = X.shape[0]
        return Walk(
            np.zeros((n, self.n_values)) if values else None,
            np.zeros((n, self.n_values), dtype=np.int32) if votes else None,
            np.empty((n, n_trees), dtype=np.int32) if leaves else None,
            np.zeros((n, self.n_features), dtype=bool) if acquired else None,
        )

    @cached_property
    def _labels(self):
        return self._values.argmax(axis=1).astype(np.int32)

    @cached_property
    def _small_trees(self):
        return SmallTrees(self._nodes, self._starts)

    def _add(self, X, walk, first, last, n_jobs, counts=None):
        X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
        only_values = walk.values is not None and all(part is None for part in walk[1:])
        # A single tree is walked, because sweeping would first rank the thresholds of all trees.
        sweeps = only_values and last - first > 1 and counts is None
        labels = None if walk.votes is None else self._labels

        def block(rows):
            table = self._second.added(X[rows])
            if sweeps and self._small_trees.pay(len(table), first, last):
                self._small_trees.add(table, self._values, first, last, walk.values[rows])
                return
            own = Walk(*(None if part is None else part[rows] for part in walk))
            tested = own.acquired
            if tested is not None and self._second.features.size:
                tested = np.zeros(table.shape, dtype=bool)
            walk_rows(
                *(self._nodes, self._roots, first, last, table, self._values, labels),
                *(own.values, own.votes, own.leaves),
                None if tested is None else tested.view(np.uint8),
                None if counts is None else counts[:, rows].view(np.uint8),
            )
            if tested is not own.acquired:
                own.acquired[:] |= self._second.fold(tested)

        thread_map(block, row_blocks(X.shape[0], n_jobs), n_jobs)
