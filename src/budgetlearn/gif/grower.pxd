from libc.stdint cimport int32_t

from .loss_kernels cimport Loss
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
