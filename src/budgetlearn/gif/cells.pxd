"""The cells of one feature in the order of a node: gathered, counted and summed up.

Cells are the numbers of the table, or codes whose order is that of the numbers: a comparison of
codes has the same outcome, reads an eighth or a quarter of the bytes, and goes many at once.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

ctypedef fused cell_t:
    uint8_t
    uint16_t
    double

cdef extern from *:
    """
    static const double AS_DOUBLE[2] = {1.0, 0.0};
    """
    const double* AS_DOUBLE


cdef inline void gather(
    const cell_t* column, const int32_t* samples, int32_t n, cell_t* values, double* low,
    double* high,
) noexcept nogil:
    """Copy the cells of the samples, two or more; find their least and largest."""
    cdef cell_t even = column[samples[0]], odd = column[samples[n - 1]]
    cdef cell_t even_least = even, odd_least = odd, even_largest = even, odd_largest = odd
    cdef int32_t i
    if cell_t is not double:
        for i in range(n):
            values[i] = column[samples[i]]
        for i in range(n):  # many codes at once
            even_least = min(even_least, values[i])
            even_largest = max(even_largest, values[i])
    else:
        # Two of each: one would wait for itself. Where n is odd, the last value has no partner.
        values[n - 1] = odd
        for i in range(0, n - 1, 2):
            even = values[i] = column[samples[i]]
            odd = values[i + 1] = column[samples[i + 1]]
            even_least = even if even < even_least else even_least
            odd_least = odd if odd < odd_least else odd_least
            even_largest = even if even > even_largest else even_largest
            odd_largest = odd if odd > odd_largest else odd_largest
    low[0] = odd_least if odd_least < even_least else even_least
    high[0] = odd_largest if odd_largest > even_largest else even_largest


cdef inline double sum_below(
    const double* targets, const cell_t* values, cell_t cut, int32_t n, int32_t* n_left
) noexcept nogil:
    """Return the sum of the targets whose cells are not above the cut; count them."""
    # Multiplied by 0 or 1: a branch could not be predicted. Two sums hide the latency.
    cdef double even = 0.0, odd = 0.0
    cdef int32_t i, first, second, n_above = 0
    for i in range(0, n - 1, 2):
        first = values[i] > cut
        second = values[i + 1] > cut
        n_above += first + second
        even += targets[i] * AS_DOUBLE[first]
        odd += targets[i + 1] * AS_DOUBLE[second]
    if n % 2:
        first = values[n - 1] > cut
        n_above += first
        even += targets[n - 1] * AS_DOUBLE[first]
    n_left[0] = n - n_above
    return even + odd


cdef inline int64_t count_above(const cell_t* values, cell_t cut, int32_t n) noexcept nogil:
    """Count the cells above the cut."""
    # Without a branch, so that the compiler compares many at once; in 32 bits, of which more fit
    # into a register than of 64.
    cdef int32_t i, count = 0
    for i in range(n):
        count += values[i] > cut
    return count


cdef inline void add_counts(
    const cell_t* column, const int32_t* samples, const int32_t* ends, Py_ssize_t n_classes,
    Py_ssize_t lane, int32_t* counts,
) noexcept nogil:
    """Count samples, which come class by class, by code and class.

    Neighbours, often of one code, are counted `lane` apart, in four copies: in one, the second would
    wait until the count of the first is in memory. A lane of 0 makes one copy of them.
    """
    cdef Py_ssize_t k
    cdef int32_t i, start = 0
    for k in range(n_classes):
        for i in range(start, ends[k]):
            counts[(i & 3) * lane + <Py_ssize_t> column[samples[i]] * n_classes + k] += 1
        start = ends[k]
