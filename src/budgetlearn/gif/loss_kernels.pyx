"""Kernel: the losses of globally induced forests, with or without sample weights.

Begon, Joly and Geurts (2017), section 3. Each loss keeps a small state per training sample. Sums
over a node's samples then give the optimal weight of the node and its gap.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, exp, log

# Least share of a class error in a node's total, as an absent class would get an infinite weight.
# It is the relative precision of the sums.
cdef double LEAST_SHARE = 2.0 ** -52
# Bounds of the exponential loss of a sample. No node could raise a loss of 0 again, and losses grow
# without bound only at learning rates above 1.
cdef double LEAST_ERROR = 1e-280
cdef double MOST_ERROR = 1e280
# Makes a share that is reached exactly count as reached, as weights have single precision.
cdef double JUST_BELOW = 1.0 - 2.0 ** -22

cdef enum:
    ROWS = 64  # rows that are summed together while they are in the cache


cdef class Loss:
    """Base of the losses; `loss_kernels.pxd` describes the methods."""

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        pass

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        return 0.0

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        pass


@cython.final
cdef class SquaredLoss(Loss):
    """Squared error over all outputs: a node's weight is its mean residual (Eq. L2Solution).

    With sample weights, it is the weighted mean. Residuals are then kept times the weights of their
    samples, and the last of a node's statistics is the weight of its samples.
    """

    def __init__(self, residuals, sample_weight=None):
        self.weighted = sample_weight is not None
        squares = np.square(residuals).sum(axis=1)
        self.total = sample_weight @ squares if self.weighted else squares.sum()
        if self.weighted:
            residuals, self.sample_weight = residuals * sample_weight[:, None], sample_weight
        self.residuals = residuals
        self.n_outputs = residuals.shape[1]
        self.width = self.n_outputs + self.weighted

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double even = 0.0, odd = 0.0
        cdef double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k
        cdef int32_t i
        # The weight of the node comes after its sums, where `mass` reads it.
        if self.weighted:
            for i in range(n):
                even += self.sample_weight[samples[i]]
            out[self.n_outputs] = even
        if self.weighted or self.n_outputs > 1:
            for k in range(self.n_outputs):
                out[k] = 0.0
            over_rows(residuals, samples, n, self.n_outputs, True, out)
            return
        # Two sums, because additions to a single one would wait for each other.
        for i in range(0, n - 1, 2):
            even += residuals[samples[i]]
            odd += residuals[samples[i + 1]]
        if n % 2:
            even += residuals[samples[n - 1]]
        out[0] = even + odd

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        return mean(stats, self.mass(stats, n), self.n_outputs, weight)

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        if not self.weighted:
            over_rows(&self.residuals[0, 0], samples, n, self.n_outputs, False, <double*> step)
            return
        # Residuals are kept times the weights of their samples, and so are the steps.
        for i in range(n):
            for k in range(self.n_outputs):
                self.residuals[samples[i], k] -= step[k] * self.sample_weight[samples[i]]


cdef inline double mean(
    const double* sums, double mass, Py_ssize_t n_outputs, double* weight
) noexcept nogil:
    # Eq. (L2Solution): the mean residual w, which lowers the loss by mass * |w|^2 = sums . w.
    cdef double gap = 0.0
    cdef Py_ssize_t k
    for k in range(n_outputs):
        weight[k] = sums[k] / mass
        gap += sums[k] * weight[k]
    return gap


cdef inline void over_rows(
    double* rows, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, bint sums, double* values
) noexcept nogil:
    """Add the rows of the samples to the values, in order (`sums`), or subtract them from the rows.

    A loop handles up to eight columns together. Its width is a constant, so the compiler unrolls
    it, a row is read once, and the sums of the columns do not wait for each other.
    """
    cdef Py_ssize_t k
    cdef int32_t size, start = 0
    # Block by block, so that the rows are in the cache for the next columns.
    while start < n:
        size = min(ROWS, n - start)
        k = 0
        while n_outputs - k >= 8:
            over_columns(rows + k, samples + start, size, n_outputs, 8, sums, values + k)
            k += 8
        if n_outputs - k == 7:
            over_columns(rows + k, samples + start, size, n_outputs, 7, sums, values + k)
        elif n_outputs - k == 6:
            over_columns(rows + k, samples + start, size, n_outputs, 6, sums, values + k)
        elif n_outputs - k == 5:
            over_columns(rows + k, samples + start, size, n_outputs, 5, sums, values + k)
        elif n_outputs - k == 4:
            over_columns(rows + k, samples + start, size, n_outputs, 4, sums, values + k)
        elif n_outputs - k == 3:
            over_columns(rows + k, samples + start, size, n_outputs, 3, sums, values + k)
        elif n_outputs - k == 2:
            over_columns(rows + k, samples + start, size, n_outputs, 2, sums, values + k)
        elif n_outputs - k == 1:
            over_columns(rows + k, samples + start, size, n_outputs, 1, sums, values + k)
        start += ROWS


cdef inline void over_columns(
    double* first, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, int width, bint sums,
    double* values,
) noexcept nogil:
    cdef double[8] held  # in registers, because sums in memory would wait for each other
    cdef double* row
    cdef int32_t i
    cdef int k
    for k in range(width):
        held[k] = values[k]
    for i in range(n):
        row = first + samples[i] * n_outputs
        for k in range(width):
            if sums:
                held[k] += row[k]
            else:
                row[k] -= held[k]
    if sums:
        for k in range(width):
            values[k] = held[k]


cdef class RobustLoss(Loss):
    """Base of regression losses that are robust to outliers.

    They are convex, so a step that is shortened by the learning rate also lowers them.
    """

    cdef readonly double[:, ::1] residuals  # one column for each output
    cdef const double[::1] sample_weight

    def __init__(self, residuals, sample_weight=None):
        self.residuals = residuals
        self.sample_weight = np.ones(len(residuals)) if sample_weight is None else sample_weight
        self.n_outputs = residuals.shape[1]
        self.width = self.n_outputs + 1

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        over_rows(&self.residuals[0, 0], samples, n, self.n_outputs, False, <double*> step)


@cython.final
cdef class HuberLoss(RobustLoss):
    """The squared error up to `delta`, linear beyond (Huber 1964).

    A node's weight is the weighted mean of its residuals, clipped at delta, and minimises a
    parabola that touches the loss at 0. The loss curves at most as much as a square, so it is never
    above the parabola and falls by at least the gap. A sample moves a node by at most its share of
    delta.
    """

    cdef const double[::1] delta

    def __init__(self, residuals, delta, sample_weight=None):
        RobustLoss.__init__(self, residuals, sample_weight)
        self.delta = delta
        distance, near = np.abs(residuals), np.minimum(np.abs(residuals), delta)
        # r^2, and delta (2 |r| - delta) beyond.
        self.total = self.sample_weight @ (near * (2 * distance - near)).sum(axis=1)

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        cdef double weight, most
        for k in range(self.width):
            out[k] = 0.0
        # The weight of the node comes after the sums, as in the squared loss.
        for i in range(n):
            weight = self.sample_weight[samples[i]]
            out[self.n_outputs] += weight
            for k in range(self.n_outputs):
                most = self.delta[k]
                out[k] += weight * max(-most, min(most, self.residuals[samples[i], k]))

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        return mean(stats, stats[self.n_outputs], self.n_outputs, weight)


@cython.final
cdef class QuantileLoss(RobustLoss):
    """The pinball loss: a node's weight is a quantile of its residuals (Koenker & Bassett 1978).

    Sums do not determine a quantile, so statistics are the node's weights and the drop in loss.
    """

    cdef:
        double quantile
        double[::1] values, masses  # scratch of the largest node

    def __init__(self, residuals, quantile, sample_weight=None):
        RobustLoss.__init__(self, residuals, sample_weight)
        self.quantile = quantile
        self.values, self.masses = np.empty((2, len(residuals)))
        pinballs = np.maximum(quantile * residuals, (quantile - 1.0) * residuals)
        self.total = self.sample_weight @ pinballs.sum(axis=1)

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        cdef double fall = 0.0, mass
        for k in range(self.n_outputs):
            # Copied, because the selection reorders its input.
            mass = 0.0
            for i in range(n):
                self.values[i] = self.residuals[samples[i], k]
                self.masses[i] = self.sample_weight[samples[i]]
                mass += self.masses[i]
            out[k] = select(&self.values[0], &self.masses[0], n, self.quantile * JUST_BELOW * mass)
            for i in range(n):  # in the order of the selection, which does not matter
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
    # q r above 0 and (q - 1) r below: the sum is least at a constant with the share q below it.
    return quantile * residual if residual > 0.0 else (quantile - 1.0) * residual


cdef double select(double* values, double* masses, int32_t n, double wanted) noexcept nogil:
    """Return the least value such that all values <= it have the mass `wanted`, or more.

    Hoare's selection with weights, which reorders values and masses. Invariant: values before `low`
    are less than the result and already subtracted from `wanted`; values from `high` are larger.
    """
    cdef int32_t low = 0, high = n, i, less, more
    cdef double pivot, below, equal
    while high - low > 1:
        # The median of three keeps the halves even if the values are sorted.
        pivot = middle(values[low], values[low + (high - low) // 2], values[high - 1])
        # Partition into values less than the pivot, equal to it, and larger.
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
        elif wanted <= below + equal or more == high:  # the latter if rounding lost some mass
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


@cython.final
cdef class ExponentialLoss(Loss):
    """Multiclass exponential loss under the zero-sum constraint.

    The loss of a sample is exp(-f / (K - 1)), where f is the score of its own class. The class
    errors of a node are the sums of these by class. Their ratios are limited to e^saturation.
    """

    def __init__(self, codes, errors, n_classes, saturation=INFINITY):
        self.codes = codes
        self.errors = errors
        self.saturation = saturation
        self.n_outputs = n_classes
        # After the class errors come their anchors, the values when they were last recomputed.
        self.width = 2 * n_classes
        self.factor, self.logs = np.ones((2, n_classes))
        self.total = errors.sum()

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef const double* errors = &self.errors[0]
        cdef const int32_t* codes = &self.codes[0]
        cdef double first = 0.0, second = 0.0, error, is_second
        cdef Py_ssize_t k
        cdef int32_t i
        for k in range(self.n_outputs):
            out[k] = 0.0
        if self.n_outputs == 2:
            # Sums in registers are faster than in memory. Products with 0 and 1 are exact.
            for i in range(n):
                error = errors[samples[i]]
                is_second = codes[samples[i]]
                first += error * (1.0 - is_second)
                second += error * is_second
            out[0], out[1] = first, second
        else:
            for i in range(n):
                out[codes[samples[i]]] += errors[samples[i]]
        for k in range(self.n_outputs):
            out[self.n_outputs + k] = out[k]

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        if self.saturation == INFINITY:
            self.balance(stats, weight)
        else:
            self.trim(stats, weight)
        # The loss of a sample of class k is multiplied by exp(-w_k / (K - 1)).
        for k in range(self.n_outputs):
            if stats[k] > 0.0:
                gap += stats[k] * (1.0 - exp(-weight[k] / (self.n_outputs - 1)))
        return gap

    cdef inline void balance(self, const double* stats, double* weight) noexcept nogil:
        # Eq. (MEsolution): w_k = (K - 1) (log e_k - mean_l log e_l), which adds up to 0 over k.
        cdef double total = 0.0, centre = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            total += stats[k]
        # An absent class would have an infinite log, so it counts as the precision of the sums.
        for k in range(self.n_outputs):
            weight[k] = log(max(stats[k], LEAST_SHARE * total))
            centre += weight[k] / self.n_outputs
        for k in range(self.n_outputs):
            weight[k] = (self.n_outputs - 1) * (weight[k] - centre)

    cdef inline void trim(self, const double* stats, double* weight) noexcept nogil:
        # Eq. (METrimmed): w_k = (K - 1) / K sum_l tau(e_k, e_l), tau the log-ratio within +-theta.
        # For an absent class, tau is -theta to each present class, and tau(0, 0) = 0 to others.
        cdef:
            Py_ssize_t k, j, n_present = 0, n_classes = self.n_outputs
            double theta = self.saturation, total, ratio
            double share = <double> (n_classes - 1) / n_classes
            double* logs = &self.logs[0]
        for k in range(n_classes):
            if stats[k] > 0.0:
                logs[k] = log(stats[k])
                n_present += 1
        for k in range(n_classes):
            if stats[k] <= 0.0:
                weight[k] = -share * theta * n_present
                continue
            total = theta * (n_classes - n_present)
            for j in range(n_classes):
                if stats[j] > 0.0:
                    ratio = logs[k] - logs[j]
                    total += max(-theta, min(theta, ratio))
            weight[k] = share * total

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef double* errors = &self.errors[0]
        cdef const int32_t* codes = &self.codes[0]
        cdef double error
        cdef Py_ssize_t k
        cdef int32_t i
        # One exponential per class instead of one per sample.
        for k in range(self.n_outputs):
            self.factor[k] = exp(-step[k] / (self.n_outputs - 1))
        # Losses are updated by multiplication, as scores are not stored.
        for i in range(n):
            error = errors[samples[i]] * self.factor[codes[samples[i]]]
            errors[samples[i]] = max(LEAST_ERROR, min(MOST_ERROR, error))
