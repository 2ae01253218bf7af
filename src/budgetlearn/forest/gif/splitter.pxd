from libc.stdint cimport int32_t, int64_t, uint64_t


cdef struct Split:
    double threshold
    double decrease      # impurity decrease, times the samples of the node
    int32_t feature
    int32_t n_left       # 0: the node cannot be split


cdef class Splitter:
    # One splitter serves a whole forest; nothing is kept from node to node but the random state.
    cdef:
        const double[::1, :] X
        int32_t n_visits
        double[::1] values, best_values
        int32_t[::1] features, moved
        uint64_t state

    # Find a random split of `samples` and reorder them in place: the left ones first, in order.
    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil
    # Gather the targets of the node that `score` needs; return False when the node is pure.
    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil
    # Return the impurity decrease, times n, of the last entered node split at `threshold`.
    cdef double score(self, const double* values, int32_t n, double threshold) noexcept nogil


cdef class VarianceSplitter(Splitter):
    cdef:
        const double[:, ::1] targets
        double[:, ::1] node_targets
        double[::1] total, left
        double pure_variance


cdef class WeightedVarianceSplitter(VarianceSplitter):
    cdef:
        const double[::1] sample_weight
        double[::1] node_weights
        double node_weight


cdef class GiniSplitter(Splitter):
    cdef:
        const int32_t[::1] codes
        int32_t[::1] node_codes
        int64_t[::1] total, left
