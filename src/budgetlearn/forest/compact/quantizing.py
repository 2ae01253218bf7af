"""Thresholds and values in fewer bits, such that no platform rounds them otherwise."""

import numpy as np

N_BINS = 256
INT8_MAX = 127


def float32_below(thresholds):
    """Return the largest float32 numbers <= thresholds: float32 examples fall on the same sides."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def binned(feature, threshold):
    """Put the thresholds of each feature on a grid of at most 256 points.

    The grid's step is a power of two and its start a multiple of it, so that start + step * bin is
    exact in float32, whatever fuses or reorders the two operations.

    Parameters
    ----------
    feature : ndarray of int of shape (n_splits,)
    threshold : ndarray of float64 of shape (n_splits,)

    Returns
    -------
    used : ndarray of int of shape (n_used,)
        Features with a threshold, ascending.
    low, step : ndarray of float32 of shape (n_used,)
    bins : ndarray of int of shape (n_splits,)
    """
    used, place = np.unique(feature, return_inverse=True)
    least, largest = np.full(used.size, np.inf), np.full(used.size, -np.inf)
    np.minimum.at(least, place, threshold)
    np.maximum.at(largest, place, threshold)
    size = np.maximum(np.abs(least), np.abs(largest))
    # Below 2^22 steps from zero, every point of the grid is a float32; so is the step itself.
    wanted = np.maximum((largest - least) / (N_BINS - 2), size * 2.0**-22)
    step = np.exp2(np.ceil(np.log2(np.maximum(wanted, 2.0**-120))))
    low = np.floor(least / step) * step
    bins = np.rint((threshold - low[place]) / step[place]).astype(np.int64)
    return used, low.astype(np.float32), step.astype(np.float32), bins


def scaled_int8(value, constant, shared):
    """Return values as whole multiples of a scale, in [-127, 127], and the constant likewise.

    Parameters
    ----------
    value : ndarray of shape (n_stops, n_columns)
    constant : ndarray of shape (n_columns,)
    shared : bool
        One scale for all columns, so that their sums compare as whole numbers.

    Returns
    -------
    value : ndarray of int8 of shape (n_stops, n_columns)
    constant : ndarray of int32 of shape (n_columns,)
    scale : ndarray of float32 of shape (n_columns,)
    """
    largest = np.abs(value).max(axis=0, initial=0.0)
    if shared:
        largest = np.full(largest.size, largest.max())
    # The constant must fit 32 bits with room for the sums.
    largest = np.maximum(largest, np.abs(constant) * INT8_MAX / 2**30)
    scale = np.where(largest > 0, largest / INT8_MAX, 1.0).astype(np.float32)
    multiples = np.clip(np.rint(value / scale), -INT8_MAX, INT8_MAX)
    return multiples.astype(np.int8), np.rint(constant / scale).astype(np.int32), scale
