"""`CompactForest`: a forest as a device stores it, in few bits, and its predictions in float32."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..exceptions import BudgetlearnWarning
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError, check_choice
from . import serialization
from .c_code import LAYOUTS, c_header
from .serialization import FULL, LEFT_IS_ZERO, REGRESSION, SCORES, VOTES, rebuilt, stored

N_BINS = 256
# Where the grid that holds all of many thresholds moves them past more than this share of each
# other, on average, one that need not hold all is looked for.
MANY, COARSE, MOST_HALVED = 32, 0.05, 16
INT8_MAX = 127
LARGEST = np.finfo(np.float32).max
# Largest step of sums in float32, as a share of the largest value that is added to them.
COARSEST = 0.1


def float32_below(thresholds):
    """Return the largest float32 numbers <= thresholds: float32 examples fall on the same sides.

    Infinity becomes the largest of all: it parts missing values from others.
    """
    near = np.minimum(thresholds, LARGEST).astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def binned(feature, threshold):
    """Put the thresholds of each feature on a grid of at most 256 points.

    The grid's step is a power of two and its start a multiple of it, so that start + step * bin is
    exact in float32, whatever fuses or reorders the two operations. A grid holds all thresholds of
    its feature, unless a few of them lie so far out that the others would fall together: then these
    few move to its end. Thresholds above all numbers have a grid of their own, with step 0.
    Returns the used features, ascending, start and step of each, the bin of each threshold, and
    the place of its feature among the used ones.
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
    size = np.abs(thresholds[[0, -1]]).max()
    # Below 2^22 steps from zero, every point of the grid is a float32; so is the step itself.
    least = max(size * 2.0**-22, 2.0**-120)
    step = np.exp2(np.ceil(np.log2(max(np.ptp(thresholds) / (N_BINS - 2), least))))
    whole = _placed(thresholds, step)
    if thresholds.size < MANY or whole[0] < COARSE * thresholds.size**2:
        return whole[1:]
    finer = [step / 2**halved for halved in range(MOST_HALVED) if step / 2**halved >= least]
    return min((_placed(thresholds, step) for step in finer), key=lambda grid: grid[0])[1:]


def _placed(thresholds, step):
    """Count how many others thresholds pass on the grid that holds most; return the grid, too."""
    # One bin is left for the start, which lies up to a step below the first threshold.
    n_held = np.searchsorted(thresholds, thresholds + (N_BINS - 2) * step, side="right")
    first = np.argmax(n_held - np.arange(thresholds.size))
    low = max(np.floor(thresholds[first] / step) * step, -LARGEST)
    bins = np.clip(np.rint((thresholds - low) / step), 0, N_BINS - 1).astype(np.int64)
    moved = _ranks(thresholds, low + step * bins) - _ranks(thresholds, thresholds)
    return np.abs(moved).sum(), low, step, bins


def _ranks(ascending, numbers):
    """Return the number of ascending ones less than each number, equal ones counted half."""
    sides = (np.searchsorted(ascending, numbers, side=side) for side in ("left", "right"))
    return sum(sides) / 2


def refuse_unheld(value, constant, format, shared, n_trees):
    """Raise `ParameterError` where the values of a model overflow a format, or vanish in it."""
    largest, constant = np.abs(value).max(axis=0, initial=0.0), np.abs(constant)
    # Columns that are compared with each other: a small one may vanish beside a large one.
    if shared:
        largest, constant = largest.max(keepdims=True), constant.max(keepdims=True)
    kind, sums = np.finfo("float32" if format == "int8" else format), np.finfo("float32")
    reach = (constant + n_trees * largest).max()
    if largest.max() > kind.max or reach > sums.max:
        raise ParameterError(
            f"format={format!r} holds values up to {kind.max:.5g} and sums up to {sums.max:.5g}, "
            f"and those of this model reach {largest.max():.5g} and {reach:.5g}: divide the "
            "targets by a power of ten, or take another format."
        )
    for size in largest[largest > 0]:
        if size < INT8_MAX * float(kind.smallest_subnormal) * (INT8_MAX if format == "int8" else 1):
            raise ParameterError(
                f"the values of this model, at most {size:.5g}, vanish in format={format!r}: "
                "multiply the targets by a power of ten, or take another format."
            )
    lost = np.spacing(constant.astype(np.float32)) > COARSEST * largest
    if (lost & (largest > 0)).any():
        raise ParameterError(
            f"the values of this model, at most {largest[lost].min():.5g}, vanish beside its "
            f"constant, {constant[lost].max():.5g}, in sums of float32: subtract a number near "
            "their mean from the targets."
        )


def scaled_int8(value, constant, shared):
    """Return values as whole multiples of a scale, in [-127, 127], and the constant likewise."""
    largest = np.abs(value).max(axis=0, initial=0.0)
    # One scale for all columns: their sums then compare as whole numbers.
    if shared:
        largest = np.full(largest.size, largest.max())
    # The constant must fit 32 bits with room for the sums.
    largest = np.maximum(largest, np.abs(constant) * INT8_MAX / 2**30)
    scale = np.where(largest > 0, largest / INT8_MAX, 1.0).astype(np.float32)
    multiples = np.clip(np.rint(value / scale), -INT8_MAX, INT8_MAX)
    return multiples.astype(np.int8), np.rint(constant / scale).astype(np.int32), scale


FORMATS = ("float32", "float16", "int8")
MOST_FEATURES = 1 << 16


def refuse_above(most, number, what="features"):
    """Raise `ParameterError` for more than the compact format can number."""
    if number > most:
        raise ParameterError(f"the compact format holds at most {most:,} {what}, got {number:,}.")


class CompactModel:
    """Base of forests and perceptrons as a device stores them: predictions by `scores`, C code."""

    @property
    def n_columns(self):
        """Columns of the scores."""
        return self.constant.size

    def predict(self, X):
        """Return class labels or numbers, (n_samples,), of several outputs (n_samples, n_outputs).

        X is rounded to float32.
        """
        scores = self.scores(X)
        if self.kind == REGRESSION:
            return scores[:, 0] if self.n_columns == 1 else scores
        # One column is the second class's score less the first's; equals go to the first.
        one = self.n_columns == 1
        codes = (scores[:, 0] > 0).astype(np.intp) if one else scores.argmax(axis=1)
        return codes if self.classes is None else self.classes[codes]

    def export_c(self, path, name="model", layout="small"):
        """Write the model as a C99 header, see `CompactMethods.export_c`."""
        check_choice(layout, "layout", LAYOUTS)
        Path(path).write_text(c_header(self, name, layout))


@dataclass(eq=False)
class CompactForest(CompactModel):
    """A forest in the compact format: what `to_bytes` writes and `export_c` puts into C.

    Predictions are made in float32, and are those of the exported C code bit for bit. In "int8"
    the values are added up as whole numbers.
    """

    # `REGRESSION`: scores are predictions. `SCORES`: classes by the largest score, or, with one
    # column, by the sign of the second class's score less the first's. `VOTES`: by votes of stops.
    kind: int
    format: str  # of the values, one of `FORMATS`; "int8" has thresholds of 8 bits too
    n_features: int
    n_classes: int  # 0 in regression
    # These five as in `StoredTrees`; in "int8" `feature` is a place in `used`.
    n_splits: np.ndarray
    empty: np.ndarray
    feature: np.ndarray
    n_left: np.ndarray
    missing_left: np.ndarray
    # (n_splits,), float32; in "int8" uint8, places on the grid low + step * place of the feature.
    threshold: np.ndarray
    value: np.ndarray  # (n_stops, n_columns), the format's type; votes: uint8, each stop's class
    constant: np.ndarray  # (n_columns,), float32, in "int8" int32: what the sums start from
    # (n_columns,), float32: what the sums are multiplied by; this and the rest is empty but for
    # "int8". The grid of each used feature, (n_used,): uint16, float32 and float32.
    scale: np.ndarray
    used: np.ndarray
    low: np.ndarray
    step: np.ndarray
    # (n_classes,): labels, no part of the bytes; None: classes are named by their number.
    classes: np.ndarray | None = None

    @classmethod
    def of(cls, trees, n_features, *, intercept=None, classes=None, votes=False, format="float32"):
        """Put trees into the compact format; their values are added up, starting from `intercept`.

        There are at most 65,536 features. Without `classes` it is regression. With `votes` each
        tree votes for the class of its leaf's largest value, of 256 at most, and values have no
        format.
        """
        check_choice(format, "format", FORMATS)
        refuse_above(MOST_FEATURES, n_features)
        forest = stored(trees, zero_stops=not votes)
        n_classes = 0 if classes is None else len(classes)
        constant = forest.constant + (0.0 if intercept is None else intercept)
        if votes:
            refuse_above(256, n_classes, "classes to vote for")
            kind, value = VOTES, forest.value.argmax(axis=1).astype(np.uint8)[:, None]
            # Trees without a split vote always for the same class.
            constant = np.bincount(forest.labels, minlength=n_classes).astype(np.float64)
        else:
            kind, value = REGRESSION if classes is None else SCORES, forest.value
            # Two classes: the sign of one difference decides, at half the bytes.
            if n_classes == 2:
                value, constant = value[:, 1:] - value[:, :1], constant[1:] - constant[:1]
        values = _values(value, constant, kind, format, len(trees))
        feature, threshold, *grid = _thresholds(forest, format)
        refuse_above(65_535, max(n_classes, constant.size), "classes or outputs")
        refuse_above(65_535, grid[0].size, "grids of thresholds in int8")
        shape = forest.n_splits, forest.empty, feature, forest.n_left, forest.missing_left
        return cls(kind, format, n_features, n_classes, *shape, threshold, *values, *grid, classes)

    @property
    def nbytes(self):
        """Bytes that `to_bytes` takes."""
        return len(self.to_bytes())

    def to_bytes(self):
        """Return the model as bytes; docs/gif-format.md describes them."""
        return serialization.written(self)

    @classmethod
    def from_bytes(cls, data, classes=None):
        """Read the model that `to_bytes` wrote.

        `classes`, (n_classes,), are the labels; None: predictions are numbers of classes. Bytes
        that are not a model, cut short, or of another version raise `FormatError`.
        """
        # Labels are no part of the bytes: a device predicts numbers of classes.
        classes = None if classes is None else np.asarray(classes)
        return cls(**serialization.read(data), classes=classes)

    def thresholds(self):
        """Return the thresholds as float32 numbers, shape (n_splits,)."""
        if self.format != "int8":
            return self.threshold
        return self.low[self.feature] + self.step[self.feature] * self.threshold.astype(np.float32)

    def features(self):
        """Return the feature of each split as a column of X, shape (n_splits,)."""
        return self.used[self.feature] if self.format == "int8" else self.feature

    def trees(self):
        """Return the trees; the value of a leaf is its place among the stops."""
        shape = self.n_splits, self.features(), self.thresholds(), self.n_left
        return rebuilt(*shape, self.missing_left)

    def scores(self, X):
        """Return the sums that predictions are made from, or the votes, (n_samples, n_columns).

        They are float32, and so is X, rounded to it.
        """
        X = np.ascontiguousarray(X, dtype=np.float32)
        # In the constant's type: float32, whose order of sums is that of C, or int32.
        sums = np.tile(self.constant, (len(X), 1))
        # As C compares: float32 on both sides.
        trees = self.trees()
        walk = ForestPredictor(trees, self.n_features).walk(X, leaves=True) if trees else None
        for place, (tree, values) in enumerate(zip(trees, self.stop_values(), strict=True)):
            stop = tree.value[walk.leaves[:, place], 0].astype(np.int64)
            if self.kind == VOTES:
                sums[np.arange(len(sums)), values[stop, 0]] += 1
            else:
                sums += values[stop].astype(sums.dtype)
        return sums.astype(np.float32) * (self.scale if self.scale.size else np.float32(1))

    def stop_values(self):
        """Yield the values of each tree's stops, left to right, those that are not stored too.

        They have the format's type and the shape (n_splits + 1, n_columns), votes one column.
        """
        # A tree of s splits has s + 1 stops, less one where the root has an empty side.
        first = 0
        for n_splits, empty in zip(self.n_splits, self.empty, strict=True):
            values = self.value[first : first + n_splits + (empty == FULL)]
            first += len(values)
            if empty != FULL:
                zero = np.zeros((1, self.n_columns), dtype=values.dtype)
                parts = (zero, values) if empty == LEFT_IS_ZERO else (values, zero)
                values = np.concatenate(parts)
            yield values


def _values(value, constant, kind, format, n_trees):
    """Return the values, the constant and the scale in the format."""
    if kind != VOTES:
        refuse_unheld(value, constant, format, kind != REGRESSION, n_trees)
        if format == "int8":
            return scaled_int8(value, constant, kind != REGRESSION)
        value = value.astype(format)
    return value, constant.astype(np.float32), np.empty(0, dtype=np.float32)


def _thresholds(forest, format):
    """Return features and thresholds in the format, and the grids: used, low, step."""
    # The largest of all numbers asks for missing values alone.
    sizes = np.abs(forest.threshold)
    far = forest.threshold[(sizes > LARGEST) & (sizes < np.finfo(np.float64).max)]
    if far.size:
        warnings.warn(
            f"a split at {far[0]:g} is beyond the numbers of float32 (up to {LARGEST:g}): devices "
            "cannot tell such values apart. Fit the forest in a larger unit.",
            BudgetlearnWarning,
            stacklevel=3,
        )
    # C has no literal for what is below all finite numbers; only the least of them goes left here.
    threshold = np.maximum(forest.threshold, np.nextafter(-LARGEST, np.float32(0)))
    if format == "int8":
        used, low, step, bins, places = binned(forest.feature, threshold)
        return places, bins.astype(np.uint8), used.astype(np.uint16), low, step
    none = np.empty(0, dtype=np.float32)
    return forest.feature, float32_below(threshold), none.astype(np.uint16), none, none
