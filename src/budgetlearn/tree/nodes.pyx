"""The records of nodes, and the memory of a tree in the making."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    LANES = 4          # copies of the class counts, so that sums do not wait for each other

# NumPy's type is taken from the struct, so that both agree.
cdef Node node

NODE_DTYPE = np.asarray(<Node[:1]> &node).dtype


cdef class Blocks:
    """Blocks of memory that live as long as it does."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    # Blocks are freed together, with the tree's scratch: none is freed alone.
    cdef void* get(self, Py_ssize_t size, bint zero=False) except NULL:
        """Return a block of so many bytes."""
        cdef void* memory = calloc(max(size, 1), 1) if zero else malloc(max(size, 1))
        if memory == NULL:
            raise MemoryError(f"no {size:,} bytes of memory left")
        self.blocks[self.n_blocks] = memory
        self.n_blocks += 1
        return memory

    cdef int32_t* integers(self, Py_ssize_t n) except NULL:
        return <int32_t*> self.get(n * sizeof(int32_t))

    cdef double* numbers(self, Py_ssize_t n) except NULL:
        return <double*> self.get(n * sizeof(double))


cdef class Builder(Blocks):
    """Nodes and tasks of one tree, without the GIL."""

    def __cinit__(self, Py_ssize_t n_classes):
        self.n_classes = n_classes
        self.lanes = self.numbers(LANES * n_classes)

    def __dealloc__(self):
        free(self.nodes)
        free(self.counts)
        free(self.tasks)

    cdef int32_t add_node(
        self, int32_t parent, const int32_t* labels, const double* weights, Py_ssize_t size
    ) noexcept nogil:
        """Append a leaf with the class counts of its examples; return its id, -1: no memory.

        Without labels (NULL) the caller fills in `counts`.
        """
        cdef Py_ssize_t K = self.n_classes, i
        cdef double* counts
        # Without the GIL no error can be raised, so it is noted, and `arrays` raises it.
        if not (
            make_room(<void**> &self.nodes, self.n_nodes, sizeof(GrownNode))
            and make_room(<void**> &self.counts, self.n_nodes, K * sizeof(double))
        ):
            self.out_of_memory = True
            return -1
        begin_leaf(self.nodes, self.n_nodes, parent, size)
        self.n_nodes += 1
        if labels != NULL:
            counts = self.counts + (self.n_nodes - 1) * K
            # Additions to one cell wait for each other; neighbours go to different copies.
            memset(self.lanes, 0, LANES * K * sizeof(double))
            for i in range(size):
                self.lanes[(i & (LANES - 1)) * K + labels[i]] += weights[i]
            for i in range(K):
                counts[i] = (self.lanes[i] + self.lanes[K + i]) + (
                    self.lanes[2 * K + i] + self.lanes[3 * K + i]
                )  # always in these pairs: the last bits depend on the order
        return <int32_t> (self.n_nodes - 1)

    cdef void push(self, Task task) noexcept nogil:
        """Note a node to be split later; the last one noted comes first."""
        # A stack: depth first, so that a child's examples are still in the cache.
        if not make_room(<void**> &self.tasks, self.n_tasks, sizeof(Task)):
            self.out_of_memory = True
            return
        self.tasks[self.n_tasks] = task
        self.n_tasks += 1

    cdef Task pop(self) noexcept nogil:
        """Return the last node noted. Requires n_tasks > 0."""
        self.n_tasks -= 1
        return self.tasks[self.n_tasks]

    cdef void clear(self) noexcept nogil:
        """Begin another tree in the same memory."""
        self.n_nodes = self.n_tasks = self.out_of_memory = 0  # what is allocated is kept

    def arrays(self):
        """Return `columns_of` the nodes, and their class counts (node_count, n_classes)."""
        if self.out_of_memory:
            raise MemoryError(f"no memory left for a tree of {self.n_nodes} nodes")
        counts = np.empty((self.n_nodes, self.n_classes))  # a copy: the next tree overwrites ours
        cdef double[:, ::1] counts_out = counts
        memcpy(&counts_out[0, 0], self.counts, self.n_nodes * self.n_classes * sizeof(double))
        return columns_of(self.nodes, self.n_nodes), counts


cdef tuple columns_of(const GrownNode* nodes, Py_ssize_t n):
    """Return feature, threshold, left and right child, examples and missing_left of n nodes."""
    cdef Py_ssize_t i
    cdef bint sends_missing = False
    integers, thresholds, missing_left = np.empty((4, n), np.int32), np.empty(n), np.empty(n, bool)
    cdef int32_t[:, ::1] out = integers
    cdef double[::1] thresholds_out = thresholds
    cdef uint8_t[::1] missing_out = missing_left.view(np.uint8)
    for i in range(n):
        out[0, i], thresholds_out[i] = nodes[i].feature, nodes[i].threshold
        out[1, i], out[2, i], out[3, i] = nodes[i].left, nodes[i].right, nodes[i].n_samples
        missing_out[i] = nodes[i].missing_left
        sends_missing |= nodes[i].missing_left  # usually none does, and needs no array
    missing_left = missing_left if sends_missing else None
    return integers[0], thresholds, integers[1], integers[2], integers[3], missing_left
