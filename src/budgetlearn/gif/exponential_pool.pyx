"""Kernel: all candidates at every step under the exponential losses.

The candidates of one tree share no sample. So the class errors that decide on them are kept, and an
accepted node changes one candidate in each tree for each of its samples. Gaps take logarithms to
find, so only those that have changed are found again, and the largest of each tree is remembered.
"""

import numpy as np

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from ._losses cimport GAP, STATS
from .nodes cimport ForestNode, NodeTable


cdef class ExponentialCandidates(Pool):
    """All candidates of a forest under an exponential loss, exactly.

    Parameters
    ----------
    table : NodeTable
        The growing forest.
    loss : ExponentialLoss
        State of its training samples.
    """

    def __cinit__(self, NodeTable table, ExponentialLoss loss):
        self.n_trees = <int32_t> table.samples.shape[0]
        self.trees = <Slots*> calloc(self.n_trees, sizeof(Slots))
        if self.trees == NULL:
            raise MemoryError

    def __init__(self, NodeTable table, ExponentialLoss loss):
        Pool.__init__(self, table, loss)
        self.exponential = loss
        cdef int32_t[:, ::1] holders = np.zeros(table.samples.shape[::-1], dtype=np.int32)
        cdef int32_t t
        self.memory = holders
        self.strides.n_trees = self.n_trees
        self.strides.record = STATS + loss.width
        self.top = np.zeros(self.n_trees)
        self.best = np.zeros(self.n_trees, dtype=np.int32)
        for t in range(self.n_trees):
            self.trees[t].holder = &holders[0, t]

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
        if needed > room:
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
        cdef int32_t* samples = &self.table.order[node.tree, node.start]
        cdef int32_t i
        for i in range(node.size):
            tree.holder[samples[i] * self.strides.n_trees] = slot
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
        cdef ForestNode* node = &self.table.nodes[tree.node[slot]]
        cdef int32_t last = tree.n_slots - 1
        cdef int32_t i
        for i in range(node.start, node.start + node.size):
            tree.holder[self.table.order[t, i] * self.strides.n_trees] = 0
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
