"""Scratch memory of a tree in the making."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from .splitter cimport Search


cdef class Blocks:
    """Blocks of memory that live as long as it does."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    cdef void* get(self, Py_ssize_t size, bint zero=False) except NULL:
        """Return a block of so many bytes."""
        cdef void* memory = calloc(max(size, 1), 1) if zero else malloc(max(size, 1))
        if memory == NULL:
            raise MemoryError(f"no {size} bytes left to grow a tree")
        self.blocks[self.n_blocks] = memory
        self.n_blocks += 1
        return memory


cdef object allocate(
    Blocks blocks, Search* search, Py_ssize_t n, Py_ssize_t K, Py_ssize_t n_codes
):
    """Give a search its scratch, for n examples of K classes and features of `n_codes` codes."""
    search.inside.codes = <uint32_t*> blocks.get(n * sizeof(uint32_t))
    search.inside.labels = <int32_t*> blocks.get(n * sizeof(int32_t))
    search.inside.weights = <double*> blocks.get(n * sizeof(double))
    search.keys = <uint64_t*> blocks.get(n * sizeof(uint64_t))
    search.spare_keys = <uint64_t*> blocks.get(n * sizeof(uint64_t))
    search.present = <uint64_t*> blocks.get((n_codes // 64 + 1) * sizeof(uint64_t), True)
    search.histogram = <double*> blocks.get(max(2 * n + 64, 256 * K) * sizeof(double))
    search.bounds = <double*> blocks.get(2 * max(n + 64, 256) * sizeof(double))
    search.node.counts = <double*> blocks.get(K * sizeof(double))
    search.left.counts = <double*> blocks.get(K * sizeof(double))
    search.right.counts = <double*> blocks.get(K * sizeof(double))
    search.left_inside.counts = <double*> blocks.get(K * sizeof(double))
    search.right_inside.counts = <double*> blocks.get(K * sizeof(double))
    search.without.counts = <double*> blocks.get(K * sizeof(double))
