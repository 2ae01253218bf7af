"""Kernel: send blocks of rows down the trees of a forest, by walking or by sweeping."""

from functools import cached_property

import numpy as np

from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memset

from .nodes cimport Node

ctypedef fused real:
    float
    double

cdef enum:
    # Rows that go down each tree together, so that its nodes and the block stay in the cache.
    BLOCK = 256
    # Walks that take their steps together, so that their loads overlap.
    TOGETHER = 8
    # Rows that are swept together, so that their places and columns stay in the cache.
    SWEPT = 512


cdef inline void descend(
    const Node* nodes,
    const int32_t* roots,     # IN of the tree, or (n_walks,) of the trees
    bint by_tree,             # IN one row goes down several trees; else several rows down one tree
    const real* X,            # IN (n_features,) or (n_rows, n_features)
    Py_ssize_t n_features,
    const int32_t* rows,      # IN (n_walks,) of X; not read `by_tree`
    Py_ssize_t n_walks,       # IN <= BLOCK
    uint8_t* acquired,        # OUT in the shape of X; NULL if not wanted
    int32_t* at,              # OUT (n_walks,): the leaf of each row, or in each tree
) noexcept nogil:
    """Walk rows of a block, or one row, from roots to leaves."""
    cdef int32_t now[TOGETHER]
    cdef Py_ssize_t starts[TOGETHER]
    cdef Py_ssize_t group, first, i, walk, cell
    cdef int32_t feature, reached
    cdef bint inner, walking
    cdef const Node* node
    for group in range((n_walks + TOGETHER - 1) // TOGETHER):
        first = group * TOGETHER
        for i in range(TOGETHER):
            walk = min(first + i, n_walks - 1)
            now[i] = roots[walk if by_tree else 0]
            starts[i] = 0 if by_tree else rows[walk] * n_features
        walking = True
        while walking:
            # A walk stays at its leaf and reads column 0 in vain: no branch to mispredict.
            walking = False
            for i in range(TOGETHER):
                node = nodes + now[i]
                feature = node.feature
                inner = feature >= 0
                cell = starts[i] + (feature if inner else 0)
                if acquired != NULL:
                    acquired[cell] |= inner
                reached = node.child + (not X[cell] <= node.threshold)
                now[i] = reached if inner else now[i]
                walking |= inner
        for i in range(min(TOGETHER, n_walks - first)):
            at[first + i] = now[i]


def walk_rows(
    const Node[::1] nodes,       # IN all trees, children side by side
    const int32_t[::1] roots,    # IN (n_trees,)
    Py_ssize_t first_tree,
    Py_ssize_t last_tree,
    const real[:, ::1] X,              # IN (n_rows, n_features)
    const double[:, ::1] node_values,  # IN (n_nodes, n_values)
    const int32_t[::1] labels,   # IN (n_nodes,) argmax of each node's values
    double[:, ::1] values,       # OUT sum of leaf values is added
    int32_t[:, ::1] votes,       # OUT one vote per tree is added
    int32_t[:, ::1] leaves,      # OUT (n_rows, last_tree - first_tree)
    uint8_t[:, ::1] acquired,    # OUT set to 1 for features on a row's path
    const uint8_t[:, :] counts,  # IN (last_tree - first_tree, n_rows): whether to add; None: all
):
    """Send rows down the trees [first_tree, last_tree) and add to the given outputs.

    Outputs that are not wanted are None.
    """
    cdef:
        Py_ssize_t n_rows = X.shape[0], n_features = X.shape[1]
        Py_ssize_t n_values = node_values.shape[1], n_trees = last_tree - first_tree
        # Blocks of rows go down one tree after another. If there are few rows, each goes down all.
        bint few = n_rows < TOGETHER
        Py_ssize_t rows_at_once = 1 if few else BLOCK, trees_at_once = BLOCK if few else 1
        Py_ssize_t block, turn, start, first, size, n_walks, place, row, tree, k
        # Sums alone need no walk of rows that a tree does not count.
        bint all_rows = (
            counts is None or votes is not None or leaves is not None or acquired is not None
        )
        uint8_t* mask = NULL
        int32_t rows[BLOCK]          # of the block
        int32_t at[BLOCK]
    with nogil:
        for block in range((n_rows + rows_at_once - 1) // rows_at_once):
            start = block * rows_at_once
            if acquired is not None:
                mask = &acquired[start, 0]
            for turn in range((n_trees + trees_at_once - 1) // trees_at_once):
                first = first_tree + turn * trees_at_once
                size = n_walks = min(BLOCK, last_tree - first if few else n_rows - start)
                if not few:
                    n_walks = 0
                    for place in range(size):
                        rows[n_walks] = <int32_t> place
                        n_walks += 1 if all_rows else counts[first - first_tree, start + place]
                descend(
                    &nodes[0], &roots[first], few, &X[start, 0], n_features, rows, n_walks, mask, at
                )
                for place in range(n_walks):
                    row, tree = start + (0 if few else rows[place]), first + (place if few else 0)
                    if values is not None and (counts is None or counts[tree - first_tree, row]):
                        for k in range(n_values):
                            values[row, k] += node_values[at[place], k]
                    if votes is not None:
                        votes[row, labels[at[place]]] += 1
                    if leaves is not None:
                        leaves[row, tree - first_tree] = nodes[at[place]].child


def pack(
    const int32_t[::1] feature,     # IN (node_count,), as the next three arrays: of a `Tree`
    const double[::1] threshold,
    const int32_t[::1] left,
    const int32_t[::1] right,
    const double[:, ::1] value,     # IN (node_count, n_values)
    int32_t root,                   # IN the place in `nodes` where the tree begins
    Node[::1] nodes,                # OUT
    double[:, ::1] values,          # OUT, in the order of `nodes`
):
    """Copy a tree to `nodes`, with the children of a node side by side.

    If they already are side by side, `values` may be None, and the nodes keep their order.
    """
    cdef bint keep = values is None
    cdef int32_t[::1] position = np.zeros(0 if keep else feature.shape[0], dtype=np.int32)
    cdef int32_t node, at, fresh = 1
    cdef Py_ssize_t k
    with nogil:
        # Parents come before children, so `position[node]` is known.
        for node in range(<int32_t> feature.shape[0]):
            at = root + (node if keep else position[node])
            if not keep:
                for k in range(value.shape[1]):
                    values[at, k] = value[node, k]
            if left[node] < 0:
                nodes[at] = Node(0.0, -1, node)
            elif keep:
                nodes[at] = Node(threshold[node], feature[node], root + left[node])
            else:
                nodes[at] = Node(threshold[node], feature[node], root + fresh)
                position[left[node]], position[right[node]] = fresh, fresh + 1
                fresh += 2


cdef extern from *:
    """
    /* Integers only, so wider vector instructions give the same results. */
    #if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
    __attribute__((target_clones("avx2", "default")))
    #endif
    static void send(
        int16_t *restrict at, const int16_t *restrict column, int n_rows,
        int16_t here, int16_t child, int16_t rank
    ) {
        for (int i = 0; i < n_rows; ++i)
            at[i] += (int16_t)(-(at[i] == here) & (child + (column[i] > rank)));
    }
    """
    # Move the rows that are `here` on by `child`, or by `child + 1` if they go right.
    void send(
        int16_t* at, const int16_t* column, int n_rows, int16_t here, int16_t child, int16_t rank
    ) noexcept nogil


def sweep_rows(
    const Node[::1] nodes,       # IN all trees; in each tree, parents before children
    const int16_t[::1] ranks,    # IN (n_nodes,) of the thresholds
    const int32_t[::1] starts,   # IN (n_trees + 1,) where each tree begins, and the last one ends
    Py_ssize_t first_tree,
    Py_ssize_t last_tree,
    const int16_t[:, ::1] codes,       # IN (n_features, n_rows rounded up to whole blocks)
    const double[:, ::1] node_values,  # IN (n_nodes, n_values)
    double[:, ::1] values,       # OUT (n_rows, n_values): the sum of leaf values is added
):
    """Sum the values of the leaves that rows reach in the trees [first_tree, last_tree)."""
    cdef:
        Py_ssize_t n_rows = values.shape[0], n_values = values.shape[1]
        Py_ssize_t block, start, size, tree, row, k
        int32_t node, first
        int16_t at[SWEPT]            # the place of each row in the tree, in the end its leaf
        const double* leaf
    with nogil:
        for block in range((n_rows + SWEPT - 1) // SWEPT):
            start = block * SWEPT
            size = min(SWEPT, n_rows - start)
            for tree in range(first_tree, last_tree):
                first = starts[tree]
                memset(at, 0, SWEPT * sizeof(int16_t))
                for node in range(first, starts[tree + 1]):
                    if nodes[node].feature >= 0:
                        send(
                            at, &codes[nodes[node].feature, start], SWEPT, <int16_t> (node - first),
                            <int16_t> (nodes[node].child - node), ranks[node],
                        )
                leaf = &node_values[first, 0]
                if n_values == 1:
                    for row in range(size):
                        values[start + row, 0] += leaf[at[row]]
                    continue
                for row in range(size):
                    for k in range(n_values):
                        values[start + row, k] += leaf[at[row] * n_values + k]


MOST_CODES = np.iinfo(np.int16).max
# Measured with benchmarks/speed_gif.py, in steps of a walk: the time to test one split for a row
# that is swept, and the time to find the code of a number.
SPLIT, CODE = 0.08, 20.0


class SmallTrees:
    """Small trees with the ranks of their thresholds, swept instead of walked.

    In a walk each row has its own next node, which a processor can neither predict nor handle for
    many rows at once. A sweep applies every split to all rows of a block. Rows at other nodes stay
    where they are, and the loop over the rows has no branch and uses vector instructions.

    For each feature, a row's code is the number of the feature's distinct thresholds below the
    row's value. So x <= threshold exactly if the code is at most the threshold's rank.
    """

    def __init__(self, nodes, starts):
        self._nodes, self._starts = nodes, starts

    def pay(self, n_rows, first, last):
        """Return whether sweeping the trees [first, last) is faster than walking."""
        if n_rows < SWEPT:
            return False
        tested = self._nodes["feature"][self._nodes["feature"] >= 0]
        n_trees, splits = last - first, tested.size / (self._starts.size - 1)
        # Trees are not balanced, so a walk takes about 1.3 times log2(number of leaves) steps.
        steps = n_trees * 1.3 * np.log2(splits + 1)
        pays = n_trees * splits * SPLIT + np.unique(tested).size * CODE < steps
        return pays and self._ranked[2]

    @cached_property
    def _ranked(self):
        """Thresholds of each feature, rank of each threshold, and whether all fit into 16 bits."""
        ranks, grids = np.zeros(len(self._nodes), dtype=np.int16), {}
        inner = np.flatnonzero(self._nodes["feature"] >= 0)
        used, feature = np.unique(self._nodes["feature"][inner], return_inverse=True)
        order = inner[np.argsort(feature, kind="stable")]
        parts = np.split(order, np.cumsum(np.bincount(feature)))  # the last one is empty
        for column, own in zip(used.tolist(), parts, strict=False):
            grids[column], rank = np.unique(self._nodes["threshold"][own], return_inverse=True)
            ranks[own] = np.minimum(rank, MOST_CODES)
        largest = max((grid.size for grid in grids.values()), default=0)
        return grids, ranks, max(largest, np.diff(self._starts).max()) < MOST_CODES

    def add(self, X, node_values, first, last, values):
        """Add the values of the leaves that the rows of X reach in the trees [first, last)."""
        codes = np.zeros((X.shape[1], (len(X) + SWEPT - 1) // SWEPT * SWEPT), dtype=np.int16)
        grids, ranks, _ = self._ranked
        for feature, grid in grids.items():
            codes[feature, : len(X)] = grid.searchsorted(X[:, feature])
        sweep_rows(self._nodes, ranks, self._starts, first, last, codes, node_values, values)
