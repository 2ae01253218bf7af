from libc.stdint cimport int32_t, uint32_t, uint64_t

from .class_histogram cimport ClassHistogram
from .codes cimport Codes
from .search cimport Column, Missing, Search

# Sorted keys: the rank of a value above the place of its example in `parts`.
ctypedef fused key_t:
    uint32_t           # 16 bits each, see `orders`
    uint64_t           # 32 bits each, see `sort_keys`


# What an example adds to the side of a split that it is on.
cdef struct Part:
    double weight
    double sum             # weight times (target - mean of the node)


# The best threshold of a feature at a node.
cdef struct Cut:
    double numerator       # its drop is numerator / denominator
    double denominator
    double least           # numerator of a drop that still equals it
    Py_ssize_t place       # of keys, the first on the right; of cells, the last code on the left
    Missing missing
    Py_ssize_t n_tied


cdef void centre(
    Search* search, const double* targets, const int32_t* labels, const double* weights,
    Py_ssize_t size, bint by_label, Part* parts, double* mean, bint* pure,
) noexcept nogil
cdef bint scan_keys(
    Search* search, const key_t* keys, Py_ssize_t n, bint has_missing, const Part* parts, Cut* cut
) noexcept nogil
cdef bint scan_counts(
    Search* search, ClassHistogram* histogram, const Column* column, Codes codes,
    const int32_t* rows, Py_ssize_t n_codes, int32_t missing, const Part* parts, Cut* cut,
) noexcept nogil
cdef void offer_cut(Search* search, const Cut* cut, int32_t code) noexcept nogil
