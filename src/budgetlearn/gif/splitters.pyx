"""Kernels: score the splits of a node by Gini's index of classes or by the variance of targets.

Gini's index needs the class counts of both sides, which are whole numbers and exact in any order of
counting. All roots have the same samples, so the class counts up to each code of a feature are
counted once for all roots. The variance needs the sums of the targets on both sides.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from .nodes cimport TOGETHER, Split, Splitter

cdef enum:
    MOST_COUNTS = 1 << 24  # most counts (codes times classes), 64 MB
    FEW = 256  # samples that usually show that a large node is not pure
    OUTPUTS = 4  # outputs that are summed together in registers


cdef class GiniSplitter(Splitter):
    """Splits by Gini's index of the classes."""

    cdef:
        const int32_t[::1] codes
        int32_t[::1] by_class   # the samples of a node, one class after another
        int32_t[::1] ends       # the end of each class in `by_class`
        # For each code, the number of a root's samples of each class with this code or a smaller
        # one. Filled when a feature is first looked up in a root.
        int32_t[:, ::1] below
        uint8_t[::1] counted    # whether each feature is in `below`
        int32_t[::1] up_to_cut  # a root's samples of each class up to the cut

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, codes, n_classes):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.codes = codes
        self.by_class = np.empty_like(codes)
        self.sorted = &self.by_class[0]
        self.ends = np.empty(n_classes, dtype=np.int32)
        self.spread = codes.size - np.square(np.bincount(codes)).sum() / codes.size
        if self.width < 8:
            self.tabulate()

    def look_at(self, bins, table=None):
        Splitter.look_at(self, bins)
        self.tabulate()

    def tabulate(self):
        """Allocate the counts of a root, unless there are too many."""
        n_codes, n_classes = self.offsets[self.features.shape[0]], self.ends.shape[0]
        self.tabled = n_codes * n_classes <= MOST_COUNTS
        if self.tabled:
            self.below = np.zeros((n_codes, n_classes), dtype=np.int32)
            self.counted = np.zeros(self.features.shape[0], dtype=np.uint8)
            self.up_to_cut = np.empty(n_classes, dtype=np.int32)

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        # In the order of classes, counts are sums of neighbours, many at once. Two classes are
        # separated in one pass, without counting first.
        if self.ends.shape[0] == 2:
            self.ends[0] = part_classes(&self.codes[0], samples, n, &self.by_class[0])
            self.ends[1] = n
            return 0 < self.ends[0] < n
        return sort_classes(
            &self.codes[0], samples, n, &self.by_class[0], &self.ends[0], self.ends.shape[0]
        )

    cdef double score(self, int32_t n) noexcept nogil:
        cdef:
            int64_t n_left = 0, of_left = 0, of_right = 0, of_all = 0, left, right, total
            int32_t start = 0
            Py_ssize_t k
            const int32_t* below = NULL
        if self.whole and self.tabled and self.in_bytes:
            below = self.counts_below()
        # n times Gini's index is n - sum of squared counts / n. Whole numbers are exact.
        for k in range(self.ends.shape[0]):
            total = self.ends[k] - start
            right = count_right(self, start, self.ends[k]) if below == NULL else total - below[k]
            left = total - right
            n_left += left
            of_left += left * left
            of_right += right * right
            of_all += total * total
            start = self.ends[k]
        self.n_left = <int32_t> n_left
        return <double> of_left / n_left + <double> of_right / (n - n_left) - <double> of_all / n

    cdef const int32_t* counts_below(self) noexcept nogil:
        """Return the number of a root's samples of each class with cells up to the cut."""
        cdef Py_ssize_t n_classes = self.ends.shape[0], i, n_codes, k
        cdef const uint8_t* cells = self.looked_up
        cdef int32_t* below = &self.below[self.offsets[self.feature], 0]
        n_codes = self.offsets[self.feature + 1] - self.offsets[self.feature]
        if not self.counted[self.feature]:
            for i in range(self.codes.shape[0]):
                below[cells[i] * n_classes + self.codes[i]] += 1
            for i in range(n_classes, n_classes * n_codes):
                below[i] += below[i - n_classes]
            self.counted[self.feature] = True
        for k in range(n_classes):
            self.up_to_cut[k] = below[<Py_ssize_t> self.drawn[0].cut * n_classes + k]
        for i in range(self.n_beyond):  # samples of the last code on the left that go right
            self.up_to_cut[self.codes[self.moved[i]]] -= 1
        return &self.up_to_cut[0]


cdef inline int64_t count_right(Splitter splitter, int32_t start, int32_t end) noexcept nogil:
    """Count the cells that go right in a slice of the looked-up cells."""
    cdef const double* numbers = <const double*> splitter.looked_up + start
    cdef double cut = splitter.drawn[0].cut
    if splitter.in_bytes:
        return count_above(splitter.looked_up + start, <uint8_t> cut, end - start)
    return end - start - sum_below(NULL, 0, 0, numbers, False, cut, end - start, NULL)


cdef inline int32_t count_above(const uint8_t* values, uint8_t cut, int32_t n) noexcept nogil:
    # Without a branch, so that the compiler compares many at once.
    cdef int32_t i, above = 0
    for i in range(n):
        above += values[i] > cut
    return above


cdef extern from *:
    """
    /* Two numbers that one instruction handles, and marks of them: all bits or none are set. */
    typedef double pair __attribute__((vector_size(16)));
    typedef int64_t marks __attribute__((vector_size(16)));

    /* The sums of even and odd places are independent, and one instruction adds to both. A mark
     * has all bits set if its cell goes left, so it keeps the bits of its target. */
    static inline int32_t sum_below(
        const double *targets, ptrdiff_t stride, int width, const void *cells, int in_bytes,
        double cut, int32_t n, double *sums
    ) {
        const uint8_t *codes = (const uint8_t *) cells, last = in_bytes ? (uint8_t) cut : 0;
        const double *numbers = (const double *) cells;
        pair held[4] = {{0.0}}, value;
        marks left, target, n_left = {0};
        int32_t i;
        for (i = 0; i + 1 < n; i += 2) {
            if (in_bytes) {
                left = (marks) {-(int64_t) (codes[i] <= last), -(int64_t) (codes[i + 1] <= last)};
            } else {
                memcpy(&value, numbers + i, sizeof value);
                left = value <= (pair) {cut, cut};
            }
            n_left -= left;
            for (int k = 0; k < width; ++k) {
                memcpy(&target, targets + k * stride + i, sizeof target);
                held[k] += (pair) (target & left);
            }
        }
        if (i < n && (in_bytes ? codes[i] <= last : numbers[i] <= cut)) {
            ++n_left[0];
            for (int k = 0; k < width; ++k)
                held[k][0] += targets[k * stride + i];
        }
        for (int k = 0; k < width; ++k)
            sums[k] = held[k][0] + held[k][1];
        return (int32_t) (n_left[0] + n_left[1]);
    }
    """
    # Sum the targets whose cells are not above the cut, for each output; return their number. Pass
    # a constant width, up to `OUTPUTS`, so that the compiler unrolls the loops.
    int32_t sum_below(
        const double* targets, Py_ssize_t stride, int width, const void* cells, bint in_bytes,
        double cut, int32_t n, double* sums
    ) noexcept nogil


cdef inline int32_t part_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class
) noexcept nogil:
    """Copy the samples, class 0 to the front and class 1 to the back; return the count of 0."""
    # Invariant: by_class[:front] are of class 0 and by_class[back + 1:] of class 1, in reverse.
    cdef int32_t i, code, front = 0, back = n - 1
    for i in range(n):
        # Every sample is written to both ends and counted at one: no branch to mispredict.
        by_class[front] = by_class[back] = samples[i]
        code = codes[samples[i]]
        front += 1 - code
        back -= code
    return front


cdef inline bint sort_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class, int32_t* ends,
    Py_ssize_t n_classes,
) noexcept nogil:
    """Copy the samples, one class after another; return False if there is only one class."""
    cdef int32_t i, code, total, start = 0
    cdef Py_ssize_t k
    for k in range(n_classes):
        ends[k] = 0
    # A counting sort: `ends` holds sizes, then starts, which placing turns into ends.
    for i in range(n):
        ends[codes[samples[i]]] += 1
    if ends[codes[samples[0]]] == n:  # pure, so there is nothing to sort
        return False
    # Now ends[k] is the next free place of class k; the samples before it are placed.
    for k in range(n_classes):
        total = ends[k]
        ends[k] = start
        start += total
    for i in range(n):
        code = codes[samples[i]]
        by_class[ends[code]] = samples[i]
        ends[code] += 1
    return True


# A node is pure if its variance is below this share of the variance of all targets.
cdef double PURITY = 1e-10


cdef class VarianceSplitter(Splitter):
    """Splits by the variance of the targets, summed over the outputs and possibly weighted.

    For one-hot classes this is Gini's index. Targets are read at each split, so they may change, as
    residuals do. They are given times the weights of their samples, as the squared loss keeps its
    residuals. Each column must sum to about 0, so that squares are accurate.
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
            int32_t i, few = min(n, FEW) if self.ahead else n
            double value, total, squares, within = 0.0
            double* gathered
            const double* targets
        self.mass = few
        if self.weighted:
            self.mass = 0.0
            for i in range(few):
                self.node_weights[i] = self.sample_weight[samples[i]]
                self.mass += self.node_weights[i]
        # Stored by output, so that each threshold sums neighbours.
        for k in range(n_outputs):
            targets = &self.targets[0, k]
            gathered = &self.node_targets[k, 0]
            total = squares = 0.0
            for i in range(few):
                value = targets[samples[i] * n_outputs]
                gathered[i] = value
                total += value
                # Targets are given times their weights w, and (w y)^2 / w is w y^2.
                squares += value * (value / self.node_weights[i] if self.weighted else value)
            self.total[k] = total
            # The mass times the variance, which is precise because the means are about 0.
            within += squares - total * total / self.mass
        # A part has no larger sum of squares than the whole, so the few may show that the node is
        # not pure (2: beyond rounding).
        if self.ahead and within <= 2.0 * self.pure_variance * n:
            self.ahead = False  # the few leave it open
            return self.enter(samples, n)
        return within > self.pure_variance * self.mass

    cdef double score(self, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k
            double left, right, total, gain, left_mass, decrease = 0.0
        # Without weights, masses are counts, which come with the sums.
        if self.weighted:
            sum_left(self, &self.node_weights[0], 0, 1, n, &left_mass)
            if self.mass - left_mass <= 0.0:  # lost to rounding
                return 0.0
        if not self.ahead:  # otherwise they are summed already
            sum_left(
                self, &self.node_targets[0, 0], self.node_targets.shape[1], self.total.shape[0], n,
                &self.left[0],
            )
        if not self.weighted:
            left_mass = self.n_left
        for k in range(self.total.shape[0]):
            # m var - m_l var_l - m_r var_r with masses m; the sums of squares cancel.
            left, total = self.left[k], self.total[k]
            right = total - left
            gain = left * left / left_mass + right * right / (self.mass - left_mass)
            total = total * total / self.mass
            # The two orders of operations keep forests the same bit for bit.
            decrease = decrease + gain - total if self.weighted else decrease + (gain - total)
        return decrease

    cdef void score_drawn(self, const int32_t* samples, int32_t n, int n_drawn) noexcept nogil:
        # Additions and their order are those of `enter` and `sum_below`.
        cdef const double* targets = &self.targets[0, 0]
        cdef (const uint8_t*)[TOGETHER] codes
        cdef double[256 * TOGETHER] goes_left  # 1 or 0, by threshold and code
        cdef double[TOGETHER] sums, next_sums, counts
        cdef double side, total = 0.0
        cdef Split* drawn
        cdef int32_t i, k
        for k in range(TOGETHER):
            drawn = &self.drawn[min(k, n_drawn - 1)]  # repeated, so that loops are unrolled
            codes[k] = &self.feature_codes[drawn.feature, 0]
            sums[k] = next_sums[k] = counts[k] = 0.0
            for i in range(256):
                goes_left[256 * k + i] = i <= drawn.cut
        for i in range(n):
            total += targets[samples[i]]
            for k in range(TOGETHER):
                side = goes_left[256 * k + codes[k][samples[i]]]
                # Swapped at each sample: even and odd places have separate sums, as in `sum_below`.
                sums[k], next_sums[k] = next_sums[k], sums[k] + targets[samples[i]] * side
                counts[k] += side
        self.mass, self.total[0] = n, total
        for k in range(n_drawn):
            drawn = &self.drawn[k]
            self.left[0], self.n_left = sums[k] + next_sums[k], <int32_t> counts[k]
            drawn.decrease, drawn.n_left = self.score(n), self.n_left
            for i in range(drawn.place, drawn.end):
                self.table.codes[drawn.feature, self.table.by_value[drawn.feature, i]] -= 1


cdef inline void sum_left(
    Splitter splitter, const double* targets, Py_ssize_t stride, Py_ssize_t n_outputs, int32_t n,
    double* sums,
) noexcept nogil:
    """Sum the targets whose cells go left, `OUTPUTS` outputs at once; count these."""
    cdef const void* cells = splitter.looked_up
    cdef bint in_bytes = splitter.in_bytes
    cdef double cut = splitter.drawn[0].cut
    cdef int32_t n_left = 0
    while n_outputs > 0:
        if n_outputs >= 4:
            n_left = sum_below(targets, stride, 4, cells, in_bytes, cut, n, sums)
        elif n_outputs == 3:
            n_left = sum_below(targets, stride, 3, cells, in_bytes, cut, n, sums)
        elif n_outputs == 2:
            n_left = sum_below(targets, stride, 2, cells, in_bytes, cut, n, sums)
        else:
            n_left = sum_below(targets, stride, 1, cells, in_bytes, cut, n, sums)
        targets, sums, n_outputs = targets + OUTPUTS * stride, sums + OUTPUTS, n_outputs - OUTPUTS
    splitter.n_left = n_left
