"""Many small trees, swept instead of walked: `SmallTrees` and its kernel.

It sends rows through small trees split after split, all rows of a block at every split.

A walk asks each row for its own next node, which a processor can neither foresee nor do for many
rows at once. Where trees are small it is faster to show every split to all rows: a row that stands
elsewhere stays there, and the loop over the rows has no branch and works on vectors.
"""

import numpy as np

from libc.stdint cimport int16_t, int32_t

from .nodes cimport Node

cdef enum:
    # Rows that are swept together: their places and the columns that they need stay in the cache.
    BLOCK = 512


cdef extern from *:
    """
    /* Whole numbers only: the wider instructions that some processors have change no result. */
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
    # Send the rows that stand `here` on by `child`, and by one more where they go right.
    void send(
        int16_t* at, const int16_t* column, int n_rows, int16_t here, int16_t child, int16_t rank
    ) noexcept nogil


cdef inline void sweep(
    const Node* nodes,        # IN the nodes of a tree, parents before children
    const int16_t* ranks,     # IN of the threshold of each
    int32_t first,            # IN place of the root among all nodes
    int32_t n_nodes,
    const int16_t* columns,   # IN codes of the rows: feature k begins at k * stride
    Py_ssize_t stride,
    int16_t* at,              # OUT (BLOCK,): place of each row's leaf in the tree
) noexcept nogil:
    """Bring all rows of a block from the root to their leaves."""
    cdef int32_t i, place
    for i in range(BLOCK):
        at[i] = 0
    for place in range(n_nodes):
        if nodes[place].feature >= 0:
            send(
                at, columns + nodes[place].feature * stride, BLOCK, <int16_t> place,
                <int16_t> (nodes[place].child - first - place), ranks[place],
            )


def sweep_rows(
    const Node[::1] nodes,       # IN all trees
    const int16_t[::1] ranks,    # IN (n_nodes,) of the thresholds
    const int32_t[::1] starts,   # IN (n_trees + 1,) where each tree begins, and the last one ends
    Py_ssize_t first_tree,
    Py_ssize_t last_tree,
    const int16_t[:, ::1] codes,       # IN (n_features, n_rows rounded up to whole blocks)
    const double[:, ::1] node_values,  # IN (n_nodes, n_values)
    double[:, ::1] values,       # OUT (n_rows, n_values): the sum of leaf values is added
):
    """Add up the values of the leaves that rows reach in the trees [first_tree, last_tree)."""
    cdef:
        Py_ssize_t n_rows = values.shape[0], n_values = values.shape[1]
        Py_ssize_t block, start, size, tree, row, k
        int16_t at[BLOCK]
        const double* leaf
    with nogil:
        for block in range((n_rows + BLOCK - 1) // BLOCK):
            start = block * BLOCK
            size = min(BLOCK, n_rows - start)
            for tree in range(first_tree, last_tree):
                sweep(
                    &nodes[starts[tree]], &ranks[starts[tree]], starts[tree],
                    starts[tree + 1] - starts[tree], &codes[0, start], codes.shape[1], at,
                )
                leaf = &node_values[starts[tree], 0]
                if n_values == 1:
                    for row in range(size):
                        values[start + row, 0] += leaf[at[row]]
                    continue
                for row in range(size):
                    for k in range(n_values):
                        values[start + row, k] += leaf[at[row] * n_values + k]


MOST_CODES = np.iinfo(np.int16).max
# Measured (benchmarks/speed_gif.py): a split that all rows look at takes this share of a step of a
# walk, and finding the code of a number takes as long as so many steps.
SPLIT, CODE = 0.08, 20.0


class SmallTrees:
    """The trees of a forest with the ranks of their thresholds, for sweeps of many rows.

    A row's code is, for each feature, how many of its distinct thresholds lie below the row's
    value: x <= threshold exactly where the code is at most the threshold's rank.
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
        """Say if sweeping the trees [first, last) takes less time than walking them."""
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
        codes = np.zeros((X.shape[1], (len(X) + BLOCK - 1) // BLOCK * BLOCK), dtype=np.int16)
        for feature, grid in self._grids.items():
            codes[feature, : len(X)] = grid.searchsorted(X[:, feature])
        sweep_rows(self._nodes, self._ranks, self._starts, first, last, codes, node_values, values)
