"""Splits of examples of which some have no value: they go to the side where the split is better.

A missing value has a code of its own, the largest one of its feature. So the usual search sees the
missing ones on the right of every threshold, and, at the end, alone on the right. A second search
among the others begins with them on the left.
"""

from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memset

from ._codes cimport Codes, gather
from .partition cimport Examples, partition
from .splitter cimport Column, Missing, Search, examine


cdef void examine_both_sides(
    Search* search,
    Column* column,           # IN of which some are missing; its codes are scratch afterwards
    Examples* examples,       # its spare arrays are scratch
    uint32_t missing,         # IN their code
    Py_ssize_t feature,
    double price,
    double rank,
) noexcept nogil:
    """Offer the thresholds of a feature twice: missing values on the right, and on the left."""
    cdef Column known = Column(
        0, column.codes, examples.spare_labels, examples.spare_weights, missing, 0
    )
    cdef Py_ssize_t i
    cdef uint32_t code
    search.missing = Missing.RIGHT
    examine(search, column, feature, price, rank)
    memset(search.without.counts, 0, search.n_classes * sizeof(double))
    for i in range(column.size):
        code = column.codes[i]
        if code == missing:
            search.without.counts[column.labels[i]] += column.weights[i]
            continue
        known.codes[known.size] = code
        known.labels[known.size] = column.labels[i]
        known.weights[known.size] = column.weights[i]
        known.size += 1
        known.low, known.high = min(known.low, code), max(known.high, code)
    if known.low < known.high:
        search.missing = Missing.LEFT
        examine(search, &known, feature, price, rank)
    search.missing = Missing.NONE


cdef Py_ssize_t partition_missing_left(
    Examples* examples,
    Py_ssize_t start,
    Py_ssize_t end,
    Codes codes,
    int32_t cut,              # IN codes up to it go left
    uint32_t missing,         # IN and this one
    uint32_t* scratch,        # (end - start,)
    int32_t* below,           # OUT the codes next to the cut
    int32_t* above,
) noexcept nogil:
    """Partition the examples [start, end); return where the right side begins."""
    cdef uint32_t low, high, largest_left = 0, smallest_right = 0xFFFFFFFF
    cdef Py_ssize_t i, middle
    gather(codes, examples.rows + start, end - start, scratch, &low, &high)
    for i in range(end - start):
        scratch[i] = 0 if scratch[i] == missing else scratch[i] + 1
    middle = partition(
        examples, start, end, scratch, <uint32_t> cut + 1, True, True, &largest_left,
        &smallest_right,
    )
    below[0], above[0] = <int32_t> (largest_left - 1), <int32_t> (smallest_right - 1)
    return middle


cdef bint left_is_heavier(
    const double* weights, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end
) noexcept nogil:
    """Say whether the examples [start, middle) weigh more than [middle, end)."""
    cdef double more = 0.0
    cdef Py_ssize_t i
    for i in range(start, middle):
        more += weights[i]
    for i in range(middle, end):
        more -= weights[i]
    return more > 0
