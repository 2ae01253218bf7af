"""Kernel: the splits of a node by the variance of its targets, from sums on both sides."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t

from .nodes cimport Splitter, cell_t

# A node is pure when its variance is below this share of the variance of all targets.
cdef double PURITY = 1e-10

cdef enum:
    OUTPUTS = 4  # of targets that are summed up together, side by side in registers

cdef double[2] AS_DOUBLE = [1.0, 0.0]


cdef inline void sum_below(
    const double* targets, Py_ssize_t stride, int width, const cell_t* values, cell_t cut,
    int32_t n, double* sums, int32_t* n_left
) noexcept nogil:
    """Sum up the targets whose cells are not above the cut, output by output; count them.

    To be called with a constant width, up to `OUTPUTS`: the compiler unrolls the inner loops.
    """
    # Multiplied by 0 or 1: a branch could not be predicted. Two sums of an output hide the latency.
    cdef double[OUTPUTS] even, odd
    cdef int32_t i, first, second, n_above = 0
    cdef int k
    for k in range(width):
        even[k] = odd[k] = 0.0
    for i in range(0, n - 1, 2):
        first = values[i] > cut
        second = values[i + 1] > cut
        n_above += first + second
        for k in range(width):
            even[k] += targets[k * stride + i] * AS_DOUBLE[first]
            odd[k] += targets[k * stride + i + 1] * AS_DOUBLE[second]
    if n % 2:
        first = values[n - 1] > cut
        n_above += first
        for k in range(width):
            even[k] += targets[k * stride + n - 1] * AS_DOUBLE[first]
    for k in range(width):
        sums[k] = even[k] + odd[k]
    n_left[0] = n - n_above


cdef inline void sum_left(
    Splitter splitter, const double* targets, Py_ssize_t stride, int width, int32_t n, double* sums
) noexcept nogil:
    """Sum up outputs of the targets whose cells go left, `width` at once; count these."""
    cdef const void* cells = splitter.looked_up
    cdef int32_t* n_left = &splitter.n_left
    cdef double cut = splitter.cut
    if splitter.in_bytes:
        sum_below(targets, stride, width, <const uint8_t*> cells, <uint8_t> cut, n, sums, n_left)
    else:
        sum_below(targets, stride, width, <const double*> cells, cut, n, sums, n_left)


cdef class VarianceSplitter(Splitter):
    """Impurity = the variance of the targets, summed over the outputs; it may be weighted.

    With one-hot classes as targets that is Gini's index. Targets are looked up anew at each split,
    so they may change, as residuals do. They come times the weights of their samples, as the
    squared loss keeps its residuals, and must add up to about 0 in each column, which keeps the
    sums of squares accurate.
    """

    cdef:
        const double[:, ::1] targets
        double[:, ::1] node_targets
        double[::1] total, left
        const double[::1] sample_weight
        double[::1] node_weights
        double mass, pure_variance  # mass: the weight of the node
        bint weighted

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, targets, sample_weight=None):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.targets = targets
        self.node_targets = np.empty(targets.shape[::-1])
        self.total, self.left = np.empty((2, targets.shape[1]))
        self.weighted = sample_weight is not None
        mass = targets.shape[0]
        if self.weighted:
            self.sample_weight = sample_weight
            self.node_weights = np.empty(targets.shape[0])
            targets, mass = targets / np.sqrt(sample_weight)[:, None], sample_weight.sum()
        self.spread = np.square(targets).sum()
        self.pure_variance = PURITY * self.spread / mass

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k, n_outputs = self.targets.shape[1]
            int32_t i
            double value, total, squares, within = 0.0
            double* gathered
            const double* targets
        self.mass = n
        if self.weighted:
            self.mass = 0.0
            for i in range(n):
                self.node_weights[i] = self.sample_weight[samples[i]]
                self.mass += self.node_weights[i]
        # Output by output: each threshold then sums up neighbours.
        for k in range(n_outputs):
            targets = &self.targets[0, k]
            gathered = &self.node_targets[k, 0]
            total = squares = 0.0
            for i in range(n):
                value = targets[samples[i] * n_outputs]
                gathered[i] = value
                total += value
                # Targets come times their weights w: (w y)^2 / w is w y^2.
                squares += value * (value / self.node_weights[i] if self.weighted else value)
            self.total[k] = total
            # The mass times the variance; precise as the targets' means are about 0.
            within += squares - total * total / self.mass
        return within > self.pure_variance * self.mass

    cdef double score(self, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k
            double left, right, total, gain, left_mass, decrease = 0.0
        # Counts are the masses where there are no weights, and come with the sums.
        if self.weighted:
            sum_left(self, &self.node_weights[0], 0, 1, n, &left_mass)
            if self.mass - left_mass <= 0.0:  # lost to rounding
                return 0.0
        sum_outputs(self, n)
        if not self.weighted:
            left_mass = self.n_left
        for k in range(self.total.shape[0]):
            # m var - m_l var_l - m_r var_r, m the masses: the sums of squares cancel.
            left, total = self.left[k], self.total[k]
            right = total - left
            gain = left * left / left_mass + right * right / (self.mass - left_mass)
            total = total * total / self.mass
            # Each rounds as it always has: forests stay the same bit for bit.
            decrease = decrease + gain - total if self.weighted else decrease + (gain - total)
        return decrease


cdef inline void sum_outputs(VarianceSplitter splitter, int32_t n) noexcept nogil:
    """Sum up the targets on the left, `OUTPUTS` of them at once."""
    cdef Py_ssize_t stride = splitter.node_targets.shape[1], k = 0
    cdef Py_ssize_t n_outputs = splitter.total.shape[0]
    cdef const double* targets
    while k < n_outputs:
        targets = &splitter.node_targets[k, 0]
        if n_outputs - k >= 4:
            sum_left(splitter, targets, stride, 4, n, &splitter.left[k])
        elif n_outputs - k == 3:
            sum_left(splitter, targets, stride, 3, n, &splitter.left[k])
        elif n_outputs - k == 2:
            sum_left(splitter, targets, stride, 2, n, &splitter.left[k])
        else:
            sum_left(splitter, targets, stride, 1, n, &splitter.left[k])
        k += OUTPUTS
