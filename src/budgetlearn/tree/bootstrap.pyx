"""Kernel: bootstrap samples, bit for bit those of numpy's generator.

`numpy.random.default_rng(seed)` takes longer to make than a small tree to grow. Samples follow from
the trees' seeds, in stored forests too, so they must stay what they were: PCG64 (O'Neill 2014),
seeded through numpy's SeedSequence, and Lemire's integers (2019) of its halves.
"""

import numpy as np

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    POOL = 4


cdef struct Generator:
    uint64_t high, low             # the state, of 128 bits
    uint64_t step_high, step_low   # what is added to it in each step
    uint64_t half                  # of the bits drawn last, the upper half, where `has_half`
    bint has_half


cdef inline uint32_t hashed(uint32_t value, uint32_t* constant, uint32_t factor) noexcept nogil:
    value ^= constant[0]
    constant[0] *= factor
    value *= constant[0]
    return value ^ (value >> 16)


cdef void seed_by(Generator* generator, uint64_t seed) noexcept nogil:
    """Seed a generator through a SeedSequence of one integer."""
    cdef uint32_t pool[POOL]
    cdef uint32_t constant = <uint32_t> 0x43B0D7E5, mixed, word
    cdef uint64_t found[POOL]
    cdef int i, j
    for i in range(POOL):
        word = <uint32_t> (seed >> 32 * i) if i < 2 else 0
        pool[i] = hashed(word, &constant, <uint32_t> 0x931E8875)
    for i in range(POOL):
        for j in range(POOL):
            if i != j:
                word = hashed(pool[i], &constant, <uint32_t> 0x931E8875)
                mixed = <uint32_t> 0xCA01F9DD * pool[j] - <uint32_t> 0x4973F715 * word
                pool[j] = mixed ^ (mixed >> 16)
    constant = <uint32_t> 0x8B51F9DD
    for i in range(POOL):
        found[i] = hashed(pool[2 * i % POOL], &constant, 0x58F38DED)
        found[i] |= <uint64_t> hashed(pool[(2 * i + 1) % POOL], &constant, 0x58F38DED) << 32
    # The second half of what was found is the stream: an odd number is added in each step.
    generator.step_high = found[2] << 1 | found[3] >> 63
    generator.step_low = found[3] << 1 | 1
    generator.has_half = False
    # PCG's own way: a step from 0, the first half added, a step.
    generator.high, generator.low = generator.step_high, generator.step_low
    generator.low += found[1]
    generator.high += found[0] + (generator.low < found[1])
    step(generator)


cdef inline void step(Generator* generator) noexcept nogil:
    """Multiply the state by PCG's constant, and add."""
    cdef uint64_t a = <uint32_t> generator.low, b = generator.low >> 32
    cdef uint64_t high = <uint64_t> 2549297995355413924, low = <uint64_t> 4865540595714422341
    cdef uint64_t c = <uint32_t> low, d = low >> 32
    # Schoolbook in halves: not every compiler has integers of 128 bits.
    cdef uint64_t middle = b * c + (a * c >> 32), rest = a * d + <uint32_t> middle
    high = b * d + (middle >> 32) + (rest >> 32) + generator.high * low + generator.low * high
    generator.low = generator.low * low + generator.step_low
    generator.high = high + generator.step_high + (generator.low < generator.step_low)


cdef inline uint32_t next_half(Generator* generator) noexcept nogil:
    """Return 32 random bits: of 64 the lower half first (XSL-RR)."""
    cdef uint64_t bits
    cdef int turn
    if generator.has_half:
        generator.has_half = False
        return <uint32_t> generator.half
    step(generator)
    bits, turn = generator.high ^ generator.low, <int> (generator.high >> 58)
    bits = bits >> turn | bits << (-turn & 63)
    generator.half, generator.has_half = bits >> 32, True
    return <uint32_t> bits


def bootstrap_weights(uint32_t n_samples, uint64_t seed):
    """Return the counts of a bootstrap sample, float64: n_samples > 0, drawn with replacement."""
    weights = np.zeros(n_samples)
    cdef double[::1] counts = weights
    cdef Generator generator
    cdef uint64_t product
    # Lowest remainders that would favour some examples are drawn again.
    cdef uint32_t least = (<uint32_t> 0 - n_samples) % n_samples
    cdef Py_ssize_t _
    with nogil:
        seed_by(&generator, seed)
        for _ in range(n_samples):
            product = <uint64_t> next_half(&generator) * n_samples
            while <uint32_t> product < least:
                product = <uint64_t> next_half(&generator) * n_samples
            counts[product >> 32] += 1
    return weights
