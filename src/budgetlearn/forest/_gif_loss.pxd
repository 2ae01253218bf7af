from libc.stdint cimport int32_t


cdef struct Slots:
    # The candidates of one tree; slot 0 stands for the samples that no candidate holds.
    int32_t n_slots
    int32_t capacity
    int32_t top          # slot of the largest gap, 0: none is positive
    int32_t* holder      # (n_samples,): the slot of each sample
    int32_t* node        # (n_slots,)
    double* inverse      # (n_slots,): 1 / samples
    double* gaps         # (n_slots,): 0 in slot 0
    double* stats        # (n_slots, width)


cdef struct Scratch:
    # Working memory for `spread`: zeros in `counts`, and room for a list of slots.
    int32_t* counts
    int32_t* touched


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
    # Bring one tree's slots (candidates) up to date with the last `update`: their statistics, and
    # the gaps of those that hold an updated sample. Return the one of these with the largest gap.
    # A gap of -1 asks the caller to gather the slot afresh, its sums having lost their precision;
    # such a slot is returned before all others.
    cdef int32_t spread(
        self, const int32_t* samples, int32_t n, const Slots* slots, Scratch* scratch
    ) noexcept nogil


cdef class SquaredLoss(Loss):
    cdef double[:, ::1] residuals
    cdef double[::1] step


cdef class ExponentialLoss(Loss):
    cdef const int32_t[::1] codes
    cdef double[::1] errors, factor, logs, trial
    cdef double nothing(self, double* weight) noexcept nogil
    cdef double gap(self, const double* stats, const double* weight) noexcept nogil
    cdef double shifted_gap(self, const double* stats) noexcept nogil


cdef class TrimmedExponentialLoss(ExponentialLoss):
    cdef double saturation
