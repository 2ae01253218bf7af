"""Kernel: the candidates of a growing forest, and the choice among them.

Steps 8 and 9 of algorithm 1 (Begon, Joly and Geurts, 2017): a window of candidates is drawn
uniformly at random, and the one whose optimal weight lowers the loss most is taken.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint64_t

from ..tree.random cimport as_below, next_xorshift
from .loss_kernels cimport Loss
from .nodes cimport ForestNode, NodeTable, fetch_ahead


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


cdef struct Candidate:
    # What `find` needs of a node, in less room than the node takes.
    int32_t* samples
    int32_t size
    int32_t node


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

    cdef:
        Candidate* candidates
        object memory
        int32_t n_candidates, n_window, position
        int32_t next         # the candidate that is likely to be drawn next
        double[::1] stats, trial
        uint64_t state

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
            # Without replacement: drawn candidates are swapped to the front.
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
                    self.weight, self.trial = self.trial, self.weight  # swapped, not copied
            if best > 0.0:
                self.found = self.candidates[self.position].node
                self.foresee()
                return True
            # Seen all of them: growth ends. Otherwise the best of the window is dropped for good.
            if size == self.n_candidates:
                return False
            self.remove()
        return False

    cdef void foresee(self) noexcept nogil:
        """Predict the candidate that the next `find` draws first, and fetch it."""
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
        self.candidates[self.position] = self.candidates[self.n_candidates]  # as `foresee` says

    cdef int replace(self, int32_t child) except -1 nogil:
        self.remove()
        if child >= 0:
            self.add(child)
            self.add(child + 1)
        return 0
