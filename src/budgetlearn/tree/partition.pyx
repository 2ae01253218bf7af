"""Partition examples with their labels and weights by codes of any width."""

from libc.stdint cimport int32_t

from ._codes cimport Codes, code_t


cdef inline Py_ssize_t by_codes(
    Examples* examples, Py_ssize_t start, Py_ssize_t end, const code_t* codes, int32_t cut,
    int32_t* below, int32_t* above,
) noexcept nogil:
    cdef code_t largest_left = 0, smallest_right = <code_t> -1
    cdef Py_ssize_t middle = partition(
        examples, start, end, codes, <code_t> cut, False, True, &largest_left, &smallest_right
    )
    below[0], above[0] = largest_left, smallest_right
    return middle


cdef Py_ssize_t partition_by_codes(
    Examples* examples,
    Py_ssize_t start,
    Py_ssize_t end,
    Codes codes,
    int32_t cut,              # IN codes up to it go left
    int32_t* below,           # OUT the codes next to the cut
    int32_t* above,
) noexcept nogil:
    """Partition the examples [start, end); return where the right side begins."""
    if codes.codes8 != NULL:
        return by_codes(examples, start, end, codes.codes8, cut, below, above)
    if codes.codes16 != NULL:
        return by_codes(examples, start, end, codes.codes16, cut, below, above)
    return by_codes(examples, start, end, codes.codes32, cut, below, above)
