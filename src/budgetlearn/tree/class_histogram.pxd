from libc.stdint cimport int32_t, uint64_t

from .codes cimport Codes
from .search cimport Column, Search


cdef enum:
    LANES = 2              # copies of the cells, so that sums do not wait for each other


# Where the examples of a node are counted: a cell for each (code, class) of a feature.
cdef struct ClassHistogram:
    double* weights        # (LANES, n_codes << bits): zero between uses
    uint64_t* marks        # (LANES, n_words): a bit for each cell in use; zero between uses
    int bits               # cell = code << bits | class
    double* left           # (n_classes,): scratch
    double* right


cdef Py_ssize_t n_mark_words(const ClassHistogram* histogram, Py_ssize_t n_codes) noexcept nogil
cdef bint examine_classes(
    Search* search, ClassHistogram* histogram, const Column* column, Codes codes,
    const int32_t* rows, Py_ssize_t n_codes, Py_ssize_t feature, double price, double rank,
) noexcept nogil
