"""Kernel: the candidates of a growing forest, and the choice among them.

Steps 8 and 9 of algorithm 1 (Begon, Joly and Geurts, 2017): a window of candidates is drawn
uniformly at random, and the one whose optimal weight lowers the loss most is taken.
"""

import numpy as np

from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from ...tree._random cimport as_below, next_xorshift
from ._losses cimport GAP, STATS
from ._prefetch cimport fetch_ahead
from .nodes cimport ForestNode


cdef class Pool:
    """Candidates of a forest; see `pool.pxd` for the contract.

    Parameters
    ----------
    table : NodeTable
        The growing forest.
    loss : Loss
        State of its training samples.
    """

    def __init__(self, NodeTable table, Loss loss):
        self.table = table
        self.loss = loss
        self.weight = np.zeros(loss.n_outputs)
        self.found = -1

    cdef bint find(self) noexcept nogil:
        return False

    cdef void look_ahead(self) noexcept nogil:
        pass

    cdef int add(self, int32_t node) except -1 nogil:
        return 0

    cdef void remove(self) noexcept nogil:
        pass

    cdef int replace(self, int32_t child) except -1 nogil:
        return 0


cdef class RandomWindow(Pool):
    """A window of candidates, drawn without replacement for each step.

    Parameters
    ----------
    table, loss
        As for `Pool`.
    n_window : int
        Candidates to examine at each step.
    seed : int
        Start of the random numbers.
    """

    def __init__(self, NodeTable table, Loss loss, n_window, seed):
        Pool.__init__(self, table, loss)
        # There are never more candidates than nodes; what is not used takes no memory.
        self.memory = np.empty(table.records.shape[0] * sizeof(Candidate), dtype=np.uint8)
        cdef uint8_t[::1] memory = self.memory
        self.candidates = <Candidate*> &memory[0]
        self.n_candidates = 0
        self.n_window = min(n_window, table.records.shape[0])
        self.stats = np.empty(loss.width)
        self.trial = np.empty(loss.n_outputs)
        self.state = <uint64_t> seed * 2 + 1

    cdef bint find(self) noexcept nogil:
        cdef int32_t size, i, drawn
        cdef Candidate candidate
        cdef double gap, best
        while self.n_candidates > 0:
            size = min(self.n_window, self.n_candidates)
            best = -1.0
            self.position = -1
            for i in range(size):
                drawn = i + <int32_t> as_below(
                    next_xorshift(&self.state), self.n_candidates - i
                )
                candidate = self.candidates[drawn]
                self.candidates[drawn] = self.candidates[i]
                self.candidates[i] = candidate
                self.loss.gather(candidate.samples, candidate.size, &self.stats[0])
                gap = self.loss.solve(&self.stats[0], candidate.size, &self.trial[0])
                if gap > best or self.position < 0:
                    best = gap
                    self.position = i
                    self.weight, self.trial = self.trial, self.weight
            if best > 0.0:
                self.found = self.candidates[self.position].node
                self.foresee()
                return True
            if size == self.n_candidates:
                return False
            self.remove()
        return False

    cdef void foresee(self) noexcept nogil:
        """Tell which candidate `find` will draw first when it is called again, and fetch it."""
        # The found one will give way to the last one, and to two children at the end, or none.
        cdef int32_t n_left = self.n_candidates - 1
        cdef int32_t n_children = 2 if self.candidates[self.position].size > 1 else 0
        cdef uint64_t state = self.state
        self.next = <int32_t> as_below(next_xorshift(&state), n_left + n_children)
        if self.next == self.position:
            self.next = n_left
        elif self.next >= n_left:
            self.next = self.position  # a child, which is at hand
        fetch_ahead(&self.candidates[self.next])

    cdef void look_ahead(self) noexcept nogil:
        cdef Candidate candidate = self.candidates[self.next]
        fetch_ahead(candidate.samples)
        fetch_ahead(&self.table.nodes[candidate.node].threshold)
        fetch_ahead(&self.table.nodes[candidate.node].step)  # on the next line, as often as not

    cdef int add(self, int32_t node) except -1 nogil:
        cdef ForestNode* added = &self.table.nodes[node]
        cdef Candidate* candidate = &self.candidates[self.n_candidates]
        candidate.samples = &self.table.order[added.tree, added.start]
        candidate.size = added.size
        candidate.node = node
        self.n_candidates += 1
        return 0

    cdef void remove(self) noexcept nogil:
        self.n_candidates -= 1
        self.candidates[self.position] = self.candidates[self.n_candidates]

    cdef int replace(self, int32_t child) except -1 nogil:
        self.remove()
        if child >= 0:
            self.add(child)
            self.add(child + 1)
        return 0


cdef class AllCandidates(Pool):
    """All candidates at every step, exactly, without summing all of them up again.

    The candidates of a tree share no sample, so the statistics that a node's acceptance changes
    are those of the candidates that hold its samples: n_trees additions for each of its samples.
    For losses whose gaps take time to find: only those that have changed are found again. The
    squared loss has `SquaredCandidates`.

    Parameters
    ----------
    table, loss
        As for `Pool`.
    """

    def __cinit__(self, NodeTable table, Loss loss):
        self.n_trees = <int32_t> table.samples.shape[0]
        self.trees = <Slots*> calloc(self.n_trees, sizeof(Slots))
        if self.trees == NULL:
            raise MemoryError

    def __init__(self, NodeTable table, Loss loss):
        Pool.__init__(self, table, loss)
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
        self.loss.gather(&self.table.order[node.tree, node.start], node.size, record + STATS)
        record[GAP] = max(0.0, self.loss.solve(record + STATS, node.size, &self.weight[0]))

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
        self.loss.spread(samples, node.size, self.trees, self.strides, &self.best[0])
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
