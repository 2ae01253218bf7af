"""Rounding of a model's thresholds and values to the formats of devices, and checks of both."""

import warnings

import numpy as np

from ..exceptions import BudgetlearnWarning
from ..validation import ParameterError
from .serialization import REGRESSION, VOTES

FORMATS = ("float32", "float16", "int8")
MOST_FEATURES = 1 << 16
N_BINS = 256
# A grid that holds all thresholds is kept, unless there are MANY of them, and each changes places
# with more than the share COARSE of the others on average. Then finer grids are tried.
MANY, COARSE, MOST_HALVED = 32, 0.05, 16
INT8_MAX = 127
LARGEST = np.finfo(np.float32).max
# Largest step of sums in float32, as a share of the largest value that is added to them.
COARSEST = 0.1


def float32_below(thresholds):
    """Return the largest float32 numbers <= thresholds, which keep the sides of float32 examples.

    Infinity, which separates missing values from others, becomes the largest float32 number.
    """
    near = np.minimum(thresholds, LARGEST).astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def binned(feature, threshold):
    """Put the thresholds of each feature on a grid of at most 256 points.

    The step is a power of two and the start a multiple of it, so start + step * bin is exact in
    float32, even if the two operations are fused or reordered. A grid holds all thresholds of its
    feature, unless a few outliers would make the others coincide; then the outliers move to its
    ends. Thresholds above all numbers have their own grid, with step 0. Returns the used features,
    ascending, with the start and step of each, the bin of each threshold, and the index of its
    feature among the used ones.
    """
    group = 2 * feature + (threshold >= LARGEST)
    order = np.lexsort((threshold, feature))
    used, starts = np.unique(group[order], return_index=True)
    low, step = np.empty(used.size, np.float32), np.empty(used.size, np.float32)
    bins = np.empty(threshold.size, dtype=np.int64)
    for k, places in enumerate(np.split(order, starts)[1:]):
        low[k], step[k], bins[places] = _grid(threshold[places])
    return used // 2, low, step, bins, np.searchsorted(used, group)


def _grid(thresholds):
    """Return start, step and bins of the grid of ascending thresholds."""
    if thresholds[0] >= LARGEST:
        return LARGEST, 0, 0
    # Points of the grid up to 2^22 steps from zero are float32 numbers, and so is the step.
    least = max(np.abs(thresholds[[0, -1]]).max() * 2.0**-22, 2.0**-120)
    step = np.exp2(np.ceil(np.log2(max(np.ptp(thresholds) / (N_BINS - 2), least))))
    whole = _placed(thresholds, step)
    if thresholds.size < MANY or whole[0] < COARSE * thresholds.size**2:
        return whole[1:]
    finer = [step / 2**halved for halved in range(MOST_HALVED) if step / 2**halved >= least]
    return min((_placed(thresholds, step) for step in finer), key=lambda grid: grid[0])[1:]


def _placed(thresholds, step):
    """Return the changes of order on the grid that holds most thresholds, and this grid."""
    # One bin is reserved for the start, which is up to a step below the first threshold.
    n_held = np.searchsorted(thresholds, thresholds + (N_BINS - 2) * step, side="right")
    first = np.argmax(n_held - np.arange(thresholds.size))
    low = max(np.floor(thresholds[first] / step) * step, -LARGEST)
    bins = np.clip(np.rint((thresholds - low) / step), 0, N_BINS - 1).astype(np.int64)
    moved = _ranks(thresholds, low + step * bins) - _ranks(thresholds, thresholds)
    return np.abs(moved).sum(), low, step, bins


def _ranks(ascending, numbers):
    """Return the count of `ascending` below each number; equal ones count half."""
    sides = (np.searchsorted(ascending, numbers, side=side) for side in ("left", "right"))
    return sum(sides) / 2


def refuse_unheld(value, constant, format, shared, n_trees):
    """Raise `ParameterError` if the values of a model overflow a format, or vanish in it."""
    largest, constant = np.abs(value).max(axis=0, initial=0.0), np.abs(constant)
    # If columns are compared with each other, a small one may vanish beside a large one.
    if shared:
        largest, constant = largest.max(keepdims=True), constant.max(keepdims=True)
    kind, sums = np.finfo("float32" if format == "int8" else format), np.finfo("float32")
    reach = (constant + n_trees * largest).max()
    if largest.max() > kind.max or reach > sums.max:
        raise ParameterError(
            f"format={format!r} holds values up to {kind.max:.5g} and sums up to {sums.max:.5g}, "
            f"but those of this model reach {largest.max():.5g} and {reach:.5g}: divide the "
            "targets by a power of ten, or use another format."
        )
    for size in largest[largest > 0]:
        if size < INT8_MAX * float(kind.smallest_subnormal) * (INT8_MAX if format == "int8" else 1):
            raise ParameterError(
                f"the values of this model, at most {size:.5g}, vanish in format={format!r}: "
                "multiply the targets by a power of ten, or use another format."
            )
    lost = np.spacing(constant.astype(np.float32)) > COARSEST * largest
    if (lost & (largest > 0)).any():
        raise ParameterError(
            f"the values of this model, at most {largest[lost].min():.5g}, vanish beside its "
            f"constant, {constant[lost].max():.5g}, in sums of float32: subtract a number near "
            "their mean from the targets."
        )


def refuse_above(most, number, what="features"):
    """Raise `ParameterError` if a number exceeds the limit of the compact format."""
    if number > most:
        raise ParameterError(f"the compact format holds at most {most:,} {what}, got {number:,}.")


def values_in(value, constant, kind, format, n_trees):
    """Return the values, the constant and the scale in the format."""
    if kind != VOTES:
        refuse_unheld(value, constant, format, kind != REGRESSION, n_trees)
    if kind == VOTES or format != "int8":
        value = value if kind == VOTES else value.astype(format)
        return value, constant.astype(np.float32), np.empty(0, dtype=np.float32)
    largest = np.abs(value).max(axis=0, initial=0.0)
    # One scale for all columns, so that their sums can be compared as integers.
    if kind != REGRESSION:
        largest = np.full(largest.size, largest.max())
    # The constant must fit into 32 bits and leave room for the sums.
    largest = np.maximum(largest, np.abs(constant) * INT8_MAX / 2**30)
    scale = np.where(largest > 0, largest / INT8_MAX, 1.0).astype(np.float32)
    multiples = np.clip(np.rint(value / scale), -INT8_MAX, INT8_MAX)
    return multiples.astype(np.int8), np.rint(constant / scale).astype(np.int32), scale


def thresholds_in(forest, format):
    """Return features and thresholds in the format, and the grids: used, low, step."""
    # Infinite thresholds and the largest float64 only separate missing values: no warning.
    sizes = np.abs(forest.threshold)
    far = forest.threshold[(sizes > LARGEST) & (sizes < np.finfo(np.float64).max)]
    if far.size:
        warnings.warn(
            f"a split at {far[0]:g} is beyond the range of float32 (up to {LARGEST:g}): devices "
            "cannot distinguish such values. Fit the forest in a larger unit.",
            BudgetlearnWarning,
            stacklevel=3,
        )
    # C has no literal for -infinity. At this threshold, of finite numbers only the least goes left.
    threshold = np.maximum(forest.threshold, np.nextafter(-LARGEST, np.float32(0)))
    if format == "int8":
        used, low, step, bins, places = binned(forest.feature, threshold)
        return places, bins.astype(np.uint8), used.astype(np.uint16), low, step
    none = np.empty(0, dtype=np.float32)
    return forest.feature, float32_below(threshold), none.astype(np.uint16), none, none
