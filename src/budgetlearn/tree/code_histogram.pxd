from libc.stdint cimport int32_t

from ._codes cimport Codes
from .splitter cimport Column, Search

cdef enum:
    MAX_BUCKETS = 256


cdef void fill_histogram(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil
cdef bint tally(
    Search* search, Column* column, Codes codes, const int32_t* rows, Py_ssize_t n_codes
) noexcept nogil
