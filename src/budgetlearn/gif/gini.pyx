"""Kernel: the splits of a node by Gini's index, from counts of the classes on both sides.

Counts are whole numbers, exact in whatever order they are made. So what all roots ask for, which
are one node, is counted once: how many of each class lie below each code of a feature.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from .nodes cimport Splitter

cdef enum:
    MOST_COUNTS = 1 << 24  # of codes by class, 64 MB


cdef class GiniSplitter(Splitter):
    """Impurity = Gini's index of the classes."""

    cdef:
        const int32_t[::1] codes
        int32_t[::1] by_class   # the samples of a node, one class after the other
        int32_t[::1] ends       # where each class ends there
        # Of each code: how many samples of each class have it, or a smaller one, in a root. Filled
        # when a feature is first looked up there.
        int32_t[:, ::1] below
        uint8_t[::1] counted    # features
        int32_t[::1] up_to_cut  # of each class, in a root

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, codes, n_classes):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.codes = codes
        self.by_class = np.empty_like(codes)
        self.sorted = &self.by_class[0]
        self.ends = np.empty(n_classes, dtype=np.int32)
        self.spread = codes.size - np.square(np.bincount(codes)).sum() / codes.size
        if self.width < 8:
            self.tabulate()

    def look_at(self, bins):
        Splitter.look_at(self, bins)
        self.tabulate()

    def tabulate(self):
        """Make room for the counts of a root, if these are not too many."""
        n_codes, n_classes = self.offsets[self.features.shape[0]], self.ends.shape[0]
        self.tabled = n_codes * n_classes <= MOST_COUNTS
        if self.tabled:
            self.below = np.zeros((n_codes, n_classes), dtype=np.int32)
            self.counted = np.zeros(self.features.shape[0], dtype=np.uint8)
            self.up_to_cut = np.empty(n_classes, dtype=np.int32)

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        # Class by class: counts are then sums of neighbours, many at once. Two classes are parted
        # in one pass, without counting first.
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
        # n times Gini's index is n - sum of squared counts / n; whole numbers are exact.
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
        """Return how many samples of each class have cells up to the cut, in a root."""
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
            self.up_to_cut[k] = below[<Py_ssize_t> self.cut * n_classes + k]
        for i in range(self.n_beyond):  # of the last code to the left, whose cells are in doubt
            self.up_to_cut[self.codes[self.moved[i]]] -= 1
        return &self.up_to_cut[0]


cdef inline int64_t count_right(Splitter splitter, int32_t start, int32_t end) noexcept nogil:
    """Count the cells that go right in a part of those gathered."""
    cdef const double* numbers = <const double*> splitter.looked_up
    if splitter.in_bytes:
        return count_above(splitter.looked_up + start, <uint8_t> splitter.cut, end - start)
    return count_numbers_above(numbers + start, splitter.cut, end - start)


cdef inline int32_t count_above(const uint8_t* values, uint8_t cut, int32_t n) noexcept nogil:
    # Without a branch, so that the compiler compares many at once.
    cdef int32_t i, above = 0
    for i in range(n):
        above += values[i] > cut
    return above


cdef extern from *:
    """
    #include <string.h>

    /* Compilers compare whole numbers many at once, and doubles one by one: so the sign of a
     * difference is taken, which is that of the comparison. There is no NaN. */
    static inline int64_t count_numbers_above(const double *values, double cut, int32_t n) {
        uint64_t above = 0, bits;
        for (int32_t i = 0; i < n; ++i) {
            double left = cut - values[i];
            memcpy(&bits, &left, sizeof bits);
            above += bits >> 63;
        }
        return (int64_t) above;
    }
    """
    int64_t count_numbers_above(const double* values, double cut, int32_t n) noexcept nogil


cdef inline int32_t part_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class
) noexcept nogil:
    """Copy the samples, class 0 to the front and class 1 to the back; count class 0."""
    # Invariant: by_class[:front] are of class 0 and by_class[back + 1:] of class 1, the latter in
    # reverse: counts do not ask for an order.
    cdef int32_t i, code, front = 0, back = n - 1
    for i in range(n):
        # Each is written to both ends and counted at one: no branch to mispredict.
        by_class[front] = by_class[back] = samples[i]
        code = codes[samples[i]]
        front += 1 - code
        back -= code
    return front


cdef inline bint sort_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class, int32_t* ends,
    Py_ssize_t n_classes,
) noexcept nogil:
    """Copy the samples, one class after the other; return False where there is one class only."""
    cdef int32_t i, code, total, start = 0
    cdef Py_ssize_t k
    for k in range(n_classes):
        ends[k] = 0
    # A counting sort: sizes, then starts, which placing turns into ends.
    for i in range(n):
        ends[codes[samples[i]]] += 1
    if ends[codes[samples[0]]] == n:  # pure: not worth sorting
        return False
    # From here on ends[k] is the next free place of class k: the samples before it are placed.
    for k in range(n_classes):
        total = ends[k]
        ends[k] = start
        start += total
    for i in range(n):
        code = codes[samples[i]]
        by_class[ends[code]] = samples[i]
        ends[code] += 1
    return True
