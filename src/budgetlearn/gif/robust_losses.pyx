"""Kernel: losses of numbers that outliers do not rule, with or without sample weights.

Both are convex, so that a step shortened by the learning rate lowers them too.
"""

import numpy as np

cimport cython
from libc.stdint cimport int32_t

from .loss_kernels cimport Loss

# A share that a value's weights reach exactly is reached, whatever rounding makes of the sums.
cdef double JUST_BELOW = 1.0 - 1e-12


cdef class RobustLoss(Loss):
    """Residuals, one column for each output, and the weights of the samples."""

    cdef:
        readonly double[:, ::1] residuals
        const double[::1] sample_weight

    def __init__(self, residuals, sample_weight=None):
        self.residuals = residuals
        self.sample_weight = np.ones(len(residuals)) if sample_weight is None else sample_weight
        self.n_outputs = residuals.shape[1]
        self.width = self.n_outputs + 1

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        for i in range(n):
            for k in range(self.n_outputs):
                self.residuals[samples[i], k] -= step[k]


@cython.final
cdef class HuberLoss(RobustLoss):
    """The squared error up to `delta`, linear beyond (Huber 1964).

    A node's weight is the weighted mean of its residuals, each cut off at delta. It minimises the
    parabola that touches the loss at 0 and is nowhere below it, as the loss curves at most as much
    as a square: the loss falls at least by the gap, and no sample moves a node by more than delta
    times its share.
    """

    cdef const double[::1] delta

    def __init__(self, residuals, delta, sample_weight=None):
        RobustLoss.__init__(self, residuals, sample_weight)
        self.delta = delta

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        cdef double weight, most
        for k in range(self.width):
            out[k] = 0.0
        for i in range(n):
            weight = self.sample_weight[samples[i]]
            out[self.n_outputs] += weight
            for k in range(self.n_outputs):
                most = self.delta[k]
                out[k] += weight * max(-most, min(most, self.residuals[samples[i], k]))

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / stats[self.n_outputs]
            gap += stats[k] * weight[k]
        return gap


@cython.final
cdef class QuantileLoss(RobustLoss):
    """The pinball loss: a node's weight is a quantile of its residuals (Koenker & Bassett 1978).

    Sums do not tell a quantile: the statistics of a node are its weights, and how much the loss
    falls by them.
    """

    cdef:
        double quantile
        double[::1] values, masses  # scratch of the largest node

    def __init__(self, residuals, quantile, sample_weight=None):
        RobustLoss.__init__(self, residuals, sample_weight)
        self.quantile = quantile
        self.values, self.masses = np.empty((2, len(residuals)))

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        cdef double fall = 0.0, mass
        for k in range(self.n_outputs):
            mass = 0.0
            for i in range(n):
                self.values[i] = self.residuals[samples[i], k]
                self.masses[i] = self.sample_weight[samples[i]]
                mass += self.masses[i]
            out[k] = select(&self.values[0], &self.masses[0], n, self.quantile * JUST_BELOW * mass)
            for i in range(n):  # in any order: the selection moved them
                fall += self.masses[i] * (
                    pinball(self.values[i], self.quantile)
                    - pinball(self.values[i] - out[k], self.quantile)
                )
        out[self.n_outputs] = fall

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k]
        return stats[self.n_outputs]


cdef inline double pinball(double residual, double quantile) noexcept nogil:
    return quantile * residual if residual > 0.0 else (quantile - 1.0) * residual


cdef double select(double* values, double* masses, int32_t n, double wanted) noexcept nogil:
    """Return the least value such that all up to it weigh `wanted`; reorder values and masses.

    Hoare's selection with weights. Invariant: what lies before `low` is less than the answer and is
    no longer in `wanted`, what lies from `high` on is larger.
    """
    cdef int32_t low = 0, high = n, i, less, more
    cdef double pivot, below, equal
    while high - low > 1:
        pivot = middle(values[low], values[low + (high - low) // 2], values[high - 1])
        # Three parts: less than the pivot, equal to it, more.
        less, i, more = low, low, high
        below = equal = 0.0
        while i < more:
            if values[i] < pivot:
                below += masses[i]
                swap(values, masses, less, i)
                less += 1
                i += 1
            elif values[i] > pivot:
                more -= 1
                swap(values, masses, i, more)
            else:
                equal += masses[i]
                i += 1
        if wanted <= below:
            high = less
        elif wanted <= below + equal or more == high:  # the latter where rounding lost a little
            return pivot
        else:
            wanted -= below + equal
            low = more
    return values[low]


cdef inline double middle(double a, double b, double c) noexcept nogil:
    return max(min(a, b), min(max(a, b), c))


cdef inline void swap(double* values, double* masses, int32_t i, int32_t j) noexcept nogil:
    values[i], values[j] = values[j], values[i]
    masses[i], masses[j] = masses[j], masses[i]
