from libc.stdint cimport uint32_t, uint64_t


cdef uint64_t* sort_keys(
    uint64_t* keys, uint64_t* spare, Py_ssize_t n, uint32_t largest
) noexcept nogil
