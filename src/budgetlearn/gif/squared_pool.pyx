"""Kernel: all candidates at every step under the squared loss.

The candidates of one tree share no sample. So the sums of residuals that decide on them are kept,
and an accepted node changes one of them in each tree for each of its samples.

Which gap is now the largest is found without looking at all of them. The root of a gap is the
length of the projection of the residuals on the node's indicator, so it changes by no more than the
length of the step that the residuals make. A block of candidates is therefore looked at again only
when its largest root, as it was, plus the lengths of all steps since, reaches the largest found.
"""

import numpy as np

from libc.math cimport sqrt

from .nodes cimport ForestNode, NodeTable

# Sums and bounds are rounded: what falls short of the largest by less than this share may be it.
cdef double SLACK = 1e-9
# Gaps that differ by less than this share are equal, and the oldest node leads: the same samples in
# two trees, say, whose sums went through other roundings.
cdef double TIE = 1e-10
# No gap at all, for targets of size 1: the rounding of residuals leaves 1e-32, over and over again,
# and squares below 1e-308 take the processor a hundred times as long.
cdef double LEAST_GAP = 1e-290
# Once the largest gap has fallen below this share of what it was, all is summed up afresh: sums
# keep the rounding errors of when they were large.
cdef double LEAST_REST = 1e-6

cdef enum:
    BLOCK = 64  # candidates with one bound


cdef class SquaredCandidates(Pool):
    """All candidates of a forest under the squared loss, exactly.

    Parameters
    ----------
    table : NodeTable
        The growing forest.
    loss : SquaredLoss
        State of its training samples.
    learning_rate : float
        Share of its optimal weight that an accepted node gets.
    """

    def __init__(self, NodeTable table, SquaredLoss loss, learning_rate):
        Pool.__init__(self, table, loss)
        # There are never more candidates than nodes; what is not used takes no memory.
        room = table.records.shape[0] + 1
        self.squared = loss
        self.learning_rate = learning_rate
        self.holder = np.zeros(table.samples.shape[::-1], dtype=np.int32)
        self.node = np.empty(room, dtype=np.int32)
        self.sums = np.empty((room, loss.n_outputs))
        self.inverse = np.empty(room)
        self.bound = np.zeros(room // BLOCK + 1)
        self.stats = np.empty(loss.width)
        self.less = np.empty(loss.n_outputs)
        self.sums[0, :] = 0.0
        self.inverse[0] = 0.0
        self.node[0] = -1
        self.n_candidates = 1

    cdef bint find(self) noexcept nogil:
        while True:
            # The last step put new candidates there, a good place to begin.
            self.search(self.position // BLOCK)
            if self.position > 0 and self.gap > LEAST_REST * self.anchor:
                self.found = self.node[self.position]
                self.anchor = max(self.anchor, self.gap)
                self.measure(self.position)
                return True
            if self.anchor == 0.0:
                return False
            self.refresh()

    cdef void search(self, int32_t first) noexcept nogil:
        """Find the largest gap, and whose it is (0: there is none), beginning with a block."""
        cdef int32_t block
        self.position = 0
        self.gap = LEAST_GAP
        self.look_at(first)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            if block != first and self.bound[block] >= (1.0 - SLACK) * sqrt(self.gap):
                self.look_at(block)

    cdef void look_at(self, int32_t block) noexcept nogil:
        """Look at all candidates of a block; remember the one that leads."""
        cdef int32_t start = block * BLOCK, end = min(self.n_candidates, start + BLOCK), c
        cdef double gap, largest = 0.0
        for c in range(start, end):
            gap = self.gap_of(c)
            largest = gap if gap > largest else largest
        self.bound[block] = sqrt(largest)
        if largest < (1.0 - TIE) * self.gap:
            return
        for c in range(start, end):
            gap = self.gap_of(c)
            if gap > (1.0 + TIE) * self.gap or (
                gap >= (1.0 - TIE) * self.gap and self.node[c] < self.node[self.position]
            ):
                self.position = c
            self.gap = max(gap, self.gap)

    cdef inline double gap_of(self, int32_t c) noexcept nogil:
        cdef const double* sums = &self.sums[c, 0]
        cdef double squares = 0.0
        cdef Py_ssize_t k
        for k in range(self.sums.shape[1]):
            squares += sums[k] * sums[k]
        return squares * self.inverse[c]

    cdef int add(self, int32_t node) except -1 nogil:
        self.n_candidates += 1
        self.fill(self.n_candidates - 1, node)
        return 0

    cdef void fill(self, int32_t c, int32_t j) noexcept nogil:
        """Let candidate c be node j."""
        self.node[c] = j
        self.hold(&self.table.nodes[j], c)
        self.measure(c)

    cdef void hold(self, ForestNode* node, int32_t c) noexcept nogil:
        """Write down that candidate c holds the samples of a node."""
        cdef const int32_t* samples = &self.table.order[node.tree, node.start]
        cdef int32_t i
        for i in range(node.size):
            self.holder[samples[i], node.tree] = c

    cdef void measure(self, int32_t c) noexcept nogil:
        """Sum up a candidate afresh; leave its optimal weight in `weight`."""
        cdef ForestNode* node = &self.table.nodes[self.node[c]]
        cdef Py_ssize_t k
        self.loss.gather(&self.table.order[node.tree, node.start], node.size, &self.stats[0])
        self.loss.solve(&self.stats[0], node.size, &self.weight[0])
        for k in range(self.sums.shape[1]):
            self.sums[c, k] = self.stats[k]
        self.inverse[c] = 1.0 / self.squared.mass(&self.stats[0], node.size)
        self.bound[c // BLOCK] = max(self.bound[c // BLOCK], sqrt(self.gap_of(c)))

    cdef void remove(self) noexcept nogil:
        cdef int32_t last = self.n_candidates - 1
        self.hold(&self.table.nodes[self.found], 0)
        if self.position != last:
            self.fill(self.position, self.node[last])
        self.n_candidates = last

    cdef int replace(self, int32_t child) except -1 nogil:
        self.step(&self.table.nodes[self.found])
        if child < 0:
            self.remove()
        else:
            self.fill(self.position, child)
            self.add(child + 1)
        return 0

    cdef void step(self, ForestNode* node) noexcept nogil:
        """Subtract the step of an accepted node from the sums of all that hold its samples."""
        cdef const int32_t* samples = &self.table.order[node.tree, node.start]
        cdef Py_ssize_t k, n_outputs = self.sums.shape[1], n_trees = self.holder.shape[1]
        cdef double* less = &self.less[0]
        cdef double weight, length = self.learning_rate * sqrt(self.gap)
        cdef int32_t i, block
        for i in range(node.size):
            weight = self.squared.weight_of(samples[i])
            for k in range(n_outputs):
                less[k] = self.learning_rate * self.weight[k] * weight
            if n_outputs == 1:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, 1)
            else:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, n_outputs)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            self.bound[block] += length

    cdef void refresh(self) noexcept nogil:
        """Sum up all candidates afresh."""
        cdef int32_t c
        self.anchor = 0.0
        for c in range(self.n_candidates):
            if c % BLOCK == 0:
                self.bound[c // BLOCK] = 0.0
            if c > 0:
                self.measure(c)


cdef inline void subtract(
    double* sums, const int32_t* rows, Py_ssize_t n_rows, const double* less, Py_ssize_t n_outputs
) noexcept nogil:
    """Subtract the same from rows of a table."""
    cdef double* row
    cdef Py_ssize_t i, k
    for i in range(n_rows):
        row = sums + rows[i] * n_outputs
        for k in range(n_outputs):
            row[k] -= less[k]
