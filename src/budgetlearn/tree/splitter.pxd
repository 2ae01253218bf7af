from libc.stdint cimport int32_t, uint32_t

from .codes cimport Codes
from .partition cimport Examples
from .search cimport Column, Search


cdef bint tally(
    Search* search, Column* column, Codes codes, const int32_t* rows, Py_ssize_t n_codes
) noexcept nogil
cdef void examine(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil
cdef void examine_tally(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil
cdef bint examine_ones(
    Search* search, const double* ones, Py_ssize_t feature, double price, double rank
) noexcept nogil
cdef void examine_both_sides(
    Search* search, Column* column, Examples* examples, uint32_t missing, Py_ssize_t feature,
    double price, double rank,
) noexcept nogil
