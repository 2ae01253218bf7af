"""Records of nodes, and blocks of memory."""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport realloc


# A node of a tree in the making; children and feature are -1 at a leaf, parent is -1 at a root.
cdef packed struct GrownNode:
    double threshold
    int32_t feature
    int32_t left
    int32_t right
    int32_t parent
    int32_t n_samples
    int32_t depth
    uint8_t missing_left   # whether examples without a value go left


# A node to walk. Internal: x[feature] <= threshold goes to `child`, the rest to `child + 1`.
# A leaf: feature is -1 and `child` its id in the `Tree` that it comes from.
cdef packed struct Node:
    double threshold
    int32_t feature
    int32_t child


# A node whose examples are [start, end) and whose first n_varying features may vary.
cdef struct Task:
    Py_ssize_t start
    Py_ssize_t end
    int32_t node
    int32_t n_varying
    double low, high       # what all that it predicts must keep to, see `breaks_order`


cdef inline bint make_room(void** block, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """Make room for one more than `n` records of some size; say whether there is memory for it."""
    cdef void* more
    # A block has room for a power of two: it is full at these alone, and its room need not be kept.
    if n & (n - 1) == 0 and (n == 0 or n >= 64):
        more = realloc(block[0], max(64, 2 * n) * size)
        if more == NULL:
            return False
        block[0] = more
    return True


cdef inline void begin_leaf(
    GrownNode* nodes, Py_ssize_t place, int32_t parent, Py_ssize_t n_samples
) noexcept nogil:
    """Make a leaf, to be split later, of the record at a place."""
    cdef GrownNode* node = nodes + place
    node.threshold, node.missing_left, node.parent = 0.0, False, parent
    node.feature = node.left = node.right = -1
    node.n_samples = <int32_t> n_samples
    node.depth = 0 if parent < 0 else nodes[parent].depth + 1


cdef class Blocks:
    cdef:
        void* blocks[40]
        Py_ssize_t n_blocks

    cdef void* get(self, Py_ssize_t size, bint zero=*) except NULL
    cdef int32_t* integers(self, Py_ssize_t n) except NULL
    cdef double* numbers(self, Py_ssize_t n) except NULL


cdef tuple columns_of(const GrownNode* nodes, Py_ssize_t n)
