"""Probabilities from scores.

NumPy's exponential differs in its last bit between processors, which later rounding may amplify.
That of the C library is the same with and without AVX and FMA.
"""

from libc.math cimport exp


cdef inline void to_shares(double* scores, Py_ssize_t n) noexcept nogil:
    """Replace scores by shares ∝ exp(score)."""
    cdef double top = scores[0], total = 0.0
    cdef Py_ssize_t k
    for k in range(1, n):
        top = max(top, scores[k])  # the same for all, so it cancels; no exp overflows
    for k in range(n):
        scores[k] = exp(scores[k] - top)
        total += scores[k]
    for k in range(n):
        scores[k] /= total  # at least 1: the largest score adds exp(0)
