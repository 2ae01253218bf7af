"""Kernel: send blocks of rows down the trees of a forest."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint16_t

from ._node cimport Node

ctypedef fused real:
    float
    double

cdef enum:
    # Rows that go down a tree together, level by level: their loads do not wait for each other, and
    # the block stays in the second-level cache.
    BLOCK = 256
    # Rows that are sorted down a tree together, node by node, where there are enough of them and
    # their columns fit the second-level cache: one comparison costs half of a step of `descend`.
    LARGE_BLOCK = 1024
    LEAST_LARGE = 512
    CACHE = 1 << 19
    # Fewer rows than these go down from a node one by one.
    FEW = 6


cdef struct Part:
    # Rows that wait at a node: [start, end) of one of the two buffers.
    int32_t node, start, end, buffer


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


cdef inline void sort_down(
    const Node* nodes,
    int32_t root,
    const real* columns,      # IN (n_features, LARGE_BLOCK)
    Py_ssize_t n_features,
    int32_t n_rows,           # IN <= LARGE_BLOCK
    uint8_t* acquired,        # OUT (n_rows, n_features), NULL when not asked for
    int32_t* at,              # OUT (n_rows,): the leaf of each row
) noexcept nogil:
    """Sort the rows of a block down the tree, as quicksort does, until each is at its leaf."""
    cdef uint16_t rows[2][LARGE_BLOCK]
    # The larger side waits and the smaller goes on, so at most log2(LARGE_BLOCK) parts wait.
    cdef Part waiting[32]
    cdef Part part, left, right
    cdef int32_t n_waiting = 1, i, middle
    for i in range(n_rows):
        rows[0][i] = <uint16_t> i
    waiting[0] = Part(root, 0, n_rows, 0)
    while n_waiting > 0:
        n_waiting -= 1
        part = waiting[n_waiting]
        if nodes[part.node].feature < 0:
            for i in range(part.start, part.end):
                at[rows[part.buffer][i]] = part.node
            continue
        if part.end - part.start < FEW:
            for i in range(part.start, part.end):
                at[rows[part.buffer][i]] = walk_one(
                    nodes, part.node, columns, n_features, rows[part.buffer][i], acquired
                )
            continue
        middle = divide(
            nodes + part.node, columns, n_features, part.start, part.end,
            rows[part.buffer], rows[1 - part.buffer], acquired,
        )
        left = Part(nodes[part.node].child, part.start, middle, 1 - part.buffer)
        right = Part(nodes[part.node].child + 1, middle, part.end, 1 - part.buffer)
        if middle - part.start > part.end - middle:
            left, right = right, left
        waiting[n_waiting] = right
        n_waiting += 1
        if left.end > left.start:
            waiting[n_waiting] = left
            n_waiting += 1


cdef inline int32_t divide(
    const Node* node,
    const real* columns,
    Py_ssize_t n_features,
    int32_t start,
    int32_t end,
    const uint16_t* rows,     # IN
    uint16_t* sorted_rows,    # OUT: those that go left from the start, the others from the end
    uint8_t* acquired,
) noexcept nogil:
    """Partition the rows [start, end) by the test of a node; return where the right side begins."""
    cdef const real* column = columns + <Py_ssize_t> node.feature * LARGE_BLOCK
    cdef double threshold = node.threshold
    cdef int32_t i, left = start, right = end - 1
    cdef uint16_t row
    cdef bint goes_left
    if acquired != NULL:
        for i in range(start, end):
            acquired[rows[i] * n_features + node.feature] = 1
    for i in range(start, end):
        row = rows[i]
        goes_left = column[row] <= threshold
        sorted_rows[left] = row
        sorted_rows[right] = row
        left += goes_left
        right -= not goes_left
    return left


cdef inline int32_t walk_one(
    const Node* nodes, int32_t start, const real* columns, Py_ssize_t n_features, uint16_t row,
    uint8_t* acquired,
) noexcept nogil:
    """Walk one row from a node to its leaf."""
    cdef int32_t at = start
    cdef Py_ssize_t feature = nodes[at].feature
    while feature >= 0:
        if acquired != NULL:
            acquired[row * n_features + feature] = 1
        at = nodes[at].child + (not columns[feature * LARGE_BLOCK + row] <= nodes[at].threshold)
        feature = nodes[at].feature
    return at


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
        bint large = n_rows >= LEAST_LARGE and n_features * LARGE_BLOCK * sizeof(real) <= CACHE
        Py_ssize_t block = LARGE_BLOCK if large else BLOCK
        Py_ssize_t index, start, size, tree, row, k
        uint8_t* mask = NULL
        int32_t at[LARGE_BLOCK]
        real[::1, :] columns = np.empty(
            (LARGE_BLOCK, n_features if large else 1), dtype=np.asarray(X).dtype, order="F"
        )
    with nogil:
        for index in range((n_rows + block - 1) // block):
            start = index * block
            size = min(block, n_rows - start)
            if keep_acquired:
                mask = &acquired[start, 0]
            if large:
                columns[:size] = X[start:start + size]
            for tree in range(first_tree, last_tree):
                if large:
                    sort_down(
                        &nodes[0], roots[tree], &columns[0, 0], n_features, <int32_t> size, mask, at
                    )
                else:
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
    """Lay out a tree so that the children of a node lie side by side."""
    cdef int32_t[::1] position = np.zeros(feature.shape[0], dtype=np.int32)
    cdef int32_t node, at, fresh = 1
    with nogil:
        # Invariant: parents come before children, so `position[node]` is known.
        for node in range(<int32_t> feature.shape[0]):
            at = root + position[node]
            values[at] = value[node]
            if left[node] < 0:
                nodes[at] = Node(0.0, -1, node)
                continue
            nodes[at] = Node(threshold[node], feature[node], root + fresh)
            position[left[node]], position[right[node]] = fresh, fresh + 1
            fresh += 2
