from libc.stdint cimport int32_t, uint64_t

from ._losses cimport Loss
from .nodes cimport NodeTable


cdef class Pool:
    # The candidates: nodes that could enter the model.
    cdef:
        NodeTable table
        Loss loss
        double[::1] weight   # full optimal weight of the node that `find` found
        int32_t found

    # Find the next node to accept. False: no candidate improves the loss.
    cdef bint find(self) noexcept nogil
    # Fetch what the next `find` will need, as far as can be told before the found node is split.
    cdef void look_ahead(self) noexcept nogil
    cdef int add(self, int32_t node) except -1 nogil
    # Drop the found node.
    cdef void remove(self) noexcept nogil
    # Put the children (child, child + 1; none if -1) in the place of the found node. To be called
    # after the loss was updated.
    cdef int replace(self, int32_t child) except -1 nogil


cdef struct Candidate:
    # What `find` needs of a node, in less room than the node takes.
    int32_t* samples
    int32_t size
    int32_t node


cdef class RandomWindow(Pool):
    cdef:
        Candidate* candidates
        object memory
        int32_t n_candidates, n_window, position
        int32_t next         # the candidate that is likely to be drawn next
        double[::1] stats, trial
        uint64_t state

    cdef void foresee(self) noexcept nogil
