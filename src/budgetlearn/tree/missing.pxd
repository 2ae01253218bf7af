from libc.stdint cimport int32_t, uint32_t

from ._codes cimport Codes
from .partition cimport Examples
from .splitter cimport Column, Search


cdef void examine_both_sides(
    Search* search, Column* column, Examples* examples, uint32_t missing, Py_ssize_t feature,
    double price, double rank,
) noexcept nogil
cdef Py_ssize_t partition_missing_left(
    Examples* examples, Py_ssize_t start, Py_ssize_t end, Codes codes, int32_t cut,
    uint32_t missing, uint32_t* scratch, int32_t* below, int32_t* above,
) noexcept nogil
cdef bint left_is_heavier(
    const double* weights, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end
) noexcept nogil
