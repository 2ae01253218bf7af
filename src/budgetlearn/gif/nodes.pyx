"""Kernel: the nodes of a growing forest, in order of creation."""

import numpy as np

from libc.stdint cimport INT32_MAX

cdef enum:
    AHEAD = 16  # nodes between asking for memory and needing it

cdef ForestNode record

FOREST_NODE_DTYPE = np.asarray(<ForestNode[:1]> &record).dtype


cdef class NodeTable:
    """Nodes and samples of a growing forest; the roots are there from the start."""

    def __init__(self, n_trees, n_samples, max_nodes, max_depth=INT32_MAX):
        self.max_depth = max_depth
        self.records = np.empty(max_nodes, dtype=FOREST_NODE_DTYPE)
        self.samples = np.empty((n_trees, n_samples), dtype=np.int32)
        self.samples[:] = np.arange(n_samples, dtype=np.int32)
        self.nodes = self.records
        self.order = self.samples
        self.n_nodes = 0
        for tree in range(n_trees):
            self.add(tree, -1, 0, n_samples)

    cdef bint is_deepest(self, int32_t j) noexcept nogil:
        # Counted upwards: a field for the depth would cost every forest its memory.
        cdef int32_t depth = 0
        if self.max_depth == INT32_MAX:
            return False
        while self.nodes[j].parent >= 0:
            j = self.nodes[j].parent
            depth += 1
        return depth >= self.max_depth

    cdef int32_t add(
        self, int32_t tree, int32_t parent, int32_t start, int32_t size
    ) noexcept nogil:
        cdef ForestNode* node = &self.nodes[self.n_nodes]
        # A leaf outside the model until it is split and accepted.
        node.threshold = node.decrease = 0.0
        node.tree = tree
        node.parent = parent
        node.start = start
        node.size = size
        node.feature = node.child = node.step = -1
        node.missing_left = False
        self.n_nodes += 1
        return self.n_nodes - 1


def compact(const ForestNode[::1] nodes, int32_t n_trees):
    """Keep the splits that the model uses, tree by tree, siblings side by side.

    A split is used when one of its children was accepted; both children are kept then.

    Parameters
    ----------
    nodes : ndarray of FOREST_NODE_DTYPE
        Parents before children, siblings side by side.
    n_trees : int
        Number of trees.

    Returns
    -------
    ndarray of FOREST_NODE_DTYPE
        The kept nodes, with their new ids; one root at least.
    """
    cdef int32_t[::1] place = np.empty(nodes.shape[0], dtype=np.int32)
    cdef int32_t[::1] ends = np.zeros(n_trees, dtype=np.int32)
    cdef int32_t n_kept = count_kept(nodes, place, ends)
    records = np.empty(n_kept, dtype=FOREST_NODE_DTYPE)
    cdef ForestNode[::1] out = records
    cdef const ForestNode* node
    cdef ForestNode* new
    cdef Py_ssize_t j
    with nogil:
        # `ends` turns from the start into the end of each tree; parents are placed first.
        for j in range(nodes.shape[0]):
            if place[j] < 0:
                continue
            node = &nodes[j]
            place[j] = ends[node.tree]
            ends[node.tree] += 1
            new = &out[place[j]]
            new[0] = node[0]
            new.child = -1
            if node.parent >= 0:
                new.parent = place[node.parent]
                if out[new.parent].child < 0:
                    out[new.parent].child = place[j]
    return records


cdef int32_t count_kept(
    const ForestNode[::1] nodes, int32_t[::1] place, int32_t[::1] starts
) noexcept nogil:
    """Set `place` to 0 for kept nodes and -1 for others, `starts` to each tree's first place."""
    cdef int32_t n_kept = 0, size, child
    cdef Py_ssize_t j, tree
    cdef Py_ssize_t n_nodes = nodes.shape[0]
    for j in range(n_nodes):
        place[j] = -1
    # Parents come before children, so a kept split marks its children before they are reached.
    for j in range(n_nodes):
        fetch_ahead(&nodes[max(0, nodes[min(j + AHEAD, n_nodes - 1)].child)].step)
        child = nodes[j].child
        if child >= 0 and (nodes[child].step >= 0 or nodes[child + 1].step >= 0):
            place[child] = place[child + 1] = 0
            starts[nodes[j].tree] += 2
            if nodes[j].parent < 0:
                place[j] = 0
                starts[nodes[j].tree] += 1
    # From sizes to places: an exclusive running sum.
    for tree in range(starts.shape[0]):
        size = starts[tree]
        starts[tree] = n_kept
        n_kept += size
    if n_kept == 0:  # no node was accepted: a single root stands for the empty model
        place[0] = 0
        return 1
    return n_kept


def path_sums(
    const int32_t[::1] parent,       # IN (n_nodes,) ids, below the node's own; -1: a root
    const int32_t[::1] step,         # IN (n_nodes,) rank of acceptance; -1: not accepted
    const double[:, ::1] weights,    # IN (n_accepted, n_outputs) by rank
    Py_ssize_t n_steps,
):
    """Return for each node the sum of the weights on its path, by the first `n_steps` accepted."""
    sums = np.zeros((parent.shape[0], weights.shape[1]))
    cdef double[:, ::1] out = sums
    cdef Py_ssize_t j, k
    with nogil:
        for j in range(parent.shape[0]):
            for k in range(weights.shape[1]):
                # Ids of parents are smaller: their sums are complete.
                if parent[j] >= 0:
                    out[j, k] = out[parent[j], k]
                if 0 <= step[j] < n_steps:
                    out[j, k] += weights[step[j], k]
    return sums
