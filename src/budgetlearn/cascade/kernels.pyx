"""Kernels of a stage's predictions, because numpy's calls are slow for single rows."""

import numpy as np

from libc.math cimport exp, isnan, log

from ..tree.shares cimport to_shares


cdef inline void temper(
    double* values, Py_ssize_t n, double temperature, double floor
) noexcept nogil:
    """Replace probabilities by shares ∝ p^(1 / T), with p at least `floor`."""
    cdef Py_ssize_t k
    for k in range(n):
        values[k] = log(max(values[k], floor)) / temperature  # p^(1 / T) = exp(log(p) / T)
    to_shares(values, n)


def tempered(const double[:, ::1] probabilities, const double[::1] temperatures, double floor):
    """Return probabilities ∝ p^(1 / T), with p at least `floor`; one T for all rows or for each."""
    cdef Py_ssize_t row
    cdef bint one = temperatures.shape[0] == 1
    found = np.array(probabilities)
    cdef double[:, ::1] shares = found
    with nogil:
        for row in range(shares.shape[0]):
            temper(&shares[row, 0], shares.shape[1], temperatures[0 if one else row], floor)
    return found


def mixed(
    list predictions, const double[::1] weights, const double[::1] temperatures, double floor
):
    """Return the weighted sum of tables, (n_rows, n_columns) each.

    `temperatures`, one for each table, are first applied as by `tempered`; None: no scaling.
    """
    cdef Py_ssize_t n_columns = predictions[0].shape[1], k, row, column
    cdef bint tempers = temperatures is not None
    cdef const double[:, ::1] each
    cdef double[::1] values = np.empty(n_columns)
    found = np.zeros((predictions[0].shape[0], n_columns))
    cdef double[:, ::1] total = found
    # A fixed order of summation: the last bits of a matrix product vary with the number of rows.
    for k in range(weights.shape[0]):
        each = predictions[k]
        for row in range(total.shape[0]):
            for column in range(n_columns):
                values[column] = each[row, column]  # a copy, so that tables stay unchanged
            if tempers:
                temper(&values[0], n_columns, temperatures[k], floor)
            for column in range(n_columns):
                total[row, column] += weights[k] * values[column]
    return found


def standardised(
    const double[:, :] X, const double[::1] mean, const double[::1] scale, double farthest
):
    """Return (X - mean) / scale, clipped to ±farthest; missing values become the mean."""
    cdef Py_ssize_t row, column
    cdef double value
    found = np.zeros((X.shape[0], X.shape[1]))  # 0 is the mean: missing values keep it
    cdef double[:, ::1] scaled = found
    with nogil:
        for row in range(X.shape[0]):
            for column in range(X.shape[1]):
                if not isnan(X[row, column]):
                    value = (X[row, column] - mean[column]) / scale[column]
                    scaled[row, column] = min(max(value, -farthest), farthest)
    return found


def gaussian_sums(
    const double[:, ::1] X,          # IN (n_rows, n_features)
    const double[:, ::1] landmarks,  # IN (n_features, n_landmarks)
    double length,
    const double[:, ::1] weights,    # IN (n_landmarks, n_outputs)
):
    """Return the sums of weighted kernels exp(-length · distance²), (n_rows, n_outputs)."""
    cdef Py_ssize_t n_landmarks = landmarks.shape[1], row, feature, k, output
    cdef double gap, value
    cdef double[::1] apart = np.empty(n_landmarks)  # squared distances of one row
    found = np.zeros((X.shape[0], weights.shape[1]))
    cdef double[:, ::1] sums = found
    with nogil:
        for row in range(X.shape[0]):
            apart[:] = 0.0
            for feature in range(X.shape[1]):  # outer loop: a feature's landmarks are contiguous
                value = X[row, feature]
                for k in range(n_landmarks):
                    gap = value - landmarks[feature, k]
                    apart[k] += gap * gap
            for k in range(n_landmarks):
                value = exp(-length * apart[k])
                for output in range(weights.shape[1]):
                    sums[row, output] += value * weights[k, output]
    return found
