"""Kernel: send blocks of rows down the trees of a forest."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t

from .nodes cimport Node

ctypedef fused real:
    float
    double

cdef enum:
    # Rows that go down one tree after another: a tree's nodes and the block stay in the cache.
    BLOCK = 256
    # Rows that take their steps together: the loads of one do not wait for those of another.
    TOGETHER = 8


cdef inline void descend(
    const Node* nodes,
    int32_t root,
    const real* X,            # IN (n_rows, n_features)
    Py_ssize_t n_features,
    Py_ssize_t n_rows,        # IN <= BLOCK
    uint8_t* acquired,        # OUT (n_rows, n_features), NULL when not asked for
    int32_t* at,              # OUT (n_rows,): the leaf of each row
) noexcept nogil:
    """Walk each row of a block from `root` to its leaf."""
    cdef int32_t now[TOGETHER]
    cdef Py_ssize_t starts[TOGETHER]
    cdef Py_ssize_t group, first, i, cell
    cdef int32_t feature, reached
    cdef bint inner, walking
    cdef const Node* node
    for group in range((n_rows + TOGETHER - 1) // TOGETHER):
        first = group * TOGETHER
        for i in range(TOGETHER):
            now[i] = root
            starts[i] = min(first + i, n_rows - 1) * n_features
        walking = True
        while walking:
            # A row at its leaf stays there and looks at the first column in vain: no branch to
            # mispredict.
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
        for i in range(min(TOGETHER, n_rows - first)):
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
        Py_ssize_t index, start, size, tree, row, k
        uint8_t* mask = NULL
        int32_t at[BLOCK]
    with nogil:
        for index in range((n_rows + BLOCK - 1) // BLOCK):
            start = index * BLOCK
            size = min(BLOCK, n_rows - start)
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


def pack(
    const int32_t[::1] feature,     # IN (node_count,), as are the next three: a `Tree`
    const double[::1] threshold,
    const int32_t[::1] left,
    const int32_t[::1] right,
    const double[:, ::1] value,     # IN (node_count, n_values)
    int32_t root,                   # IN where the tree begins in `nodes`
    Node[::1] nodes,                # OUT
    double[:, ::1] values,          # OUT, in the order of `nodes`
):
    """Lay out a tree so that the children of a node lie side by side.

    Where they do in the tree, `values` may be None: the nodes keep their order.
    """
    cdef bint keep = values is None
    cdef int32_t[::1] position = np.zeros(0 if keep else feature.shape[0], dtype=np.int32)
    cdef int32_t node, at, fresh = 1
    cdef Py_ssize_t k
    with nogil:
        # Invariant: parents come before children, so `position[node]` is known.
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
