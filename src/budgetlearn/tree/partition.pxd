"""Bring the examples of a node that go left to the front, in place and in their order."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from .codes cimport Codes, gather

ctypedef fused value_t:
    uint8_t
    uint16_t
    uint32_t
    double


# The examples of a tree in the order of its leaves, and room for as many.
# A grower that keeps rows alone leaves the other pointers at NULL.
cdef struct Examples:
    int32_t* rows
    int32_t* labels
    double* weights
    int32_t* spare_rows
    int32_t* spare_labels
    double* spare_weights


cdef inline Py_ssize_t partition(
    Examples* examples,
    Py_ssize_t start,
    Py_ssize_t end,
    const value_t* values,    # IN of each row, or with `in_order` of each example from `start` on
    value_t cut,              # IN examples with a value up to it go left
    bint in_order,
    bint whole,               # IN whether labels and weights move too
    value_t* below,           # OUT the largest value on the left; INOUT, NULL when not asked for
    value_t* above,           # OUT the smallest value on the right
) noexcept nogil:
    """Partition the examples [start, end); return where the right side begins.

    `below` comes with the least value of its type, `above` with the largest. To be called with
    constants for `in_order`, `whole` and NULL: the compiler drops what is not needed.
    """
    cdef Py_ssize_t i, middle = start, moved = 0
    cdef int32_t row
    cdef value_t value
    cdef bint left
    for i in range(start, end):
        # Each example is written to both sides and counted on one: no branch to mispredict.
        row = examples.rows[i]
        value = values[i - start] if in_order else values[row]
        left = value <= cut
        if whole:
            examples.labels[middle] = examples.spare_labels[moved] = examples.labels[i]
            examples.weights[middle] = examples.spare_weights[moved] = examples.weights[i]
        examples.rows[middle] = examples.spare_rows[moved] = row
        middle += left
        moved += not left
        if below != NULL:
            below[0] = max(below[0], value if left else below[0])
            above[0] = min(above[0], above[0] if left else value)
    memcpy(examples.rows + middle, examples.spare_rows, moved * sizeof(int32_t))
    if whole:
        memcpy(examples.labels + middle, examples.spare_labels, moved * sizeof(int32_t))
        memcpy(examples.weights + middle, examples.spare_weights, moved * sizeof(double))
    return middle


cdef inline Py_ssize_t partition_by_codes(
    Examples* examples,
    Py_ssize_t start,
    Py_ssize_t end,
    Codes codes,
    int32_t cut,              # IN codes up to it go left
    int32_t missing,          # IN and this one; -1: none besides
    int32_t member,           # IN not the cut but this code goes right, the rest left; -1: the cut
    uint32_t* scratch,        # (end - start,)
    int32_t* below,           # OUT the codes next to the cut; 0 and 1 with a member
    int32_t* above,
) noexcept nogil:
    """Partition the examples [start, end) by codes; return where the right side begins."""
    cdef uint32_t low, high, largest_left = 0, smallest_right = 0xFFFFFFFF
    cdef uint32_t first = 1 if missing >= 0 else 0
    cdef Py_ssize_t i, middle
    gather(codes, examples.rows + start, end - start, scratch, &low, &high)
    if member >= 0:
        for i in range(end - start):
            scratch[i] = scratch[i] == <uint32_t> member
    elif missing >= 0:
        # Missing values have the largest code: moved below all others, they go left with them.
        for i in range(end - start):
            scratch[i] = 0 if scratch[i] == <uint32_t> missing else scratch[i] + 1
    middle = partition(
        examples, start, end, scratch, <uint32_t> cut + first, True, True, &largest_left,
        &smallest_right,
    )
    below[0], above[0] = <int32_t> (largest_left - first), <int32_t> (smallest_right - first)
    return middle
