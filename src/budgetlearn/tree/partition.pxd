"""Move the examples of a node that go left to the front, in place and stably."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from .codes cimport Codes, gather

ctypedef fused value_t:
    uint8_t
    uint16_t
    uint32_t
    double


# The examples of a tree in the order of its leaves, and spare room of the same size.
# A grower that only needs rows leaves the other pointers at NULL.
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
    const value_t* values,    # IN of each row; with `in_order`, of each example of [start, end)
    value_t cut,              # IN examples with value <= cut go left
    bint in_order,
    bint whole,               # IN whether labels and weights move too
    value_t* below,           # INOUT the largest value on the left; NULL if not wanted
    value_t* above,           # INOUT the smallest value on the right
) noexcept nogil:
    """Partition the examples [start, end); return where the right side begins.

    Initialise `below` with the least value of its type and `above` with the largest. Pass constants
    for `in_order`, `whole` and NULL, so that the compiler drops the unused branches.
    """
    cdef Py_ssize_t i, middle = start, moved = 0
    cdef int32_t row
    cdef value_t value
    cdef bint left
    for i in range(start, end):
        # Every example is written to both sides and counted on one: no branch to mispredict.
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
    int32_t cut,              # IN codes <= cut go left
    int32_t missing,          # IN a code that goes left, too; -1: none
    int32_t member,           # IN if >= 0, only this code goes right, whatever the cut
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
        # Missing values have the largest code. Moved below all others, they go left.
        for i in range(end - start):
            scratch[i] = 0 if scratch[i] == <uint32_t> missing else scratch[i] + 1
    middle = partition(
        examples, start, end, scratch, <uint32_t> cut + first, True, True, &largest_left,
        &smallest_right,
    )
    below[0], above[0] = <int32_t> (largest_left - first), <int32_t> (smallest_right - first)
    return middle
