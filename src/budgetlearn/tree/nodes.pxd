"""Records of nodes, and blocks of memory."""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport realloc


# A node of a growing tree. At a leaf, children and feature are -1; at a root, parent is -1.
cdef packed struct GrownNode:
    double threshold
    int32_t feature
    int32_t left
    int32_t right
    int32_t parent
    int32_t n_samples
    int32_t depth
    uint8_t missing_left   # whether examples without a value go left


# A node for prediction. At an inner node, examples with x[feature] <= threshold go to `child`, the
# others to `child + 1`. At a leaf, feature is -1 and `child` is the node's id in its `Tree`.
cdef packed struct Node:
    double threshold
    int32_t feature
    int32_t child


# A node to be split, with the examples [start, end); its first n_varying features may vary.
cdef struct Task:
    Py_ssize_t start
    Py_ssize_t end
    int32_t node
    int32_t n_varying
    double low, high       # bounds of all predictions below it, see `breaks_order`


cdef inline bint make_room(void** block, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """Make room for one more than `n` records; return whether there was memory for it."""
    cdef void* more
    # The room is a power of two, so a block is full only at these, and its room is not stored.
    if n & (n - 1) == 0 and (n == 0 or n >= 64):
        more = realloc(block[0], max(64, 2 * n) * size)
        if more == NULL:
            return False
        block[0] = more
    return True


cdef inline void begin_leaf(
    GrownNode* nodes, Py_ssize_t place, int32_t parent, Py_ssize_t n_samples
) noexcept nogil:
    """Initialise the record at `place` as a leaf, which may be split later."""
    cdef GrownNode* node = nodes + place
    node.threshold, node.missing_left, node.parent = 0.0, False, parent
    node.feature = node.left = node.right = -1
    node.n_samples = <int32_t> n_samples
    node.depth = 0 if parent < 0 else nodes[parent].depth + 1


cdef enum:
    MOST_BLOCKS = 40


cdef class Blocks:
    cdef:
        void* blocks[MOST_BLOCKS]
        Py_ssize_t n_blocks

    cdef void* get(self, Py_ssize_t size, bint zero=*) except NULL
    cdef int32_t* integers(self, Py_ssize_t n) except NULL
    cdef double* numbers(self, Py_ssize_t n) except NULL


cdef tuple columns_of(const GrownNode* nodes, Py_ssize_t n)
