"""The types of rank codes, and the codes of one feature."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t


# The codes of one feature in the width that its table needs; the other pointers are NULL.
cdef struct Codes:
    const uint8_t* codes8
    const uint16_t* codes16
    const uint32_t* codes32


cdef inline int32_t at(Codes codes, int32_t row) noexcept nogil:
    """Return the code of one row."""
    if codes.codes8 != NULL:
        return codes.codes8[row]
    if codes.codes16 != NULL:
        return codes.codes16[row]
    return <int32_t> codes.codes32[row]


cdef inline void gather_codes(
    const code_t* codes, const int32_t* rows, Py_ssize_t n, uint32_t* gathered,
    uint32_t* low, uint32_t* high,
) noexcept nogil:
    cdef uint32_t code, least = 0xFFFFFFFF, most = 0
    cdef Py_ssize_t i
    for i in range(n):
        code = codes[rows[i]]
        gathered[i] = code
        least = min(least, code)
        most = max(most, code)
    low[0], high[0] = least, most


cdef inline void gather(
    Codes codes, const int32_t* rows, Py_ssize_t n, uint32_t* gathered, uint32_t* low,
    uint32_t* high,
) noexcept nogil:
    """Copy the codes of some rows, of any width; find the smallest and the largest."""
    if codes.codes8 != NULL:
        gather_codes(codes.codes8, rows, n, gathered, low, high)
    elif codes.codes16 != NULL:
        gather_codes(codes.codes16, rows, n, gathered, low, high)
    else:
        gather_codes(codes.codes32, rows, n, gathered, low, high)


cdef inline double midpoint(double low, double high) noexcept nogil:
    """Return a threshold halfway between two values, never equal to the upper one."""
    cdef double middle = low / 2 + high / 2  # low + high may overflow
    return middle if low <= middle < high else low
