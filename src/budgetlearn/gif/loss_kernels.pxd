cimport cython
from libc.stdint cimport int32_t


cdef class Loss:
    # The state of the training samples under the current model, and the best step of a node.
    # A node's statistics are `width` numbers, and determine its `n_outputs` weights.
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t width
    cdef readonly double total  # loss of the constant, in the unit of gaps

    # Compute the statistics of the samples (overwrites `out`).
    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil
    # Write the optimal weight of a node, given its statistics; return by how much the loss falls.
    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil
    # Add `step` to the predictions of the samples.
    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil


@cython.final
cdef class SquaredLoss(Loss):
    # Targets minus scores, times the weights of the samples; `update` changes them in place.
    cdef readonly double[:, ::1] residuals
    cdef const double[::1] sample_weight
    cdef bint weighted

    cdef inline double mass(self, const double* stats, int32_t n) noexcept nogil:
        """Return the weight of a node's samples, which divides the squared length of the sums."""
        return stats[self.n_outputs] if self.weighted else n

    cdef inline double weight_of(self, int32_t sample) noexcept nogil:
        """Return the weight of a sample; a step changes its residual by this times the step."""
        return self.sample_weight[sample] if self.weighted else 1.0


@cython.final
cdef class ExponentialLoss(Loss):
    # The loss of each sample, and the factor of each class in the last `update`.
    cdef const int32_t[::1] codes
    cdef double[::1] errors, factor, logs
    cdef double saturation

    cdef void balance(self, const double* stats, double* weight) noexcept nogil
    cdef void trim(self, const double* stats, double* weight) noexcept nogil
