from libc.stdint cimport int32_t, uint8_t, uint16_t


# The examples of a tree in the order of its leaves, and room for as many.
cdef struct Examples:
    int32_t* rows
    int32_t* labels
    double* weights
    int32_t* spare_rows
    int32_t* spare_labels
    double* spare_weights


# Where the right side of a split begins, and the codes next to the cut.
cdef struct Parting:
    Py_ssize_t middle
    int32_t below, above


cdef Parting part(
    Examples* examples, Py_ssize_t start, Py_ssize_t end, const uint8_t* bytes,
    const uint16_t* words, int32_t cut,
) noexcept nogil
