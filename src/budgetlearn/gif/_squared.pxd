from libc.stdint cimport int32_t

from ._losses cimport Loss


cdef class SquaredLoss(Loss):
    # Targets less scores, times the weights of the samples; `update` changes them in place.
    cdef readonly double[:, ::1] residuals
    # Weight of the samples of a node: the gap is the squared length of the sums, divided by it.
    cdef double mass(self, const double* stats, int32_t n) noexcept nogil
    # Weight of a single sample: a step moves its residual by this many times the step.
    cdef double weight_of(self, int32_t sample) noexcept nogil


cdef class WeightedSquaredLoss(SquaredLoss):
    cdef const double[::1] sample_weight
