"""Inline pseudo-random numbers: xorshift64* (Vigna, 2016).

Another generator than that of `tree/_random.pxd`, with which a seed would grow another forest than
it grew for the figures in the docs.
"""

from libc.stdint cimport int32_t, uint64_t


cdef inline uint64_t random_bits(uint64_t* state) noexcept nogil:
    """Return 64 random bits and advance `state`, which is never 0."""
    cdef uint64_t x = state[0]
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    state[0] = x
    return x * <uint64_t> 2685821657736338717


cdef inline int32_t random_below(int32_t n, uint64_t* state) noexcept nogil:
    """Return a random integer of [0, n); the bias is below n / 2**32."""
    return <int32_t> (((random_bits(state) >> 32) * <uint64_t> n) >> 32)


cdef inline double random_unit(uint64_t* state) noexcept nogil:
    """Return a random number of [0, 1) with 53 bits."""
    return <double> (random_bits(state) >> 11) * (1.0 / 9007199254740992.0)
