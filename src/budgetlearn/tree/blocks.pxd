from .splitter cimport Search


cdef class Blocks:
    cdef:
        void* blocks[40]
        Py_ssize_t n_blocks

    cdef void* get(self, Py_ssize_t size, bint zero=*) except NULL


cdef object allocate(
    Blocks blocks, Search* search, Py_ssize_t n, Py_ssize_t K, Py_ssize_t n_codes
)
