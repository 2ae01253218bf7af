cimport cython
from libc.stdint cimport int32_t


cdef enum:
    # What lies where in the record of a slot.
    GAP = 0              # 0 in slot 0
    STATS = 1            # and the following


cdef struct Slots:
    # The candidates of one tree; slot 0 stands for the samples that no candidate holds.
    int32_t n_slots
    int32_t capacity
    int32_t top          # slot of the largest gap, 0: none is positive
    int32_t* holder      # slot of sample i: holder[i * n_trees]
    int32_t* node        # (n_slots,)
    double* records      # (n_slots, stride)


cdef struct Strides:
    Py_ssize_t n_trees   # from sample to sample in `holder`
    Py_ssize_t record    # from slot to slot in `records`


cdef class Loss:
    # The state of the training samples under the current model, and what a node can do about it.
    # A node's statistics are sums over its samples, `width` numbers; `n_outputs` weights follow.
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t width

    # Sum up the statistics of the samples (overwrites `out`).
    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil
    # Write the optimal weight of a node, from its statistics; return the gap: how much the loss
    # falls at full weight.
    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil
    # Add `step` to the predictions of the samples.
    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil


@cython.final
cdef class SquaredLoss(Loss):
    # Targets less scores, times the weights of the samples; `update` changes them in place.
    cdef readonly double[:, ::1] residuals
    cdef const double[::1] sample_weight
    cdef bint weighted

    cdef inline double mass(self, const double* stats, int32_t n) noexcept nogil:
        """Return the weight of a node's samples, which divides the squared length of the sums."""
        return stats[self.n_outputs] if self.weighted else n

    cdef inline double weight_of(self, int32_t sample) noexcept nogil:
        """Return the weight of a sample: a step moves its residual by this many times the step."""
        return self.sample_weight[sample] if self.weighted else 1.0


cdef class ExponentialLoss(Loss):
    cdef const int32_t[::1] codes
    cdef double[::1] errors, factor, logs, trial

    # Bring the slots (candidates) of all trees up to date with the last `update`: their
    # statistics, and the gaps of those that hold an updated sample; the one of these with the
    # largest gap is written to `best` for each tree. A gap of -1 asks the caller to gather the
    # slot afresh, its sums having lost their precision; such a slot comes before all others.
    cdef void spread(
        self, const int32_t* samples, int32_t n, const Slots* trees, Strides strides,
        int32_t* best,
    ) noexcept nogil
    cdef double nothing(self, double* weight) noexcept nogil
    cdef double gap(self, const double* stats, const double* weight) noexcept nogil
    cdef int32_t shift_errors(
        self, const int32_t* samples, int32_t n, const Slots* slots, Strides strides
    ) noexcept nogil
    cdef double shifted_gap(self, const double* stats) noexcept nogil


cdef class TrimmedExponentialLoss(ExponentialLoss):
    cdef double saturation
