from libc.stdint cimport int32_t, uint8_t


cdef class NodePrices:
    # Prices that fall with the share of a node's examples that have acquired a feature.
    cdef:
        const double[::1] prices      # (n_features,) each feature alone
        uint8_t[:, ::1] acquired        # (n_features + n_groups, n_samples)
        const int32_t[::1] groups     # (n_features,): -1 is none
        const double[::1] charges     # (n_groups,)
        double discount, exponent

    # Return what a feature costs the examples of a node.
    cdef double price(
        self, Py_ssize_t feature, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil
    cdef double kept_share(
        self, Py_ssize_t item, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil
    # Note that the examples of a node have acquired a feature, and paid for its group.
    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil
