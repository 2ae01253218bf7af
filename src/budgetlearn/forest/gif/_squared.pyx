"""Kernel: the squared loss of globally induced forests, with or without sample weights.

Begon, Joly and Geurts (2017), section 2. The state of a sample is its residual for each output.
"""

import numpy as np

from ._losses cimport GAP, INVERSE, STATS, Slots, Strides
from ._prefetch cimport fetch_ahead

# A kept gap that updates have brought below this share of its anchor (what it was when last summed
# afresh, or more that it has reached since) comes from a sum of which few digits are left.
cdef double LEAST_GAP = 1e-6
# Stands for the gap of a slot between the two passes of an update.
cdef double TOUCHED = -2.0

cdef enum:
    ROWS = 64   # that are summed up together, while they are in the cache
    TREES = 16  # that an update changes together: their holders fill a line of the cache


cdef class SquaredLoss(Loss):
    """Squared error, summed over the outputs: a node's weight is its mean residual (Eq. L2).

    Parameters
    ----------
    residuals : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Targets minus the intercept; updated in place.
    """

    def __init__(self, residuals):
        self.residuals = residuals
        self.n_outputs = residuals.shape[1]
        # Behind the sums stands their anchor, as a gap, which `spread` needs.
        self.width = self.n_outputs + 1
        self.step = np.zeros(self.n_outputs)
        self.touched = np.empty((TREES, residuals.shape[0] + 2), dtype=np.int32)

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double even = 0.0, odd = 0.0
        cdef const double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k, n_outputs = self.n_outputs
        cdef int32_t i, size, start = 0
        if n_outputs == 1:
            # Two sums: one would wait for itself.
            for i in range(0, n - 1, 2):
                even += residuals[samples[i]]
                odd += residuals[samples[i + 1]]
            if n % 2:
                even += residuals[samples[n - 1]]
            out[0] = even + odd
            out[1] = out[0] * out[0] / n
            return
        for k in range(n_outputs + 1):
            out[k] = 0.0
        while start < n:
            size = min(ROWS, n - start)
            for k in range(0, n_outputs - 3, 4):
                add_rows(residuals + k, samples + start, size, n_outputs, 4, out + k)
            k = n_outputs // 4 * 4
            if n_outputs % 4 >= 2:
                add_rows(residuals + k, samples + start, size, n_outputs, 2, out + k)
                k += 2
            if n_outputs % 2:
                add_rows(residuals + k, samples + start, size, n_outputs, 1, out + k)
            start += ROWS
        for k in range(n_outputs):
            out[n_outputs] += out[k] * out[k] / n

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / n
            gap += stats[k] * weight[k]
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k, n_outputs = self.n_outputs
        cdef int32_t size, start = 0
        for k in range(n_outputs):
            self.step[k] = step[k]
        while start < n:
            size = min(ROWS, n - start)
            for k in range(0, n_outputs - 3, 4):
                subtract(residuals + k, samples + start, size, n_outputs, 4, step + k)
            k = n_outputs // 4 * 4
            if n_outputs % 4 >= 2:
                subtract(residuals + k, samples + start, size, n_outputs, 2, step + k)
                k += 2
            if n_outputs % 2:
                subtract(residuals + k, samples + start, size, n_outputs, 1, step + k)
            start += ROWS

    cdef void spread(
        self, const int32_t* samples, int32_t n, const Slots* trees, Strides strides,
        int32_t* best,
    ) noexcept nogil:
        if self.n_outputs == 1:
            spread_step(samples, n, trees, strides, &self.step[0], 1, NULL, self.touched, best)
        else:
            spread_step(
                samples, n, trees, strides, &self.step[0], self.n_outputs, NULL, self.touched, best
            )


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


cdef inline void spread_step(
    const int32_t* samples, int32_t n, const Slots* trees, Strides strides, const double* step,
    Py_ssize_t n_outputs, const double* sample_weight, int32_t[:, ::1] touched, int32_t* best,
) noexcept nogil:
    """Subtract the step from the residuals that each slot holds; write the best touched slots.

    To be called with the constant NULL where samples weigh the same: nothing is multiplied then.
    """
    # Most samples of a node are in one slot of a tree, whose sum waits for itself: trees in turn.
    cdef int32_t[TREES] n_touched
    cdef const int32_t* holder
    cdef double* record
    cdef int32_t i, j, width, slot, t = 0
    cdef Py_ssize_t k
    while t < strides.n_trees:
        width = min(TREES, <int32_t> strides.n_trees - t)
        for j in range(width):
            n_touched[j] = 0
        for i in range(n):
            holder = trees[t].holder + samples[i] * strides.n_trees
            fetch_ahead(holder + TREES)
            for j in range(width):
                slot = holder[j]
                record = trees[t + j].records + slot * strides.record
                # Written always and counted the first time: no branch to mispredict.
                touched[j, n_touched[j]] = slot
                n_touched[j] += record[GAP] != TOUCHED
                record[GAP] = TOUCHED
                for k in range(n_outputs):
                    if sample_weight == NULL:
                        record[STATS + k] -= step[k]
                    else:
                        record[STATS + k] -= step[k] * sample_weight[samples[i]]
        for j in range(width):
            best[t + j] = best_touched(
                trees + t + j, strides, n_outputs, sample_weight != NULL, &touched[j, 0],
                n_touched[j],
            )
        t += TREES


cdef inline int32_t best_touched(
    const Slots* slots, Strides strides, Py_ssize_t n_outputs, bint weighted,
    const int32_t* touched, int32_t n_touched,
) noexcept nogil:
    """Find the gaps of the touched slots; return the slot of the largest, or one that is lost."""
    cdef int32_t i, slot, best = 0, lost = 0
    cdef double gap, anchor, largest = 0.0
    cdef double* record
    cdef Py_ssize_t k
    for i in range(n_touched):
        slot = touched[i]
        record = slots.records + slot * strides.record
        gap = 0.0
        for k in range(n_outputs):
            gap += record[STATS + k] * record[STATS + k]
        if weighted:  # slot 0 holds whatever is left over
            gap = gap / record[STATS + n_outputs + 1] if slot > 0 else 0.0
        else:
            gap *= record[INVERSE]
        record[GAP] = gap
        anchor = max(record[STATS + n_outputs], gap)
        record[STATS + n_outputs] = anchor
        if gap < LEAST_GAP * anchor:
            record[GAP] = -1.0
            lost = slot
        best = slot if gap > largest else best
        largest = gap if gap > largest else largest
    return lost if lost > 0 else best


cdef class WeightedSquaredLoss(SquaredLoss):
    """Squared error of samples with weights: a node's weight is its weighted mean residual.

    The residuals are kept times the weights of their samples.

    Parameters
    ----------
    residuals : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Targets minus the intercept.
    sample_weight : ndarray of float64 of shape (n_samples,)
        Positive.
    """

    def __init__(self, residuals, sample_weight):
        SquaredLoss.__init__(self, residuals * sample_weight[:, None])
        self.sample_weight = sample_weight
        # Behind the sums and their anchor stands the weight of the node.
        self.width = self.n_outputs + 2

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double total = 0.0
        cdef int32_t i
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            out[k] = 0.0
        for i in range(n):
            total += self.sample_weight[samples[i]]
            for k in range(self.n_outputs):
                out[k] += self.residuals[samples[i], k]
        out[self.n_outputs] = 0.0
        out[self.n_outputs + 1] = total
        for k in range(self.n_outputs):
            out[self.n_outputs] += out[k] * out[k] / total

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / stats[self.n_outputs + 1]
            gap += stats[k] * weight[k]
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        for k in range(self.n_outputs):
            self.step[k] = step[k]
        for i in range(n):
            for k in range(self.n_outputs):
                self.residuals[samples[i], k] -= step[k] * self.sample_weight[samples[i]]

    cdef void spread(
        self, const int32_t* samples, int32_t n, const Slots* trees, Strides strides,
        int32_t* best,
    ) noexcept nogil:
        spread_step(
            samples, n, trees, strides, &self.step[0], self.n_outputs, &self.sample_weight[0],
            self.touched, best,
        )
