"""Kernel: all candidates at every step, exactly (algorithm 1 with an unlimited window).

The candidates of one tree share no sample. So the sums that decide on them are kept, and an
accepted node changes one candidate in each tree for each of its samples: |Z_j| T additions where
gathering all anew would take N T.
"""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from .loss_kernels cimport GAP, STATS, ExponentialLoss, Slots, SquaredLoss, Strides
from .nodes cimport ForestNode, NodeTable
from .grower cimport Pool

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


cdef class ExactPool(Pool):
    """Candidates that know which of them holds a sample in each tree."""

    # Of sample i in tree t, by the place of the candidate; 0: no candidate holds it.
    cdef int32_t[:, ::1] holder  # (n_samples, n_trees): an accepted sample changes one row

    def __init__(self, NodeTable table, loss):
        Pool.__init__(self, table, loss)
        self.holder = np.zeros(table.samples.shape[::-1], dtype=np.int32)

    cdef void hold(self, ForestNode* node, int32_t place) noexcept nogil:
        """Write down that the candidate at a place holds the samples of a node."""
        cdef const int32_t* samples = &self.table.order[node.tree, node.start]
        cdef int32_t i
        for i in range(node.size):
            self.holder[samples[i], node.tree] = place


cdef class SquaredCandidates(ExactPool):
    """All candidates of a forest under the squared loss.

    Which gap is now the largest is found without looking at all of them. The root of a gap is the
    length of the projection of the residuals on the node's indicator, so it changes by no more than
    the length of the step that the residuals make. A block of candidates is therefore looked at
    again only when its largest root, as it was, plus the lengths of all steps since, reaches the
    largest found.
    """

    # Candidate 0 stands for the samples that no candidate of their tree holds; its gap counts as 0.
    cdef:
        SquaredLoss squared         # the loss
        int32_t[::1] node           # of each candidate
        double[:, ::1] sums         # (n_candidates, n_outputs)
        double[::1] inverse         # 1 / weight of the samples
        double[::1] bound           # of each block, on the root of its largest gap
        double[::1] stats, less
        double learning_rate, gap
        double anchor               # largest gap accepted since all was summed up afresh
        int32_t n_candidates, position

    def __init__(self, NodeTable table, SquaredLoss loss, learning_rate):
        ExactPool.__init__(self, table, loss)
        # There are never more candidates than nodes; what is not used takes no memory.
        room = table.records.shape[0] + 1
        self.squared = loss
        self.learning_rate = learning_rate
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
        # The first pass has no branch; the second one, for the place, is seldom needed.
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
        # The last candidate moves into the gap: places stay dense, and blocks full.
        if self.position != last:
            self.fill(self.position, self.node[last])
        self.n_candidates = last

    cdef int replace(self, int32_t child) except -1 nogil:
        # The step goes to the found candidate's own sums too, which its children then overwrite.
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
        # `measure` only raises bounds, so they start from 0 here.
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


cdef class ExponentialCandidates(ExactPool):
    """All candidates of a forest under an exponential loss.

    Gaps take logarithms to find, so only those that have changed are found again, and the largest
    of each tree is remembered.
    """

    cdef:
        ExponentialLoss exponential  # the loss
        Slots* trees
        Strides strides
        double[::1] top      # largest gap of each tree
        int32_t[::1] best    # slot of each tree that the last step raised most
        int32_t n_trees, slot      # slot: of the found node

    def __cinit__(self, NodeTable table, ExponentialLoss loss):
        self.n_trees = <int32_t> table.samples.shape[0]
        self.trees = <Slots*> calloc(self.n_trees, sizeof(Slots))
        if self.trees == NULL:
            raise MemoryError

    def __init__(self, NodeTable table, ExponentialLoss loss):
        ExactPool.__init__(self, table, loss)
        cdef int32_t t
        self.exponential = loss
        self.strides.n_trees = self.n_trees
        self.strides.record = STATS + loss.width
        self.top = np.zeros(self.n_trees)
        self.best = np.zeros(self.n_trees, dtype=np.int32)
        for t in range(self.n_trees):
            self.trees[t].holder = &self.holder[0, t]

    def __dealloc__(self):
        cdef int32_t t
        for t in range(self.n_trees):
            free(self.trees[t].node)
            free(self.trees[t].records)
        free(self.trees)

    cdef bint find(self) noexcept nogil:
        cdef int32_t t, best
        cdef double gap, largest, second
        cdef Slots* tree
        # The kept sums only nominate: the leader is summed up afresh, and taken if it still leads.
        while True:
            best = 0
            largest = second = 0.0
            for t in range(self.n_trees):
                if self.top[t] > second:
                    second = min(self.top[t], largest)
                    if self.top[t] > largest:
                        largest = self.top[t]
                        best = t
            if largest <= 0.0:
                return False
            tree = &self.trees[best]
            self.slot = tree.top
            self.found = tree.node[self.slot]
            self.measure(tree, self.slot)
            gap = tree.records[self.slot * self.strides.record + GAP]
            if gap >= largest:
                self.top[best] = gap
                return True
            # Summed afresh, it may lead no more.
            self.rank(best)
            if tree.top == self.slot and gap > second:
                return True

    cdef int add(self, int32_t node) except -1 nogil:
        cdef int32_t t = self.table.nodes[node].tree
        cdef Slots* tree = &self.trees[t]
        self.reserve(tree)
        self.fill(node, tree.n_slots - 1)
        self.rank(t)
        return 0

    cdef int reserve(self, Slots* tree) except -1 nogil:
        """Append a slot, and before the first one the slot 0."""
        cdef int32_t needed = max(2, tree.n_slots + 1)
        cdef int32_t room = tree.capacity
        if needed > room:  # doubled, so that all copying together is linear in the slots
            room = max(16, 2 * room)
            tree.node = <int32_t*> grown(tree.node, room * sizeof(int32_t))
            tree.records = <double*> grown(
                tree.records, room * self.strides.record * sizeof(double)
            )
            tree.capacity = room
        if tree.n_slots == 0:
            tree.node[0] = -1
            memset(tree.records, 0, self.strides.record * sizeof(double))
        tree.n_slots = needed
        return 0

    cdef void fill(self, int32_t j, int32_t slot) noexcept nogil:
        """Put node j into a slot of its tree."""
        cdef ForestNode* node = &self.table.nodes[j]
        cdef Slots* tree = &self.trees[node.tree]
        self.hold(node, slot)
        tree.node[slot] = j
        self.measure(tree, slot)

    cdef void measure(self, Slots* tree, int32_t slot) noexcept nogil:
        """Sum up a slot afresh; leave its optimal weight in `weight`."""
        cdef ForestNode* node = &self.table.nodes[tree.node[slot]]
        cdef double* record = tree.records + slot * self.strides.record
        self.exponential.gather(&self.table.order[node.tree, node.start], node.size, record + STATS)
        record[GAP] = max(0.0, self.exponential.solve(record + STATS, node.size, &self.weight[0]))

    cdef void rank(self, int32_t t) noexcept nogil:
        """Find the largest gap of a tree, after summing up afresh what lost its precision."""
        cdef Slots* tree = &self.trees[t]
        cdef const double* record = tree.records
        cdef double largest = 0.0
        cdef int32_t slot
        tree.top = 0
        for slot in range(1, tree.n_slots):
            record += self.strides.record
            if record[GAP] < 0.0:
                self.measure(tree, slot)
            if record[GAP] > largest:
                largest = record[GAP]
                tree.top = slot
        self.top[t] = largest

    cdef void remove(self) noexcept nogil:
        cdef int32_t t = self.table.nodes[self.found].tree
        self.close(t, self.slot)
        self.rank(t)

    cdef void close(self, int32_t t, int32_t slot) noexcept nogil:
        """Free a slot: its samples go to slot 0, the last slot takes its place."""
        cdef Slots* tree = &self.trees[t]
        cdef int32_t last = tree.n_slots - 1
        self.hold(&self.table.nodes[tree.node[slot]], 0)
        tree.n_slots = last
        if slot != last:
            self.fill(tree.node[last], slot)

    cdef int replace(self, int32_t child) except -1 nogil:
        cdef ForestNode* node = &self.table.nodes[self.found]
        self.spread(node)
        if child < 0:
            self.remove()
            return 0
        self.fill(child, self.slot)
        self.add(child + 1)
        return 0

    cdef void spread(self, ForestNode* node) noexcept nogil:
        """Bring every tree up to date with the step of an accepted node."""
        cdef const int32_t* samples = &self.table.order[node.tree, node.start]
        cdef Slots* tree
        cdef int32_t t, slot
        cdef double gap
        self.exponential.spread(samples, node.size, self.trees, self.strides, &self.best[0])
        for t in range(self.n_trees):
            tree = &self.trees[t]
            slot = self.best[t]
            gap = tree.records[slot * self.strides.record + GAP]
            # All slots need a look where one lost its precision, or the tree's best has fallen;
            # otherwise only a raised slot can be the new best.
            if gap < 0.0 or tree.records[tree.top * self.strides.record + GAP] < self.top[t]:
                self.rank(t)
            elif gap > self.top[t]:
                tree.top = slot
                self.top[t] = gap


cdef void* grown(void* block, size_t size) except NULL nogil:
    """Return the block with room for `size` bytes."""
    cdef void* larger = realloc(block, size)
    if larger == NULL:
        with gil:
            raise MemoryError
    return larger
