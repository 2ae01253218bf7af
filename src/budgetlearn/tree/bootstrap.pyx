"""Kernel: bootstrap samples equal to `numpy.random.default_rng(seed).integers`, in less time.

Setting up NumPy's generator takes as long as growing a small tree. The samples must never change,
because stored forests reproduce them from the seeds of their trees.
"""

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY, rint
from libc.stdint cimport uint32_t, uint64_t
from numpy.random cimport bitgen_t


class _Words:
    """A seed sequence of precomputed words, which replaces `numpy.random.SeedSequence`."""

    def __init__(self, words):
        self.words = words

    def generate_state(self, n_words, dtype):
        return self.words


ISeedSequence.register(_Words)


cdef inline uint32_t hashed(uint32_t word, uint32_t* key, uint32_t multiplier) noexcept nogil:
    word ^= key[0]
    key[0] *= multiplier  # the next word is hashed otherwise, even if it is the same
    word *= key[0]
    return word ^ (word >> 16)


def seed_words(uint64_t seed):
    """Return the four uint64 words of a seed: O'Neill's seed_seq with NumPy's constants."""
    words = np.empty(4, np.uint64)
    cdef uint64_t[::1] out = words
    cdef uint32_t pool[4]
    cdef uint32_t key = 0x43B0D7E5, mixed
    cdef int i, j
    # A seed of 64 bits is two words of 32; the other two of the pool are 0.
    for i in range(4):
        pool[i] = hashed(<uint32_t> (seed >> (32 * i)) if i < 2 else 0, &key, 0x931E8875)
    # Every word changes all others, so that each bit of the seed reaches the whole pool.
    for i in range(4):
        for j in range(4):
            if i != j:
                mixed = 0xCA01F9DDU * pool[j] - 0x4973F715U * hashed(pool[i], &key, 0x931E8875)
                pool[j] = mixed ^ (mixed >> 16)
    key = 0x8B51F9DD
    # Two words of 32 bits are one of 64, the first of them its lower half.
    for i in range(8):
        mixed = hashed(pool[i % 4], &key, 0x58F38DED)
        out[i // 2] = mixed if i % 2 == 0 else out[i // 2] | <uint64_t> mixed << 32
    return words


def bootstrap_weights(uint32_t n_samples, uint64_t seed):
    """Return the number of draws, with replacement, of each of n_samples > 0 examples."""
    weights, source = np.zeros(n_samples), np.random.PCG64(_Words(seed_words(seed)))
    cdef double[::1] counts = weights
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(source.capsule, "BitGenerator")
    # Integers below n are products of 32 bits (Lemire 2019). Products with a small lower half would
    # favour some examples, so they are drawn again.
    cdef uint32_t favoured = (<uint32_t> 0 - n_samples) % n_samples
    cdef uint64_t product
    cdef Py_ssize_t _
    with nogil:
        for _ in range(n_samples):
            product = <uint64_t> bits.next_uint32(bits.state) * n_samples
            while <uint32_t> product < favoured:
                product = <uint64_t> bits.next_uint32(bits.state) * n_samples
            counts[product >> 32] += 1
    return weights


def whole_total(const double[::1] weights):
    """Return the sum of the weights, or infinity if one of them is not a whole number."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(weights.shape[0]):
        if weights[i] != rint(weights[i]):
            return INFINITY
        total += weights[i]
    return total
