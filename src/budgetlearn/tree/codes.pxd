"""The rank codes of one feature, of any width, and the passes over them."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t


# The codes of one feature; `width` is the number of bytes per code, the same in a whole table.
cdef struct Codes:
    const void* start
    Py_ssize_t width


cdef inline int32_t at(Codes codes, int32_t row) noexcept nogil:
    """Return the code of one row.

    This is the only function that depends on the width. Loops call it with constant codes, so the
    compiler moves the branches out of the loop and makes one loop for each width.
    """
    if codes.width == 1:
        return (<const uint8_t*> codes.start)[row]
    if codes.width == 2:
        return (<const uint16_t*> codes.start)[row]
    return <int32_t> (<const uint32_t*> codes.start)[row]


cdef inline void gather(
    Codes codes, const int32_t* rows, Py_ssize_t n, uint32_t* gathered, uint32_t* low,
    uint32_t* high,
) noexcept nogil:
    """Copy the codes of some rows to 32 bits, and find the smallest and the largest."""
    cdef uint32_t code, least = 0xFFFFFFFF, most = 0
    cdef Py_ssize_t i
    for i in range(n):
        code = at(codes, rows[i])
        gathered[i] = code
        least = min(least, code)
        most = max(most, code)
    low[0], high[0] = least, most


cdef inline void add_up(
    double* cells,            # INOUT of each bucket of codes and each class, in copies
    Py_ssize_t lane,          # IN distance between two copies
    int n_lanes,              # IN a power of two
    Codes codes,
    const int32_t* rows,      # IN NULL: the codes are in the order of the examples
    uint32_t low,             # IN the smallest code
    int bits,                 # IN 2**bits codes share a bucket
    Py_ssize_t n_classes,
    const int32_t* labels,
    const double* weights,
    Py_ssize_t n,
    uint64_t* marks,          # OUT a bit for each cell in use; NULL: not wanted
    Py_ssize_t n_words,       # IN distance between the marks of two copies
) noexcept nogil:
    """Add the weights of examples to the cells of their codes and classes.

    Consecutive examples go to different copies, so that additions to few cells need not wait for
    each other. Pass constants where possible: the compiler then drops the unused branches.
    """
    cdef Py_ssize_t i, cell, copy
    cdef uint32_t code
    for i in range(n):
        code = at(codes, <int32_t> i if rows == NULL else rows[i]) - low
        cell = (<Py_ssize_t> (code >> bits)) * n_classes + labels[i]
        copy = i & (n_lanes - 1)
        cells[copy * lane + cell] += weights[i]
        if marks != NULL:
            marks[copy * n_words + (cell >> 6)] |= <uint64_t> 1 << (cell & 63)


cdef inline double midpoint(double low, double high) noexcept nogil:
    """Return a threshold halfway between two values, never equal to the upper one."""
    cdef double middle = low / 2 + high / 2  # low + high may overflow
    return middle if low <= middle < high else low


cdef inline Py_ssize_t first_above(
    const double* ascending, Py_ssize_t first, Py_ssize_t last, double value
) noexcept nogil:
    """Return the first place in [first, last) with a number above a value, or `last`."""
    cdef Py_ssize_t middle
    # Invariant: numbers before `first` are not above the value, those from `last` on are.
    while first < last:
        middle = (first + last) // 2
        if ascending[middle] <= value:
            first = middle + 1
        else:
            last = middle
    return first
