"""Kernel: the splits of a node by Gini's index, by counts of the classes on both sides.

Counts are whole numbers, exact in whatever order they are made. So what many splits ask for is
counted once: in the roots, which are one node for all trees, each code of a feature; in other nodes
all columns that a category was coded in, one-hot, by a single pass over their bundle.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memset

from ..tree.binning import BinnedData
from .cells cimport add_counts, count_above
from .nodes cimport Splitter

cdef enum:
    LANES = 4  # of a sort by class, or of counts: one alone would wait for itself
    MOST_COUNTS = 1 << 24  # of codes by class, 64 MB


cdef inline int64_t count_right(Splitter splitter, int32_t start, int32_t end) noexcept nogil:
    """Count the cells that go right in a part of those gathered."""
    cdef const void* cells = splitter.looked_up + start * splitter.width
    if splitter.width == 1:
        return count_above(<const uint8_t*> cells, <uint8_t> splitter.cut, end - start)
    if splitter.width == 2:
        return count_above(<const uint16_t*> cells, <uint16_t> splitter.cut, end - start)
    return count_above(<const double*> cells, splitter.cut, end - start)


cdef class GiniSplitter(Splitter):
    """Impurity = Gini's index of the classes."""

    cdef:
        const int32_t[::1] codes
        int32_t[::1] by_class   # the samples of a node, one class after the other
        int32_t[::1] ends       # where each class ends there
        int32_t[:, ::1] places  # scratch: of each class, in each lane of the sort
        # Of each code: how many samples of each class have it, or a smaller one, in a root. Filled
        # when a feature is first looked up there.
        int32_t[:, ::1] below
        uint8_t[::1] counted    # features
        # Bundles of columns with two values: their cells, and where each feature belongs, or -1.
        const uint8_t[:, ::1] bundles
        const int32_t[::1] bundle, member
        int32_t[:, ::1] tallies  # (n_bundles, ...) by code and class, in the node; in lanes
        uint8_t[::1] tallied     # bundles, in the node

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, codes, n_classes):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.codes = codes
        self.by_class = np.empty_like(codes)
        self.sorted = &self.by_class[0]
        self.ends = np.empty(n_classes, dtype=np.int32)
        self.places = np.empty((LANES, n_classes), dtype=np.int32)
        self.spread = codes.size - np.square(np.bincount(codes)).sum() / codes.size
        self.tabled = self.width < 8 and self.n_codes * n_classes <= MOST_COUNTS
        if self.tabled:
            self.below = np.zeros((self.n_codes, n_classes), dtype=np.int32)
            self.counted = np.zeros(self.features.shape[0], dtype=np.uint8)
        self.tallied = np.zeros(0, dtype=np.uint8)
        if isinstance(X, BinnedData):
            found, self.bundle, self.member = X.bundles
            self.bundles, self.tallied = found.view(np.uint8), np.zeros(len(found), dtype=np.uint8)
            lane = n_classes * (np.max(self.member) + 1)
            self.tallies = np.empty((len(found), LANES * lane), dtype=np.int32)

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        self.tallied[:] = 0
        # Class by class: counts are then sums of neighbours, many at once. Two classes are parted
        # in one pass, without counting first.
        if self.ends.shape[0] == 2:
            self.ends[0] = part_classes(&self.codes[0], samples, n, &self.by_class[0])
            self.ends[1] = n
            return 0 < self.ends[0] < n
        return sort_classes(
            &self.codes[0], samples, n, &self.by_class[0], &self.ends[0], self.places
        )

    cdef bint tally(self, int32_t n, double* low, double* high) noexcept nogil:
        cdef Py_ssize_t k, lane, n_classes = self.ends.shape[0]
        cdef int32_t bundle, ones = 0
        cdef int32_t* counts
        if self.tallied.shape[0] == 0:
            return False
        bundle, lane = self.bundle[self.feature], self.tallies.shape[1] // LANES
        # To clear the counts of few samples would take longer than to look at them.
        if bundle < 0 or n < lane:
            return False
        counts = &self.tallies[bundle, 0]
        if not self.tallied[bundle]:
            memset(counts, 0, LANES * lane * sizeof(int32_t))
            self.add(&self.bundles[bundle, 0], lane, counts)
            for k in range(lane):
                counts[k] += counts[lane + k] + counts[2 * lane + k] + counts[3 * lane + k]
            self.tallied[bundle] = True
        # A column has its larger value where the bundle has its code, and the smaller elsewhere.
        self.right = counts + self.member[self.feature] * n_classes
        for k in range(n_classes):
            ones += self.right[k]
        low[0] = high[0] if ones == n else low[0]
        high[0] = low[0] if ones == 0 else high[0]
        return True

    cdef void add(self, const uint8_t* column, Py_ssize_t lane, int32_t* counts) noexcept nogil:
        """Count the samples of the node by code and class."""
        cdef const int32_t* order = &self.by_class[0]
        cdef const int32_t* ends = &self.ends[0]
        if self.width == 1:
            add_counts(column, order, ends, self.ends.shape[0], lane, counts)
        else:
            add_counts(<const uint16_t*> column, order, ends, self.ends.shape[0], lane, counts)

    cdef double score(self, int32_t n) noexcept nogil:
        cdef:
            int64_t n_left = 0, of_left = 0, of_right = 0, of_all = 0, left, right, total
            int32_t start = 0
            Py_ssize_t k
            const int32_t* below = NULL
        if self.whole and self.tabled:
            below = self.counts_below()
        # n times Gini's index is n - sum of squared counts / n; whole numbers are exact.
        for k in range(self.ends.shape[0]):
            total = self.ends[k] - start
            if below != NULL:
                right = total - below[k]
            elif self.right != NULL:
                right = self.right[k]
            else:
                right = count_right(self, start, self.ends[k])
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
        cdef Py_ssize_t first = self.offsets[self.feature], code, k
        if not self.counted[self.feature]:
            self.add(self.looked_up, 0, &self.below[first, 0])
            for code in range(first + 1, self.offsets[self.feature + 1]):
                for k in range(self.ends.shape[0]):
                    self.below[code, k] += self.below[code - 1, k]
            self.counted[self.feature] = True
        return &self.below[first + <Py_ssize_t> self.cut, 0]


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
    int32_t[:, ::1] places,
) noexcept nogil:
    """Copy the samples, one class after the other; return False where there is one class only."""
    cdef int32_t i, code, lane, size, start = 0, length = n // LANES
    cdef Py_ssize_t k
    places[:] = 0
    # A counting sort in lanes: each takes its stretch of the samples and has counts of its own. Of
    # neighbours of one class the second would wait until the count of the first is in memory.
    for i in range(length):
        for lane in range(LANES):
            places[lane, codes[samples[lane * length + i]]] += 1
    for i in range(LANES * length, n):
        places[LANES - 1, codes[samples[i]]] += 1
    # From here on a place is the next free one: all classes before, and the lanes before in this.
    for k in range(places.shape[1]):
        for lane in range(LANES):
            size = places[lane, k]
            places[lane, k] = start
            start += size
        ends[k] = start
        if places[0, k] == 0 and start == n:  # pure: not worth sorting
            return False
    for i in range(length):
        for lane in range(LANES):
            code = codes[samples[lane * length + i]]
            by_class[places[lane, code]] = samples[lane * length + i]
            places[lane, code] += 1
    for i in range(LANES * length, n):
        code = codes[samples[i]]
        by_class[places[LANES - 1, code]] = samples[i]
        places[LANES - 1, code] += 1
    return True
