from libc.stdint cimport int32_t

from ._losses cimport ExponentialLoss, Slots, Strides
from .nodes cimport ForestNode
from .pool cimport Pool


cdef class ExponentialCandidates(Pool):
    cdef:
        ExponentialLoss exponential  # the loss
        Slots* trees
        Strides strides
        double[::1] top      # largest gap of each tree
        int32_t[::1] best    # slot of each tree that the last step raised most
        object memory
        int32_t n_trees, slot      # slot: of the found node

    cdef int reserve(self, Slots* tree) except -1 nogil
    cdef void fill(self, int32_t j, int32_t slot) noexcept nogil
    cdef void measure(self, Slots* tree, int32_t slot) noexcept nogil
    cdef void rank(self, int32_t t) noexcept nogil
    cdef void close(self, int32_t t, int32_t slot) noexcept nogil
    cdef void spread(self, ForestNode* node) noexcept nogil
