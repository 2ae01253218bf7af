from libc.stdint cimport int32_t


cdef packed struct Node:
    # An internal node: x[feature] <= threshold goes to `child`, the rest to `child + 1`.
    # A leaf: feature is -1 and `child` its id in the `Tree` that it comes from.
    double threshold
    int32_t feature
    int32_t child
