"""Kernel: features in codes of 16 bits, for tables whose rows no forest can keep for each tree.

The code of a value is its place on a grid of the feature, an even number. A threshold cuts the
values of one code at most: these few are looked up in the table itself. So splits are those of the
values, bit for bit, while a pass over a feature reads a quarter of the memory.
"""

import numpy as np

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int64_t

cdef enum:
    MOST_CODES = 32766
    ROWS_PER_CODE = 16  # fewer codes than this allows would cut many values; more take memory
    BLOCK = 64          # codes that are compared together
    ROWS = 1024         # that are coded while they are in the cache


cdef class CodedColumns:
    """The features of a table as codes, the table staying as it is."""

    def __init__(self, X):
        n_codes = min(MOST_CODES, max(256, len(X) // ROWS_PER_CODE))
        self.shape, self.given = X.shape, X
        self.cells = <const char*> <size_t> X.ctypes.data
        self.row, self.column = X.strides
        self.single = X.dtype == np.float32
        low, high = np.fmin.reduce(X).astype(float), np.fmax.reduce(X).astype(float)
        # Halves, so that no difference overflows; features of one value have one code.
        with np.errstate(divide="ignore", over="ignore"):
            scale = (n_codes - 1) / 2 / (high / 2 - low / 2)
        self.scale = np.where(np.isfinite(scale), scale, 0.0)
        self.offset = low * self.scale
        self.codes = np.empty(X.shape, dtype=np.uint16, order="F")
        self.least, self.largest = np.full((2, X.shape[1], n_codes + 1), np.inf)
        np.negative(self.largest, out=np.asarray(self.largest))
        gaps = np.zeros(X.shape[1], dtype=np.uint8)
        self.encode(gaps)
        self.gaps = gaps

    cdef void encode(self, uint8_t[::1] gaps):
        """Code all cells; find the least and the largest value of each code."""
        cdef Py_ssize_t start, i, feature
        cdef double value
        cdef int32_t code
        for start in range(0, self.codes.shape[0], <Py_ssize_t> ROWS):
            for feature in range(self.codes.shape[1]):
                for i in range(start, min(start + ROWS, self.codes.shape[0])):
                    value = self.cell(i, feature)
                    if isnan(value):
                        gaps[feature] = True
                        self.codes[i, feature] = MISSING
                        continue
                    code = self.place(feature, value)
                    self.codes[i, feature] = 2 * code
                    self.least[feature, code] = min(self.least[feature, code], value)
                    self.largest[feature, code] = max(self.largest[feature, code], value)

    cdef double cell(self, Py_ssize_t i, Py_ssize_t feature) noexcept nogil:
        cdef const char* at = self.cells + i * self.row + feature * self.column
        return (<const float*> at)[0] if self.single else (<const double*> at)[0]

    cdef int32_t place(self, Py_ssize_t feature, double value) noexcept nogil:
        """Return half the code of a value, at least 1; no larger value has a smaller one."""
        # Every operation rounds monotonically. Far from zero the difference may miss its range.
        cdef double place = value * self.scale[feature] - self.offset[feature]
        return 1 + <int32_t> max(0.0, min(place, self.least.shape[1] - 2.0))

    cdef int32_t look_up(
        self, int32_t feature, const int32_t* order, int32_t n, uint16_t* codes, double* low,
        double* high,
    ) noexcept nogil:
        cdef const uint16_t* column = &self.codes[0, feature]
        cdef uint16_t first = MISSING, last = 0
        cdef int32_t i, n_missing = 0
        for i in range(n):
            codes[i] = column[order[i]]
        for i in range(n):  # many at once
            first = min(first, codes[i])
            last = max(last, codes[i])
        if last == MISSING:
            last = 0
            for i in range(n):
                n_missing += codes[i] == MISSING
                last = max(last, codes[i] if codes[i] < MISSING else 0)
        low[0], high[0] = INFINITY, -INFINITY
        if n_missing < n:
            low[0], high[0] = self.least[feature, first // 2], self.largest[feature, last // 2]
            if low[0] < self.largest[feature, first // 2]:
                low[0] = self.extreme(feature, order, n, codes, first, 1.0)
            if high[0] > self.least[feature, last // 2]:
                high[0] = -self.extreme(feature, order, n, codes, last, -1.0)
        return n_missing

    cdef double extreme(
        self, int32_t feature, const int32_t* order, int32_t n, const uint16_t* codes,
        uint16_t code, double sign,
    ) noexcept nogil:
        """Return the least value of a code among the samples, times the sign."""
        cdef double least = INFINITY
        cdef int32_t i = next_equal(codes, code, 0, n)
        while i < n:
            least = min(least, sign * self.cell(order[i], feature))
            i = next_equal(codes, code, i + 1, n)
        return least

    cdef uint16_t cut(
        self, int32_t feature, double threshold, const int32_t* order, int32_t n, uint16_t* codes
    ) noexcept nogil:
        cdef int32_t place = self.place(feature, threshold), i
        if threshold >= self.largest[feature, place]:
            return 2 * place
        # An earlier threshold may have left its marks.
        for i in range(n):
            codes[i] += codes[i] & 1
        if threshold >= self.least[feature, place]:
            i = next_equal(codes, 2 * place, 0, n)
            while i < n:
                codes[i] -= self.cell(order[i], feature) <= threshold
                i = next_equal(codes, 2 * place, i + 1, n)
        return 2 * place - 1

    cdef void narrow(
        self, int32_t feature, double threshold, bint missing_left, bint left, int32_t start,
        int32_t n, uint8_t* marked,
    ) noexcept nogil:
        cdef const uint16_t* codes = &self.codes[start, feature]
        cdef int32_t place = self.place(feature, threshold), i
        cdef bint reached = threshold >= self.least[feature, place]
        cdef bint passed = threshold >= self.largest[feature, place]
        # Values of the code that is cut stay marked at first.
        cdef uint16_t last = 2 * place - (not (reached if left else passed))
        cdef uint16_t gap = MISSING if missing_left else 0  # no code is 0
        if left:
            for i in range(n):
                marked[i] &= (codes[i] <= last) | (codes[i] == gap)
        else:
            for i in range(n):
                marked[i] &= (codes[i] > last) & (codes[i] != gap)
        if reached and not passed:
            i = next_equal(codes, 2 * place, 0, n)
            while i < n:
                if marked[i]:
                    marked[i] = (self.cell(start + i, feature) <= threshold) == left
                i = next_equal(codes, 2 * place, i + 1, n)


cdef inline int32_t next_equal(
    const uint16_t* codes, uint16_t code, int32_t i, int32_t n
) noexcept nogil:
    """Return the first place from i on where the code is, n: nowhere."""
    cdef int32_t j, end
    cdef uint16_t found
    while i < n:
        # Codes are seldom there: a block is passed over without a branch for each.
        end, found = min(i + BLOCK, n), 0
        for j in range(i, end):
            found |= codes[j] == code
        if found:
            for j in range(i, end):
                if codes[j] == code:
                    return j
        i = end
    return n
