"""Kernel: `softmax` with the C library's exponential; NumPy's calls are slow for single rows."""

import numpy as np


def softmax(const double[:, :] scores):
    """Return probabilities ∝ exp(score), by row."""
    cdef Py_ssize_t row
    found = np.array(scores, order="C")  # a copy, as shares replace the scores
    cdef double[:, ::1] shares = found
    with nogil:
        for row in range(shares.shape[0]):
            to_shares(&shares[row, 0], shares.shape[1])
    return found
