from .splitter cimport Column, Search


cdef void scan_stumps(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil
