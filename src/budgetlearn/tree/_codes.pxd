"""The types of rank codes, and the codes of one feature."""

from libc.stdint cimport int32_t, uint8_t, uint16_t

ctypedef fused code_t:
    uint8_t
    uint16_t


# The codes of one feature in the width that its table needs; the other pointer is NULL.
cdef struct Codes:
    const uint8_t* codes8
    const uint16_t* codes16


cdef inline void gather_codes(
    const code_t* codes, const int32_t* rows, Py_ssize_t n, uint16_t* gathered,
    uint16_t* low, uint16_t* high,
) noexcept nogil:
    """Copy the codes of some rows; find the smallest and the largest."""
    cdef uint16_t code, least = 0xFFFF, most = 0
    cdef Py_ssize_t i
    for i in range(n):
        code = codes[rows[i]]
        gathered[i] = code
        least = min(least, code)
        most = max(most, code)
    low[0], high[0] = least, most


cdef inline double midpoint(double low, double high) noexcept nogil:
    """Return a threshold halfway between two values, never equal to the upper one."""
    cdef double middle = low / 2 + high / 2  # low + high may overflow
    return middle if low <= middle < high else low
