"""`Tree`: frozen arrays, whatever grew it; `ForestPredictor`: a forest in one block of memory."""

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

LEAF = -1  # scikit-learn's TREE_LEAF: no child
DTYPES = {"threshold": np.float64, "value": np.float64, "missing_left": bool}  # others: int32


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree; an example with x[feature] <= threshold goes left.

    All arrays but `value` are of shape (node_count,).
    """

    feature: np.ndarray  # int32: tested at each node; -1 at a leaf
    threshold: np.ndarray  # float64, in the feature's own unit
    # int32: node ids, always larger than the parent's; -1 at a leaf.
    children_left: np.ndarray
    children_right: np.ndarray
    # float64 (node_count, n_values): class counts, outputs in regression, weights in a GIF.
    value: np.ndarray
    n_node_samples: np.ndarray  # int32: training examples that reached each node
    # bool: whether an example whose feature has no value (NaN) goes left; None: nowhere.
    missing_left: np.ndarray | None = None

    def __post_init__(self):
        arrays = vars(self)
        for name, array in arrays.items():
            if array is not None:
                arrays[name] = np.ascontiguousarray(array, DTYPES.get(name, np.int32))
                arrays[name].setflags(write=False)

    @classmethod
    def of_nodes(cls, columns, value, names=None):
        """Return a tree that a kernel grew: `columns_of` its nodes, and the value of each.

        `names`, (n_features + 1,): what the tree calls each column of the table, and -1.
        """
        feature, *tests, n_samples, missing_left = columns
        feature = feature if names is None else names[feature]
        return cls(feature, *tests, value, n_samples, missing_left)

    def __reduce__(self):
        # Through the constructor: arrays come out of a pickle writeable.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def node_count(self):
        """Number of nodes, internal and leaf."""
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
    """The results of a walk down a forest; None where not asked for."""

    # float64 (n_samples, n_values): sum over the trees of the values of the leaves reached.
    values: np.ndarray | None
    # int32 (n_samples, n_values): trees whose leaf has its largest value (of equals the first).
    votes: np.ndarray | None
    leaves: np.ndarray | None  # int32 (n_samples, n_trees): in the numbering of each `Tree`
    # bool (n_samples, n_features): tested by some node on the paths: the union over the trees.
    acquired: np.ndarray | None


class SecondColumns:
    """The features of a forest that have a second column, behind those of the table.

    The kernels that walk trees send NaN right at every node. A feature whose missing values go left
    at some nodes gets a second column, in which they are -inf; those nodes test that column. So the
    kernels need not know of missing values, and forests without any lose no time.
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
        """Return a table with the second columns."""
        if not self.features.size:
            return X
        second = X[:, self.features]
        second[np.isnan(second)] = -np.inf
        return np.hstack([X, second])

    def fold(self, acquired):
        """Return the mask of acquired features, given that of columns."""
        features = acquired[:, : self.n_features].copy()
        features[:, self.features] |= acquired[:, self.n_features :]
        return features


class ForestPredictor:
    """The trees of a forest, at least one, all with as many values, packed for many walks.

    Sixteen bytes for each node, siblings side by side, so that a step needs one record and no
    branch. Many rows are not walked but swept through many small trees (`SmallTrees`). The result
    of a walk does not depend on `n_jobs`: each row adds up its trees in order.

    `shares` divides the values of each node by their sum: class counts become class shares.
    `values`, (n_nodes, n_values), where the values of all nodes, tree after tree, are in one array
    of which the trees have parts: it is used, not copied. Right children must follow left ones.
    """

    def __init__(self, trees, n_features, shares=False, values=None):
        self.trees, self._shares = trees, shares
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        n_nodes = int(starts[-1])
        if n_nodes > INT32_MAX:
            raise ValueError(f"a forest holds at most {INT32_MAX:,} nodes, got {n_nodes:,}.")
        self.n_trees, self.n_features = len(trees), n_features
        # Where each tree begins, and the last one ends.
        self._starts = starts.astype(np.int32)
        self._roots = self._starts[:-1]
        self.n_values = trees[0].value.shape[1]
        self._second = SecondColumns(trees, n_features)
        self._nodes = np.empty(n_nodes, dtype=NODE_DTYPE)
        self._values = np.empty((n_nodes, self.n_values)) if values is None else values
        for tree, root in zip(trees, self._roots.tolist(), strict=True):
            sides = tree.children_left, tree.children_right
            out = self._nodes, self._values if values is None else None
            pack(self._second.tested(tree), tree.threshold, *sides, tree.value, root, *out)
        # Once for each node here, instead of once for each example that reaches it.
        if shares:
            self._values /= self._values.sum(axis=1, keepdims=True)

    def __reduce__(self):
        # Pickles hold the trees, which the estimator keeps too, and so hold them once.
        return type(self), (self.trees, self.n_features, self._shares)

    def node_count(self, n_trees):
        """Return the number of nodes of the first trees."""
        return int(self._starts[n_trees])

    def walk(self, X, *, trees=None, counts=None, n_jobs=None, **wanted):
        """Send every row of X down the trees, once, and gather the `wanted` parts of a `Walk`.

        X, float64 or float32, is compared with the thresholds in its own precision: scikit-learn's
        trees expect float32. NaN goes right, at the nodes of `Tree.missing_left` left. `trees` is a
        half-open range (first, last); None: all. `counts`, of bool (last - first, n_samples), says
        which trees add their values to the sum of each row; None: all.
        """
        first, last = (0, self.n_trees) if trees is None else trees
        walk = self._empty(X, last - first, **wanted)
        self._add(X, walk, first, last, n_jobs, counts)
        return walk

    def staged_walk(self, X, *, n_jobs=None, **wanted):
        """Walk tree by tree as `walk`; after each yield the totals, which the next one updates."""
        walk = self._empty(X, 0, **wanted)
        for tree in range(self.n_trees):
            self._add(X, walk, tree, tree + 1, n_jobs)
            yield walk

    def waiting_trees(self, n_samples, n_trees, *, one_by_one=False, until_refused=False):
        """Start the `WaitingTrees` of examples of which nothing is known yet."""
        how = n_samples, self.n_features, self._second.features, one_by_one, until_refused
        return WaitingTrees(self._nodes, self._roots[:n_trees], *how)

    def leaf_totals(self, walking, n_samples, *, votes=False, per_step=0):
        """Return the sums of the leaves that `waiting_trees` reached, and the trees in each sum.

        As in `Walk`, votes or values. `per_step` 0: all trees that are through count. Else those
        before the first that is not, in whole steps of so many trees.
        """
        totals = np.zeros((n_samples, self.n_values))
        n_counted = np.zeros(n_samples, dtype=np.int32)
        labels = self._labels if votes else None
        walking.add_leaves(self._values, labels, per_step, totals, n_counted)
        return totals, n_counted

    def permuted_hits(self, X, labels, partners, *, votes=False, n_jobs=None):
        """Count right predictions on the rows as they are, and with each feature permuted.

        The latter are (n_features, n_repeats). X is without NaN. `partners`, int32 (n_repeats,
        n_samples), has the row from which each row gets a feature's value. With `votes` the trees
        vote, else their values are added up.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        leaf_votes = np.eye(self.n_values)[self._labels] if votes else self._values

        def count(rows):
            walker = Walker(self._nodes, self.n_features, len(partners))
            data = leaf_votes, X, labels, partners
            return walker.count_hits(self._roots, *data, rows.start, rows.stop)

        counted = thread_map(count, row_blocks(X.shape[0], n_jobs, smallest=128), n_jobs)
        return sum(hits for hits, _ in counted), sum(permuted for _, permuted in counted)

    def lost_hits(self, tree, X, labels, rows, partners):
        """Count the right votes of one tree on `rows` that are lost when each feature is permuted.

        `partners`, a permutation of `rows`, says from which row each gets a feature's value.
        """
        lost = np.zeros(self.n_features, dtype=np.int64)
        walker = Walker(self._nodes, self.n_features, 1)
        walker.lost_hits(self._roots[tree], self._labels, X, labels, rows, partners, lost)
        return lost

    def _empty(self, X, n_trees, values=False, votes=False, leaves=False, acquired=False):
        """Return a `Walk` of what is asked for, to be added to."""
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
        # One tree is walked before the thresholds of all are ranked.
        sweeps = only_values and last - first > 1 and counts is None
        labels = None if walk.votes is None else self._labels

        def block(rows):
            table = self._second.added(X[rows])
            if sweeps and self._small_trees.pay(len(table), first, last):
                self._small_trees.add(table, self._values, first, last, walk.values[rows])
                return
            *parts, acquired = [None if array is None else array[rows] for array in walk]
            tested = acquired
            if acquired is not None and self._second.features.size:
                tested = np.zeros(table.shape, dtype=bool)
            where = self._nodes, self._roots, first, last, table, self._values, labels
            masks = tested, None if counts is None else counts[:, rows]
            walk_rows(*where, *parts, *(None if m is None else m.view(np.uint8) for m in masks))
            if tested is not acquired:
                acquired |= self._second.fold(tested)

        thread_map(block, row_blocks(X.shape[0], n_jobs), n_jobs)
