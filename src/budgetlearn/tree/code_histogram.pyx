"""Count the classes of a node by the codes of a feature, one by one or in buckets of codes."""

from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memset

from ._codes cimport Codes, code_t
from .splitter cimport Column, Search

cdef enum:
    LANES = 4          # copies of a small histogram, so that sums do not wait for each other,
    MANY = 64          # where there are so many examples


cdef inline Py_ssize_t clear_histogram(
    Search* search, Py_ssize_t n_examples, Py_ssize_t size
) noexcept nogil:
    """Zero the histogram; return the distance between its copies, 0 if one is enough."""
    cdef bint copies = n_examples >= MANY and size <= search.n_classes * MAX_BUCKETS // LANES
    memset(search.histogram, 0, (LANES if copies else 1) * size * sizeof(double))
    return size if copies else 0


cdef inline void fold_histogram(Search* search, Py_ssize_t lane) noexcept nogil:
    """Add up the copies of the histogram."""
    cdef Py_ssize_t i
    cdef double* h = search.histogram
    for i in range(lane):
        h[i] += h[lane + i] + h[2 * lane + i] + h[3 * lane + i]


cdef void fill_histogram(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Add up the weights of each class in each bucket of 2**bits codes."""
    cdef Py_ssize_t K = search.n_classes, i
    cdef Py_ssize_t lane = clear_histogram(search, column.size, n_buckets * K)
    cdef double* histogram = search.histogram
    cdef const uint32_t* codes = column.codes
    cdef const int32_t* labels = column.labels
    cdef const double* weights = column.weights
    cdef uint32_t low = column.low
    for i in range(column.size):
        histogram[
            (i & (LANES - 1)) * lane + ((codes[i] - low) >> bits) * K + labels[i]
        ] += weights[i]
    fold_histogram(search, lane)


cdef void tally_codes(
    Search* search, const code_t* codes, const int32_t* rows, const Column* column,
    Py_ssize_t size,
) noexcept nogil:
    """Fill the histogram straight from the table."""
    cdef Py_ssize_t K = search.n_classes, i
    cdef Py_ssize_t lane = clear_histogram(search, column.size, size)
    cdef double* histogram = search.histogram
    cdef const int32_t* labels = column.labels
    cdef const double* weights = column.weights
    for i in range(column.size):
        histogram[(i & (LANES - 1)) * lane + codes[rows[i]] * K + labels[i]] += weights[i]
    fold_histogram(search, lane)


cdef bint tally(
    Search* search, Column* column, Codes codes, const int32_t* rows, Py_ssize_t n_codes
) noexcept nogil:
    """Count a feature of few codes in one pass over the table; say whether it varies.

    Leaves the histogram filled, for `examine_tally`, and `column.codes` as it was.
    """
    cdef Py_ssize_t K = search.n_classes, i
    if codes.codes8 != NULL:
        tally_codes(search, codes.codes8, rows, column, n_codes * K)
    elif codes.codes16 != NULL:
        tally_codes(search, codes.codes16, rows, column, n_codes * K)
    else:
        tally_codes(search, codes.codes32, rows, column, n_codes * K)
    i = 0
    while search.histogram[i] == 0:
        i += 1
    column.low = <uint32_t> (i // K)
    i = n_codes * K - 1
    while search.histogram[i] == 0:
        i -= 1
    column.high = <uint32_t> (i // K)
    return column.low < column.high
