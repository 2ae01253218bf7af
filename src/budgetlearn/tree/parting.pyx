"""Part the examples of a node by a split, in place and in their order."""

from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memcpy

ctypedef fused code_t:
    uint8_t
    uint16_t


cdef Parting part_by(
    Examples* examples, Py_ssize_t start, Py_ssize_t end, const code_t* codes, int32_t cut
) noexcept nogil:
    """Keep the examples of codes up to `cut` in front; copy the others to the spare arrays."""
    cdef Py_ssize_t i, moved = 0
    cdef int32_t code, row, label
    cdef double weight
    cdef bint left
    cdef Parting parting = Parting(start, -1, 0x10000)
    for i in range(start, end):
        # Each example is written to both sides and counted on one: no branch to mispredict.
        row, label, weight = examples.rows[i], examples.labels[i], examples.weights[i]
        code = codes[row]
        left = code <= cut
        examples.rows[parting.middle] = examples.spare_rows[moved] = row
        examples.labels[parting.middle] = examples.spare_labels[moved] = label
        examples.weights[parting.middle] = examples.spare_weights[moved] = weight
        parting.middle += left
        moved += not left
        parting.below = max(parting.below, code if left else -1)
        parting.above = min(parting.above, 0x10000 if left else code)
    return parting


cdef Parting part(
    Examples* examples, Py_ssize_t start, Py_ssize_t end, const uint8_t* bytes,
    const uint16_t* words, int32_t cut,
) noexcept nogil:
    """Part the examples [start, end) by their codes: those up to `cut` come first."""
    cdef Parting parting
    cdef Py_ssize_t moved
    if bytes != NULL:
        parting = part_by(examples, start, end, bytes, cut)
    else:
        parting = part_by(examples, start, end, words, cut)
    moved = end - parting.middle
    memcpy(examples.rows + parting.middle, examples.spare_rows, moved * sizeof(int32_t))
    memcpy(examples.labels + parting.middle, examples.spare_labels, moved * sizeof(int32_t))
    memcpy(examples.weights + parting.middle, examples.spare_weights, moved * sizeof(double))
    return parting
