from ._random cimport uniform
from .splitter cimport Column, Search


# What is still to be drawn: so many of so many thresholds.
cdef struct Sample:
    Py_ssize_t n_wanted, n_left


cdef inline Py_ssize_t n_stumps(Py_ssize_t n_examples) noexcept nogil:
    """Return the paper's number of random stumps for a node: 80, 40 or 20."""
    return 80 if n_examples > 2000 else 40 if n_examples > 500 else 20


cdef inline bint draw(Search* search, Sample* sample) noexcept nogil:
    """Say whether the next threshold is in the sample, which each is equally likely to be."""
    cdef bint drawn = uniform(&search.random) * sample.n_left < sample.n_wanted
    sample.n_wanted -= drawn
    sample.n_left -= 1
    return drawn


cdef Py_ssize_t count_occupied(const Search* search, Py_ssize_t n_codes) noexcept nogil
cdef void scan_stumps(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil
