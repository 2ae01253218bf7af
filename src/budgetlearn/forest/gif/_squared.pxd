from libc.stdint cimport int32_t

from ._losses cimport Loss


cdef class SquaredLoss(Loss):
    cdef double[:, ::1] residuals
    cdef double[::1] step
    cdef int32_t[:, ::1] touched  # slots of each tree of a block that an update changes


cdef class WeightedSquaredLoss(SquaredLoss):
    cdef const double[::1] sample_weight
