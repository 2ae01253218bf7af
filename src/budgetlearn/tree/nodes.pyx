"""Records of nodes, and blocks of memory."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc

# NumPy's type is derived from the struct, so that both agree.
cdef Node node

NODE_DTYPE = np.asarray(<Node[:1]> &node).dtype


cdef class Blocks:
    """Blocks of memory that are freed together with this object."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    # No block is freed alone: all of them live as long as their owner.
    cdef void* get(self, Py_ssize_t size, bint zero=False) except NULL:
        """Return a new block of `size` bytes, filled with zeros if `zero`."""
        if self.n_blocks == MOST_BLOCKS:
            raise MemoryError(f"more than {MOST_BLOCKS} blocks")
        cdef void* memory = calloc(max(size, 1), 1) if zero else malloc(max(size, 1))
        if memory == NULL:
            raise MemoryError(f"could not allocate {size:,} bytes")
        self.blocks[self.n_blocks] = memory
        self.n_blocks += 1
        return memory

    cdef int32_t* integers(self, Py_ssize_t n) except NULL:
        return <int32_t*> self.get(n * sizeof(int32_t))

    cdef double* numbers(self, Py_ssize_t n) except NULL:
        return <double*> self.get(n * sizeof(double))


cdef tuple columns_of(const GrownNode* nodes, Py_ssize_t n):
    """Return feature, threshold, left and right child, examples and missing_left of n nodes."""
    cdef Py_ssize_t i
    cdef bint sends_missing = False
    integers, thresholds, missing_left = np.empty((4, n), np.int32), np.empty(n), np.empty(n, bool)
    cdef int32_t[:, ::1] out = integers
    cdef double[::1] thresholds_out = thresholds
    cdef uint8_t[::1] missing_out = missing_left.view(np.uint8)
    # Copies, because the grower uses the records for its next tree, and frees them at its end.
    for i in range(n):
        out[0, i], thresholds_out[i] = nodes[i].feature, nodes[i].threshold
        out[1, i], out[2, i], out[3, i] = nodes[i].left, nodes[i].right, nodes[i].n_samples
        missing_out[i] = nodes[i].missing_left
        sends_missing |= nodes[i].missing_left  # usually there is none, and no array is needed
    missing_left = missing_left if sends_missing else None
    return integers[0], thresholds, integers[1], integers[2], integers[3], missing_left
