from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

# Asks for memory before it is needed; does nothing where the compiler cannot.
cdef extern from *:
    """
    #if !defined(__GNUC__)
        #define __builtin_prefetch(address) ((void) (address))
    #endif
    """
    void fetch_ahead "__builtin_prefetch"(const void* address) noexcept nogil


# A node of a forest in the making; nodes come in no particular order, so each knows its tree.
cdef packed struct ForestNode:
    double threshold
    double decrease      # impurity decrease of its split, times its samples
    int32_t tree
    int32_t parent       # -1: a root
    int32_t start, size  # its samples: a slice of those that are kept; start -1: not kept
    int32_t feature      # -1: not split
    int32_t child        # left child; the right one is child + 1; -1: none
    int32_t step         # rank of acceptance; -1: not in the model
    int32_t missing_left  # whether examples without a value go left


cdef class NodeTable:
    # All nodes of a forest while it grows, and the samples of those that keep them.
    cdef:
        readonly object records
        ForestNode[::1] nodes
        int32_t[::1] order         # the samples that are kept
        int32_t n_kept             # of `order` in use
        readonly int32_t most_kept  # samples of a node that keeps them
        # Without room for all: the features, None where they are bytes, and their `BinnedData`.
        const double[:, :] columns
        const uint8_t[:, ::1] codes
        const int64_t[::1] offsets
        const double[::1] lowest, highest
        int32_t[::1] found         # the samples of the node that was looked for last
        int32_t found_node         # -1: none
        uint8_t[::1] marked        # of a block of samples, whether they are the node's
        int32_t[::1] doubted       # scratch: those of a block whose codes do not tell
        readonly int32_t n_trees, n_samples, n_nodes
        readonly int32_t max_depth  # of a node; a root's is 0

    cdef int32_t add(self, int32_t tree, int32_t parent, int32_t size) noexcept nogil

    # Give the children of a split node their samples, the first `n_left` of its own and the rest.
    cdef void part(self, int32_t j, int32_t n_left) noexcept nogil
    cdef void find(self, int32_t j) noexcept nogil

    cdef void unmark(self, int32_t child, int32_t start, int32_t n) noexcept nogil

    # Return the samples that a node keeps, NULL: none.
    cdef inline int32_t* kept(self, const ForestNode* node) noexcept nogil:
        return &self.order[node.start] if node.start >= 0 else NULL

    # Return the samples of a node, ascending; those that are not kept are good until another call.
    cdef inline int32_t* samples_of(self, const ForestNode* node) noexcept nogil:
        if node.start >= 0:
            return &self.order[node.start]
        self.find(<int32_t> (node - &self.nodes[0]))
        return &self.found[0]


cdef struct Split:
    double threshold
    double decrease      # impurity decrease, times the samples of the node
    int32_t feature
    int32_t n_left       # 0: the node cannot be split
    bint missing_left    # whether samples without a value go left


cdef class Charges:
    # What acquiring each feature adds to the objective, as a share of the loss of the constant.
    cdef:
        readonly double[::1] share
        object costs, acquired
        double weight

    # Make a feature free, and what it shares with others; return whether it was not.
    cdef bint acquire(self, int32_t feature) noexcept nogil


# A cell of a feature: a number, or a byte whose order is that of the numbers. A comparison of bytes
# has the same outcome, and goes many at once.
ctypedef fused cell_t:
    uint8_t
    double


cdef class Splitter:
    # One splitter serves a whole forest; nothing is kept from node to node but the random state.
    cdef:
        object X                     # owns what `cells` points to: numbers, or bytes
        const uint8_t* cells
        int width                    # bytes of a cell: 1 or 8
        Py_ssize_t column_bytes      # from one feature to the next
        Py_ssize_t step              # cells from one sample to the next; 1: columns lie together
        # Of numbers: codes of one byte, and the values at the ends of each; None: there are none.
        const uint8_t[:, ::1] feature_codes
        const double[::1] code_lowest, code_highest
        const int64_t[::1] offsets   # where a feature begins there; one in bytes has 256 codes
        int32_t n_visits, n_thresholds, min_leaf
        int32_t n_left               # of the threshold that `score` was given last
        # `split` leaves samples where they are when both sides have more: their rows are not kept.
        public int32_t most_moved
        const uint8_t[::1] gaps      # of each feature: whether some sample has no value
        int32_t n_missing            # of the feature looked up last, in the node
        bint missing_left            # where these go
        uint8_t[::1] values          # of a feature, in any type
        int32_t feature              # looked up last, with its cells in the order of the node
        const uint8_t* looked_up
        bint in_bytes                # whether these are bytes
        const int32_t* order         # whose cells they are; NULL: of all samples, as they stand
        int32_t n_beyond             # the first places in `moved`: of cells beyond their code's cut
        double cut                   # the threshold among cells: those up to it go left
        public bint fixed            # whether targets stay as they are while the forest grows
        bint whole                   # whether the node is a root, which has all samples
        bint tabled                  # whether `score` needs no cells of a root's
        const int32_t* sorted        # the node's samples as `score` wants them; NULL: as they are
        double[::1] lowest, highest  # values of each feature in the table
        int32_t[::1] features, moved
        uint64_t state
        readonly double spread       # impurity of all samples, as in `score`
        public Charges charges       # None: prices do not matter
        bint frozen                  # whether only acquired features may be split on

    # Find a random split of `samples` and reorder them in place: the left ones first, in order.
    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil
    # Gather what `score` needs to know of the node; return False when it is pure.
    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil
    # Return the impurity decrease, times n, of parting the last looked-up cells at `cut`.
    cdef double score(self, int32_t n) noexcept nogil
