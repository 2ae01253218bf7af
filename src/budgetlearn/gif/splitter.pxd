from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t


cdef struct Split:
    double threshold
    double decrease      # impurity decrease, times the samples of the node
    int32_t feature
    int32_t n_left       # 0: the node cannot be split
    bint missing_left    # whether samples without a value go left


cdef class Splitter:
    # One splitter serves a whole forest; nothing is kept from node to node but the random state.
    cdef:
        const double[::1, :] large   # the features, or
        const uint8_t[::1, :] small  # the features in bytes
        bint in_bytes
        int32_t n_visits, n_thresholds, min_leaf
        const uint8_t[::1] gaps      # of each feature: whether some sample has no value
        int32_t n_missing            # of the feature looked up last, in the node
        bint missing_left            # where these go
        uint8_t[::1] values          # of a feature, in either type
        int32_t[::1] features, moved
        uint64_t state

    # Find a random split of `samples` and reorder them in place: the left ones first, in order.
    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil
    cdef void look_up(
        self, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
    ) noexcept nogil
    cdef void look_up_with_gaps(
        self, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
    ) noexcept nogil
    cdef int32_t move_left(
        self, int32_t feature, int32_t* samples, int32_t n, double threshold, bint missing_left
    ) noexcept nogil
    # Gather what `score` needs to know of the node; return False when it is pure. `order` may be
    # set to the samples in another order, in which `score` wants them.
    cdef bint enter(
        self, const int32_t* samples, int32_t n, const int32_t** order
    ) noexcept nogil
    # Return the impurity decrease, times n, of the last entered node when it is parted at a
    # threshold of the values gathered last.
    cdef double score(self, double threshold, int32_t n) noexcept nogil
    cdef double sum_left(
        self, const double* targets, double threshold, int32_t n, int32_t* n_left
    ) noexcept nogil
    cdef int64_t count_right(self, double threshold, int32_t start, int32_t end) noexcept nogil
