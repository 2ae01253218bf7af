"""The records of nodes."""

from libc.stdint cimport int32_t, uint8_t


# A node of a tree in the making; children and feature are -1 at a leaf, parent is -1 at a root.
cdef packed struct GrownNode:
    double threshold
    int32_t feature
    int32_t left
    int32_t right
    int32_t parent
    int32_t n_samples
    int32_t depth
    uint8_t missing_left   # whether examples without a value go left


# A node to walk. Internal: x[feature] <= threshold goes to `child`, the rest to `child + 1`.
# A leaf: feature is -1 and `child` its id in the `Tree` that it comes from.
cdef packed struct Node:
    double threshold
    int32_t feature
    int32_t child
