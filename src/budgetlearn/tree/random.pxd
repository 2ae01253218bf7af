"""Pseudo-random numbers inline: two generators of bits, and what is made of bits.

A seed keeps the forest that it grew for the figures in the docs, so both generators stay: coded
trees draw from splitmix64, globally induced forests from xorshift64*.
"""

from libc.stdint cimport uint64_t


cdef inline uint64_t next_bits(uint64_t* state) noexcept nogil:
    """Return 64 random bits: a Weyl sequence through a mixing function (splitmix64)."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    # Multipliers and shifts are the published ones (Steele, Lea and Flood 2014).
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t next_xorshift(uint64_t* state) noexcept nogil:
    """Return 64 random bits: xorshift64* (Vigna, 2016). Requires a state that is not 0."""
    cdef uint64_t x = state[0]
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    state[0] = x
    return x * <uint64_t> 2685821657736338717


cdef inline double as_uniform(uint64_t bits) noexcept nogil:
    """Return a number of [0, 1) made of the upper 53 bits."""
    # Times 2^-53: every step is exact, so that 1 is never reached by rounding.
    return <double> (bits >> 11) * (1.0 / 9007199254740992.0)


cdef inline Py_ssize_t as_below(uint64_t bits, Py_ssize_t n) noexcept nogil:
    """Return an integer of [0, n), n < 2**31, made of the upper 32 bits."""
    # A product instead of a remainder: faster, and biased by less than n / 2**32.
    return <Py_ssize_t> (((bits >> 32) * <uint64_t> n) >> 32)


cdef inline double uniform(uint64_t* state) noexcept nogil:
    """Return a number uniform in [0, 1)."""
    return as_uniform(next_bits(state))


cdef inline Py_ssize_t below(uint64_t* state, Py_ssize_t n) noexcept nogil:
    """Return an integer uniform in [0, n), n < 2**31."""
    return as_below(next_bits(state), n)


cdef inline Py_ssize_t by_chances(
    uint64_t* state, const double* cumulative, Py_ssize_t n
) noexcept nogil:
    """Return one of n indices, drawn by the cumulative sum of their chances."""
    cdef double goal = uniform(state) * cumulative[n - 1]
    cdef Py_ssize_t first = 0, last = n - 1, middle
    # Invariant: the index is in [first, last].
    while first < last:
        middle = (first + last) // 2
        if cumulative[middle] > goal:
            last = middle
        else:
            first = middle + 1
    return first
