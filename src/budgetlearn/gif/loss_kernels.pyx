"""Kernel: the losses of globally induced forests, with or without sample weights.

Begon, Joly and Geurts (2017), section 2. Each loss keeps one small state per training sample, from
which the optimal weight of a node and its gap follow by sums over the node's samples.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, exp, log

# Class errors below this share of a node's total count as this share: an absent class would ask
# for an infinite weight. It is the relative precision of the sums themselves.
cdef double LEAST_SHARE = 2.0 ** -52
# What the exponential loss of a sample counts as at least and at most. At 0 the sample would be
# lost to all nodes; losses grow without end at learning rates beyond 1 only.
cdef double LEAST_ERROR = 1e-280
cdef double MOST_ERROR = 1e280
# A share that a value's weights reach exactly is reached, whatever rounding makes of the sums.
cdef double JUST_BELOW = 1.0 - 1e-12

cdef enum:
    ROWS = 64  # that are summed up together, while they are in the cache


cdef class Loss:
    """The loss as a forest sees it; see `loss_kernels.pxd` for the contract."""

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        pass

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        return 0.0

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        pass


@cython.final
cdef class SquaredLoss(Loss):
    """Squared error over all outputs: a node's weight is its mean residual (Eq. L2Solution).

    Where samples have weights it is the weighted mean: residuals are then kept times the weights of
    their samples, and the statistics of a node end with the weight of its samples.
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
        # The weight of the node stands behind its sums, where `mass` looks for it.
        if self.weighted:
            for i in range(n):
                even += self.sample_weight[samples[i]]
            out[self.n_outputs] = even
        if self.weighted or self.n_outputs > 1:
            for k in range(self.n_outputs):
                out[k] = 0.0
            over_rows(residuals, samples, n, self.n_outputs, True, out)
            return
        # Two sums: one would wait for itself.
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
    # Eq. (L2Solution): the mean residual w; with it the loss falls by mass * |w|^2 = sums . w.
    cdef double gap = 0.0
    cdef Py_ssize_t k
    for k in range(n_outputs):
        weight[k] = sums[k] / mass
        gap += sums[k] * weight[k]
    return gap


cdef inline void over_rows(
    double* rows, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, bint sums, double* values
) noexcept nogil:
    """Add the rows of the samples to the values, in their order, or subtract these from the rows.

    Up to eight columns go through a loop together, whose width is a constant: the compiler unrolls
    it, and a row is read once. Their sums run side by side, while one alone would wait for itself.
    """
    cdef Py_ssize_t k
    cdef int32_t size, start = 0
    # Block by block: the rows of a block are in the cache when its next columns have their turn.
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
    cdef double[8] held  # in registers: one sum in memory would wait for the next
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
    """A loss of numbers that outliers do not rule.

    It is convex, so that a step shortened by the learning rate lowers it too.
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

    A node's weight is the weighted mean of its residuals, each cut off at delta. It minimises the
    parabola that touches the loss at 0 and is nowhere below it, as the loss curves at most as much
    as a square: the loss falls at least by the gap, and no sample moves a node by more than delta
    times its share.
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
        # Behind the sums stands the weight of the node, as in the squared loss.
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

    Sums do not tell a quantile: statistics are the node's weights, and by how much the loss falls.
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
            # Copied: the selection reorders what it looks at.
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
    # q r above 0 and (q - 1) r below: a constant with the share q below it has the least sum.
    return quantile * residual if residual > 0.0 else (quantile - 1.0) * residual


cdef double select(double* values, double* masses, int32_t n, double wanted) noexcept nogil:
    """Return the least value such that all up to it weigh `wanted`; reorder values and masses.

    Hoare's selection with weights. Invariant: what lies before `low` is less than the answer and is
    no longer in `wanted`, what lies from `high` on is larger.
    """
    cdef int32_t low = 0, high = n, i, less, more
    cdef double pivot, below, equal
    while high - low > 1:
        # The median of three keeps the halves even where the values come in order.
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


@cython.final
cdef class ExponentialLoss(Loss):
    """Multiclass exponential loss under the zero-sum constraint.

    Each sample carries exp(-f / (K - 1)), f the score of its own class: its loss. The sums of
    these by class are the class errors of a node. No ratio of them counts beyond e^saturation.
    """

    def __init__(self, codes, errors, n_classes, saturation=INFINITY):
        self.codes = codes
        self.errors = errors
        self.saturation = saturation
        self.n_outputs = n_classes
        # Behind the class errors stand their anchors: what they were when last summed up afresh.
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
            # In registers, where a sum need not wait to be read again; nothing is rounded.
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
        # A sample of class k has its loss multiplied by exp(-w_k / (K - 1)).
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
        # An absent class would have an infinite log: it counts as the sums' own precision.
        for k in range(self.n_outputs):
            weight[k] = log(max(stats[k], LEAST_SHARE * total))
            centre += weight[k] / self.n_outputs
        for k in range(self.n_outputs):
            weight[k] = (self.n_outputs - 1) * (weight[k] - centre)

    cdef inline void trim(self, const double* stats, double* weight) noexcept nogil:
        # Eq. (METrimmed): w_k = (K - 1) / K sum_l tau(e_k, e_l), tau the log-ratio within +-theta.
        # An absent class is at -theta from each present one, and at tau(0, 0) = 0 from others.
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
        # One exponential for each class instead of one for each sample.
        for k in range(self.n_outputs):
            self.factor[k] = exp(-step[k] / (self.n_outputs - 1))
        # Multiplied on, not taken anew from a score: scores are kept nowhere.
        for i in range(n):
            error = errors[samples[i]] * self.factor[codes[samples[i]]]
            errors[samples[i]] = max(LEAST_ERROR, min(MOST_ERROR, error))
