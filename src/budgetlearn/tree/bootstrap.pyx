"""Kernel: bootstrap samples, those of `numpy.random.default_rng(seed).integers`, in less time.

Small trees take no longer to grow than that takes around its generator. Samples follow from the
seeds of trees, in stored forests too, so each must stay what it was.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t
from numpy.random cimport bitgen_t


def bootstrap_weights(uint32_t n_samples, uint64_t seed):
    """Return the counts of a bootstrap sample, float64: n_samples > 0, drawn with replacement."""
    weights, source = np.zeros(n_samples), np.random.PCG64(seed)
    cdef double[::1] counts = weights
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(source.capsule, "BitGenerator")
    # Integers below n as products of 32 bits (Lemire 2019). Their lower halves tell what would
    # favour some examples; that is drawn again.
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
