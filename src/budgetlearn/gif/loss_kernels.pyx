"""Kernel: the losses of globally induced forests, with or without sample weights.

Begon, Joly and Geurts (2017), section 2. Each loss keeps one small state per training sample, from
which the optimal weight of a node and its gap follow by sums over the node's samples.
"""

import numpy as np

cimport cython
from libc.math cimport exp, log

# Class errors below this share of a node's total count as this share: an absent class would ask
# for an infinite weight. It is the relative precision of the sums themselves.
cdef double LEAST_SHARE = 2.0 ** -52
# A kept sum that updates have brought below this share of its anchor (what it was when last summed
# afresh, or more that it has reached since) has lost too many digits.
cdef double LEAST_REST = 1e-3
# What the exponential loss of a sample counts as at least and at most. At 0 the sample would be
# lost to all nodes; losses grow without end at learning rates beyond 1 only.
cdef double LEAST_ERROR = 1e-280
cdef double MOST_ERROR = 1e280
# Stands for the gap of a slot between the two passes of an update.
cdef double TOUCHED = -2.0

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
        if self.weighted:
            residuals, self.sample_weight = residuals * sample_weight[:, None], sample_weight
        self.residuals = residuals
        self.n_outputs = residuals.shape[1]
        self.width = self.n_outputs + self.weighted

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double even = 0.0, odd = 0.0
        cdef const double* residuals = &self.residuals[0, 0]
        cdef int32_t i
        # The weight of the node stands behind its sums, where `mass` looks for it.
        if self.weighted:
            for i in range(n):
                even += self.sample_weight[samples[i]]
            out[self.n_outputs] = even
        if self.weighted or self.n_outputs > 1:
            add_columns(residuals, samples, n, self.n_outputs, out)
            return
        # Two sums: one would wait for itself.
        for i in range(0, n - 1, 2):
            even += residuals[samples[i]]
            odd += residuals[samples[i + 1]]
        if n % 2:
            even += residuals[samples[n - 1]]
        out[0] = even + odd

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        # Eq. (L2Solution): the mean residual w; with it the loss falls by mass * |w|^2 = sums . w.
        cdef double gap = 0.0, mass = self.mass(stats, n)
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / mass
            gap += stats[k] * weight[k]
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k
        cdef int32_t i, width, start = 0
        if self.weighted:
            for i in range(n):
                for k in range(self.n_outputs):
                    self.residuals[samples[i], k] -= step[k] * self.sample_weight[samples[i]]
            return
        while start < n:
            i = min(ROWS, n - start)
            k = 0
            while k < self.n_outputs:
                # The widths are constants, for which the compiler unrolls the inner loops.
                width = columns_at(k, self.n_outputs)
                if width == 4:
                    subtract(residuals + k, samples + start, i, self.n_outputs, 4, step + k)
                elif width == 2:
                    subtract(residuals + k, samples + start, i, self.n_outputs, 2, step + k)
                else:
                    subtract(residuals + k, samples + start, i, self.n_outputs, 1, step + k)
                k += width
            start += ROWS


cdef inline int32_t columns_at(Py_ssize_t k, Py_ssize_t n_outputs) noexcept nogil:
    """Return the number of columns from column k on that go through a loop together: 4, 2 or 1."""
    return 4 if n_outputs - k >= 4 else 2 if n_outputs - k >= 2 else 1


cdef inline void add_columns(
    const double* rows, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, double* sums
) noexcept nogil:
    """Sum up the rows of the samples, each column in the order of the samples."""
    cdef Py_ssize_t k
    cdef int32_t size, width, start = 0
    for k in range(n_outputs):
        sums[k] = 0.0
    while start < n:
        size = min(ROWS, n - start)
        k = 0
        while k < n_outputs:
            width = columns_at(k, n_outputs)
            if width == 4:
                add_rows(rows + k, samples + start, size, n_outputs, 4, sums + k)
            elif width == 2:
                add_rows(rows + k, samples + start, size, n_outputs, 2, sums + k)
            else:
                add_rows(rows + k, samples + start, size, n_outputs, 1, sums + k)
            k += width
        start += ROWS


cdef inline void add_rows(
    const double* first, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, int width,
    double* sums,
) noexcept nogil:
    """Add `width` columns of the rows, up to 4 and a constant, to their sums."""
    cdef double[4] total  # in registers: one sum in memory would wait for the next
    cdef const double* row
    cdef int32_t i
    cdef int k
    for k in range(width):
        total[k] = sums[k]
    for i in range(n):
        row = first + samples[i] * n_outputs
        for k in range(width):
            total[k] += row[k]
    for k in range(width):
        sums[k] = total[k]


cdef inline void subtract(
    double* first, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, int width,
    const double* step,
) noexcept nogil:
    """Subtract a step from `width` columns of the rows, up to 4 and a constant."""
    cdef double[4] less
    cdef double* row
    cdef int32_t i
    cdef int k
    for k in range(width):
        less[k] = step[k]
    for i in range(n):
        row = first + samples[i] * n_outputs
        for k in range(width):
            row[k] -= less[k]


cdef inline double* record_of(
    const Slots* slots, int32_t sample, Strides strides, int32_t* slot
) noexcept nogil:
    """Return the record of the slot that holds a sample, and which it is."""
    slot[0] = slots.holder[sample * strides.n_trees]
    return slots.records + slot[0] * strides.record


cdef class ExponentialLoss(Loss):
    """Multiclass exponential loss under the zero-sum constraint (Eq. MEsolution).

    Each sample carries exp(-f / (K - 1)), f the score of its own class: its loss. The sums of
    these by class are the class errors of a node.
    """

    def __init__(self, codes, errors, n_classes):
        self.codes = codes
        self.errors = errors
        self.n_outputs = n_classes
        # Behind the class errors stand their anchors, which `spread` needs.
        self.width = 2 * n_classes
        self.factor = np.ones(n_classes)
        self.logs = np.empty(n_classes)
        self.trial = np.empty(n_classes)

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
        # Eq. (MEsolution): w_k = (K - 1) (log e_k - mean_l log e_l), which adds up to 0 over k.
        cdef double total = 0.0, mean = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            total += stats[k]
        if total <= 0.0:
            return self.nothing(weight)
        # An absent class would have an infinite log: it counts as the sums' own precision.
        for k in range(self.n_outputs):
            weight[k] = log(max(stats[k], LEAST_SHARE * total))
            mean += weight[k] / self.n_outputs
        for k in range(self.n_outputs):
            weight[k] = (self.n_outputs - 1) * (weight[k] - mean)
        return self.gap(stats, weight)

    cdef double nothing(self, double* weight) noexcept nogil:
        """Give weight and gap 0 to a node whose losses have all fallen to 0."""
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = 0.0
        return 0.0

    cdef double gap(self, const double* stats, const double* weight) noexcept nogil:
        """Return the fall of the loss when `weight` is added to the scores of the node."""
        # A sample of class k has its loss multiplied by exp(-w_k / (K - 1)).
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if stats[k] > 0.0:
                gap += stats[k] * (1.0 - exp(-weight[k] / (self.n_outputs - 1)))
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef double* errors = &self.errors[0]
        cdef const int32_t* codes = &self.codes[0]
        cdef double error
        cdef Py_ssize_t k
        cdef int32_t i
        # One exponential for each class instead of one for each sample.
        for k in range(self.n_outputs):
            self.factor[k] = exp(-step[k] / (self.n_outputs - 1))
        for i in range(n):
            error = errors[samples[i]] * self.factor[codes[samples[i]]]
            errors[samples[i]] = max(LEAST_ERROR, min(MOST_ERROR, error))

    cdef void spread(
        self, const int32_t* samples, int32_t n, const Slots* trees, Strides strides,
        int32_t* best,
    ) noexcept nogil:
        cdef int32_t t
        for t in range(strides.n_trees):
            best[t] = self.shift_errors(samples, n, trees + t, strides)

    cdef int32_t shift_errors(
        self, const int32_t* samples, int32_t n, const Slots* slots, Strides strides
    ) noexcept nogil:
        """Change the class errors of each slot; return the best touched slot."""
        cdef int32_t i, sample, code, slot, best = 0
        cdef double* record
        cdef double largest = 0.0
        # First pass: `update` multiplied each loss by its class's factor, so the loss that a slot
        # gained is the new one times (1 - 1 / factor). Old losses need not be kept for that.
        for i in range(n):
            sample = samples[i]
            code = self.codes[sample]
            record = record_of(slots, sample, strides, &slot)
            record[STATS + code] += self.errors[sample] * (1.0 - 1.0 / self.factor[code])
            record[GAP] = TOUCHED
        # Second pass: a slot that holds many of the samples is solved once, its mark then gone.
        for i in range(n):
            record = record_of(slots, samples[i], strides, &slot)
            if record[GAP] != TOUCHED:
                continue
            record[GAP] = self.shifted_gap(record + STATS) if slot > 0 else 0.0
            if largest >= 0.0 and (record[GAP] < 0.0 or record[GAP] > largest):
                largest = record[GAP]
                best = slot
        return best

    cdef double shifted_gap(self, const double* stats) noexcept nogil:
        """Return the gap of updated statistics, -1 where cancellation has eaten a class error."""
        # Differences of large sums have few digits left where they are small; these would decide.
        cdef const double* anchors = stats + self.n_outputs
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if stats[k] < LEAST_REST * anchors[k]:
                return -1.0
        return max(0.0, self.solve(stats, 0, &self.trial[0]))


cdef class TrimmedExponentialLoss(ExponentialLoss):
    """Exponential loss whose weights let no ratio of class errors count beyond e^saturation.

    Equation METrimmed, with tau(0, 0) = 0.
    """

    def __init__(self, codes, errors, n_classes, saturation):
        ExponentialLoss.__init__(self, codes, errors, n_classes)
        self.saturation = saturation

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
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
        # tau(0, 0) = 0: where all classes are absent, so is every weight.
        if n_present == 0:
            return self.nothing(weight)
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
        return self.gap(stats, weight)
