"""Sort examples by their codes."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    FEW = 32           # up to so many keys an insertion sort is faster
    DIGIT_BITS = 8


cdef void insertion_sort(uint64_t* keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


cdef void radix_pass(
    const uint64_t* keys, uint64_t* target, Py_ssize_t n, int position, int bits
) noexcept nogil:
    """Sort stably by `bits` <= DIGIT_BITS bits of the keys from bit `position` up."""
    cdef Py_ssize_t starts[1 << DIGIT_BITS]
    cdef Py_ssize_t i, size, total = 0, n_digits = <Py_ssize_t> 1 << bits
    cdef uint64_t digit, mask = (<uint64_t> 1 << bits) - 1
    memset(starts, 0, n_digits * sizeof(Py_ssize_t))
    for i in range(n):
        starts[(keys[i] >> position) & mask] += 1
    for i in range(n_digits):
        size = starts[i]
        starts[i] = total
        total += size
    for i in range(n):
        digit = (keys[i] >> position) & mask
        target[starts[digit]] = keys[i]
        starts[digit] += 1


cdef uint64_t* sort_keys(
    uint64_t* keys,            # INOUT code << 32 | position; scratch afterwards
    uint64_t* spare,           # OUT as many
    Py_ssize_t n,
    uint32_t largest,          # IN no code exceeds it
) noexcept nogil:
    """Sort stably by code; return where the sorted keys are: `keys` or `spare`."""
    cdef int bits = 1, sorted_bits = 0, n_passes, digit_bits
    if n <= FEW:
        insertion_sort(keys, n)
        return keys
    while largest >> bits:
        bits += 1
    n_passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    while n_passes:
        digit_bits = (bits - sorted_bits) // n_passes
        radix_pass(keys, spare, n, 32 + sorted_bits, digit_bits)
        keys, spare = spare, keys
        sorted_bits += digit_bits
        n_passes -= 1
    return keys
