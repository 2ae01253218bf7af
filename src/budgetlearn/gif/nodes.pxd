from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cdef extern from *:
    # Fetch memory into the cache before it is needed.
    void fetch_ahead "__builtin_prefetch"(const void* address) noexcept nogil


# A node of a growing forest. Nodes are in no particular order, so each stores its tree.
cdef packed struct ForestNode:
    double threshold
    double decrease      # impurity decrease of its split, times its samples
    int32_t tree
    int32_t parent       # -1: a root
    int32_t start, size  # its slice of the samples that are kept; start -1: not kept
    int32_t feature      # -1: not split
    int32_t child        # left child; the right one is child + 1; -1: none
    int32_t step         # rank of acceptance; -1: not in the model
    int32_t missing_left  # whether examples without a value go left


cdef class NodeTable:
    # All nodes of a growing forest, and the samples of nodes that keep them.
    cdef:
        readonly object records
        ForestNode[::1] nodes
        int32_t[::1] order         # the samples that are kept
        int32_t n_kept             # the part of `order` in use
        readonly int32_t most_kept  # largest size of a node that keeps its samples
        # If not all fit: the features (None if they are bytes), and arrays of their `BinnedData`.
        const double[:, :] columns
        uint8_t[:, ::1] codes
        const int64_t[::1] offsets
        const double[::1] lowest, highest
        const int32_t[:, ::1] by_value
        int32_t[::1] found         # the samples of `found_node`, the last argument of `find`
        int32_t found_node         # -1: none
        uint8_t[::1] marked        # of all samples, whether they are in `found`
        readonly int32_t n_trees, n_samples, n_nodes
        readonly int32_t max_depth  # of a node; roots have depth 0

    cdef int32_t add(self, int32_t tree, int32_t parent, int32_t size) noexcept nogil

    # Give the children of a split node their samples: the left one the first `n_left` of its own.
    cdef void part(self, int32_t j, int32_t n_left) noexcept nogil
    cdef void find(self, int32_t j) noexcept nogil

    cdef void unmark(self, int32_t child) noexcept nogil

    # Return the samples that a node keeps, or NULL.
    cdef inline int32_t* kept(self, const ForestNode* node) noexcept nogil:
        return &self.order[node.start] if node.start >= 0 else NULL

    # Return the samples of a node, ascending. If not kept, they are valid until the next call.
    cdef inline int32_t* samples_of(self, const ForestNode* node) noexcept nogil:
        if node.start < 0:
            self.find(<int32_t> (node - &self.nodes[0]))
        return &self.order[node.start] if node.start >= 0 else &self.found[0]


cdef enum:
    TOGETHER = 4  # most thresholds that are scored together


cdef struct Split:
    double threshold
    double decrease      # impurity decrease, times the samples of the node
    int32_t feature
    int32_t n_left       # 0: the node cannot be split
    bint missing_left    # whether samples without a value go left
    int32_t n_missing    # samples of the node without a value
    double cut           # cells <= cut go left
    int32_t place, end   # ahead, until scored, `by_value[feature, place:end]` have the next code


cdef class Charges:
    # The charges for acquiring each feature, as shares of the loss of the constant.
    cdef:
        readonly double[::1] share
        object costs, acquired
        double weight

    # Make a feature and its group's charge free; return whether it was not free before.
    cdef bint acquire(self, int32_t feature) noexcept nogil


cdef class Splitter:
    # One splitter serves a whole forest; between nodes only the random state is kept.
    cdef:
        object X                     # owns `cells`: numbers, or bytes, which are compared faster
        const uint8_t* cells
        int width                    # bytes of a cell: 1 or 8
        Py_ssize_t column_bytes      # from one feature to the next
        Py_ssize_t step              # cells from one sample to the next; 1: columns are contiguous
        # For numbers: one-byte codes, and the least and largest value of each; None: not used.
        const uint8_t[:, ::1] feature_codes
        const double[::1] code_lowest, code_highest
        const int64_t[::1] offsets   # first code of each feature; features in bytes have 256 codes
        int32_t n_visits, n_thresholds, min_leaf
        int32_t n_left               # of the last threshold that was scored
        NodeTable table              # None: no thresholds are drawn ahead
        bint found                   # whether the table finds the samples, so `split` moves none
        bint ahead                   # whether thresholds are drawn before any is scored
        Split[TOGETHER] drawn        # thresholds to score; not ahead, only the first is used
        const uint8_t[::1] gaps      # of each feature: whether some sample has no value
        uint8_t[::1] values          # scratch for the cells of a feature, of any type
        int32_t feature              # the last feature that was looked up
        const uint8_t* looked_up     # its cells, in the order of the node
        bint in_bytes                # whether these are bytes
        const int32_t* order         # the samples of these cells; NULL: all samples in table order
        int32_t n_beyond             # number of places in `moved` of cells beyond their code's cut
        public bint fixed            # whether targets do not change while the forest grows
        bint whole                   # whether the node is a root, which has all samples
        bint tabled                  # whether `score` needs no gathered cells in a root
        const int32_t* sorted        # the node's samples in the order for `score`; NULL: unchanged
        double[::1] lowest, highest  # values of each feature in the table
        int32_t[::1] features, moved
        uint64_t state
        readonly double spread       # impurity of all samples, in the unit of `score`
        public Charges charges       # None: prices do not matter
        bint frozen                  # whether only acquired features may be split on

    # Find a random split of `samples` and partition them in place, stably, the left ones first.
    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil
    # Prepare `score` for a node; return False if the node is pure.
    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil
    # Return the impurity decrease, times n, of splitting the last looked-up cells at `cut`.
    cdef double score(self, int32_t n) noexcept nogil
    # Score the thresholds that were drawn ahead.
    cdef void score_drawn(self, const int32_t* samples, int32_t n, int n_drawn) noexcept nogil
