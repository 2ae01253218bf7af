from libc.stdint cimport int32_t, uint8_t


cdef class NodePrices:
    # Prices of features at the nodes of one tree; what the tree tests lowers them.
    cdef:
        double[::1] prices            # (n_features,) each feature alone; INOUT with `pay_once`
        bint pay_once                 # whether a feature is free for the rest of the tree
        bint shared                   # whether prices fall with what examples have acquired
        uint8_t[:, ::1] acquired      # (n_features + n_groups, n_samples)
        const int32_t[::1] groups     # (n_features,): -1 is none
        const double[::1] charges     # (n_groups,)
        double discount, exponent

    cdef double price(
        self, Py_ssize_t feature, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil
    cdef double kept_share(
        self, Py_ssize_t item, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil
    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil
