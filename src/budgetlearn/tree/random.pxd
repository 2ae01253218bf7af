"""Inline pseudo-random numbers: two generators of bits, and numbers made from bits.

Coded trees draw from splitmix64, globally induced forests from xorshift64*. Both generators stay,
because the forests behind the published figures must grow again from the same seeds.
"""

from libc.stdint cimport uint64_t

from .codes cimport first_above


cdef inline uint64_t next_bits(uint64_t* state) noexcept nogil:
    """Return 64 random bits from a Weyl sequence and a mixing function (splitmix64)."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    # Multipliers and shifts are the published ones (Steele, Lea and Flood 2014).
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline void skip_bits(uint64_t* state, uint64_t n) noexcept nogil:
    """Move on as n calls of `next_bits` do."""
    state[0] += n * <uint64_t> 0x9E3779B97F4A7C15


cdef inline uint64_t next_xorshift(uint64_t* state) noexcept nogil:
    """Return 64 random bits from xorshift64* (Vigna, 2016). The state must not be 0."""
    cdef uint64_t x = state[0]
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    state[0] = x
    return x * <uint64_t> 2685821657736338717


cdef inline double as_uniform(uint64_t bits) noexcept nogil:
    """Return a number in [0, 1) made from the upper 53 bits."""
    # Times 2^-53: every step is exact, so rounding never gives 1.
    return <double> (bits >> 11) * (1.0 / 9007199254740992.0)


cdef inline Py_ssize_t as_below(uint64_t bits, Py_ssize_t n) noexcept nogil:
    """Return an integer in [0, n), n < 2**31, made from the upper 32 bits."""
    # A product is faster than a remainder, and its bias is below n / 2**32.
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
    """Draw one of n indices, given the cumulative sum of their probabilities."""
    return first_above(cumulative, 0, n - 1, uniform(state) * cumulative[n - 1])
