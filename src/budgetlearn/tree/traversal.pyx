"""Kernel: send blocks of rows down packed trees."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t

ctypedef fused real:
    float
    double

NODE_DTYPE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("child", np.int32)])

# Rows that go down a tree together, level by level: their loads do not wait for each other, and
# the block stays in the second-level cache.
cdef enum:
    BLOCK = 256


cdef inline Py_ssize_t descend(
    const Node* nodes,
    int32_t root,
    const real* X,            # IN (n_rows, n_features)
    Py_ssize_t n_features,
    Py_ssize_t n_rows,        # IN <= BLOCK
    uint8_t* acquired,        # OUT (n_rows, n_features), NULL when not asked for
    int32_t* at,              # OUT (n_rows,): the leaf of each row
) noexcept nogil:
    """Walk each row of a block from `root` to its leaf; return the number of levels."""
    cdef int32_t walking[BLOCK]
    cdef Py_ssize_t n_walking = n_rows, kept, i, levels = 0
    cdef int32_t row, reached
    cdef const Node* node
    for i in range(n_rows):
        walking[i] = <int32_t> i
        at[i] = root
    if nodes[root].feature < 0:
        return 0
    while n_walking > 0:
        # Invariant: walking[:n_walking] are the rows whose node `at[row]` is internal.
        kept = 0
        for i in range(n_walking):
            row = walking[i]
            node = nodes + at[row]
            if acquired != NULL:
                acquired[row * n_features + node.feature] = 1
            reached = node.child + (not X[row * n_features + node.feature] <= node.threshold)
            at[row] = reached
            walking[kept] = row
            kept += nodes[reached].feature >= 0
        n_walking = kept
        levels += 1
    return levels


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
    uint8_t[:, ::1] acquired,    # OUT set to 1 where a row's path looks
):
    """Send rows down the trees [first_tree, last_tree) and add to the outputs that are given.

    An output that is not asked for is None.
    """
    cdef:
        Py_ssize_t n_rows = X.shape[0], n_features = X.shape[1]
        Py_ssize_t n_values = node_values.shape[1]
        bint add_values = values is not None, add_votes = votes is not None
        bint keep_leaves = leaves is not None, keep_acquired = acquired is not None
        Py_ssize_t n_blocks = (n_rows + BLOCK - 1) // BLOCK
        Py_ssize_t block, start, size, tree, row, k
        uint8_t* mask = NULL
        int32_t at[BLOCK]
    with nogil:
        for block in range(n_blocks):
            start = block * BLOCK
            size = min(<Py_ssize_t> BLOCK, n_rows - start)
            if keep_acquired:
                mask = &acquired[start, 0]
            for tree in range(first_tree, last_tree):
                descend(&nodes[0], roots[tree], &X[start, 0], n_features, size, mask, at)
                if add_values:
                    for row in range(size):
                        for k in range(n_values):
                            values[start + row, k] += node_values[at[row], k]
                if add_votes:
                    for row in range(size):
                        votes[start + row, labels[at[row]]] += 1
                if keep_leaves:
                    for row in range(size):
                        leaves[start + row, tree - first_tree] = nodes[at[row]].child
