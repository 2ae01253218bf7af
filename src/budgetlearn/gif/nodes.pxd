from libc.stdint cimport int32_t

# Asks for memory before it is needed; does nothing where the compiler cannot.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
        #define fetch_ahead(address) __builtin_prefetch(address)
    #else
        #define fetch_ahead(address) ((void) (address))
    #endif
    """
    void fetch_ahead(const void* address) noexcept nogil


# A node of a forest in the making; nodes come in no particular order, so each knows its tree.
cdef packed struct ForestNode:
    double threshold
    double decrease      # impurity decrease of its split, times its samples
    int32_t tree
    int32_t parent       # -1: a root
    int32_t start, size  # its samples: a slice of the tree's order
    int32_t feature      # -1: not split
    int32_t child        # left child; the right one is child + 1; -1: none
    int32_t step         # rank of acceptance; -1: not in the model
    int32_t missing_left  # whether examples without a value go left


cdef class NodeTable:
    # All nodes of a forest while it grows, and the order of the samples in each tree.
    cdef:
        readonly object records, samples
        ForestNode[::1] nodes
        int32_t[:, ::1] order
        readonly int32_t n_nodes
        readonly int32_t max_depth  # of a node; a root's is 0

    # Return whether a node is as deep as any may be.
    cdef bint is_deepest(self, int32_t j) noexcept nogil
    # Append a node and return its id.
    cdef int32_t add(self, int32_t tree, int32_t parent, int32_t start, int32_t size) noexcept nogil
