from libc.stdint cimport uint64_t


cdef inline uint64_t next_bits(uint64_t* state) noexcept nogil:
    """Return 64 random bits: a Weyl sequence through a mixing function (splitmix64)."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline double uniform(uint64_t* state) noexcept nogil:
    """Return a number uniform in [0, 1)."""
    return (next_bits(state) >> 11) * (1.0 / 9007199254740992.0)


cdef inline Py_ssize_t below(uint64_t* state, Py_ssize_t n) noexcept nogil:
    """Return an integer uniform in [0, n), n < 2**31."""
    return <Py_ssize_t> (((next_bits(state) >> 32) * <uint64_t> n) >> 32)
