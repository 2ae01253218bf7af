"""Forests and perceptrons as devices store them, in few bits, which predict in float32."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from ..exceptions import BudgetError
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError, check_choice
from . import serialization
from .c_code import LAYOUTS, c_header
from .formats import FORMATS, INT8_MAX, MOST_FEATURES, refuse_above, thresholds_in, values_in
from .serialization import FULL, LEFT_IS_ZERO, REGRESSION, SCORES, VOTES, rebuilt, stored

WIDEST = 256  # hidden units of a perceptron
FAR = np.float32(1e6)  # standardised features are clipped to ± this, so that no sum overflows


class CompactModel:
    """Base of compact forests and perceptrons, with predictions from `scores`, and C code."""

    def __repr__(self):
        about = f"{self.format}, {self.n_features} features, {self.nbytes} bytes"
        return f"{type(self).__name__}({about})"

    @property
    def n_columns(self):
        """Number of columns of the scores."""
        return self.constant.size

    def predict(self, X):
        """Return class labels or numbers, (n_samples,), or (n_samples, n_outputs) if several.

        X is rounded to float32.
        """
        scores = self.scores(X)
        if self.kind == REGRESSION:
            return scores[:, 0] if self.n_columns == 1 else scores
        # One column is the second class's score minus the first's; ties go to the first class.
        one = self.n_columns == 1
        codes = (scores[:, 0] > 0).astype(np.intp) if one else scores.argmax(axis=1)
        return codes if self.classes is None else self.classes[codes]

    def export_c(self, path, name="model", layout="small"):
        """Write the model as a C99 header, see `CompactMethods.export_c`."""
        check_choice(layout, "layout", LAYOUTS)
        Path(path).write_text(c_header(self, name, layout))


@dataclass(eq=False, repr=False)
class CompactForest(CompactModel):
    """A forest in the compact format, to be written as bytes or C.

    Predictions, float32 (in "int8", sums of integers), equal those of the C code bit for bit.
    """

    # `REGRESSION`: scores are predictions. `SCORES`: classes by the largest score, or, with one
    # column, by the sign of the second class's score minus the first's. `VOTES`: by votes of stops.
    kind: int
    format: str  # of the values, one of `FORMATS`; "int8" has 8-bit thresholds, too
    n_features: int
    n_classes: int  # 0 in regression
    # The next five are as in `StoredTrees`; in "int8", `feature` is an index into `used`.
    n_splits: np.ndarray
    empty: np.ndarray
    feature: np.ndarray
    n_left: np.ndarray
    missing_left: np.ndarray
    # (n_splits,), float32; in "int8" uint8 bins of the feature's grid low + step * bin.
    threshold: np.ndarray
    value: np.ndarray  # (n_stops, n_columns), in the format's type; votes: uint8, the stop's class
    constant: np.ndarray  # (n_columns,), float32 (int32 in "int8"): the start of the sums
    # (n_columns,), float32: the factor of the sums. It and the next three, which are the grids of
    # the used features, (n_used,): uint16, float32 and float32, are empty except in "int8".
    scale: np.ndarray
    used: np.ndarray
    low: np.ndarray
    step: np.ndarray
    # (n_classes,): labels, which are not stored in the bytes; None: predictions are class numbers.
    classes: np.ndarray | None = None

    @classmethod
    def of(cls, trees, n_features, *, intercept=None, classes=None, votes=False, format="float32"):
        """Convert trees to the compact format; their values are added to `intercept`.

        At most 65,536 features are possible. Without `classes`, the task is regression. With
        `votes`, each tree votes for the class of its leaf's largest value (256 classes at most),
        and `format` does not affect values.
        """
        check_choice(format, "format", FORMATS)
        refuse_above(MOST_FEATURES, n_features)
        forest = stored(trees, zero_stops=not votes)
        n_classes = 0 if classes is None else len(classes)
        constant = forest.constant + (0.0 if intercept is None else intercept)
        if votes:
            refuse_above(256, n_classes, "classes to vote for")
            kind, value = VOTES, forest.value.argmax(axis=1).astype(np.uint8)[:, None]
            # Trees without a split always vote for the same class.
            constant = np.bincount(forest.labels, minlength=n_classes).astype(np.float64)
        else:
            kind, value = REGRESSION if classes is None else SCORES, forest.value
            # For two classes the sign of the difference decides, which takes half the bytes.
            if n_classes == 2:
                value, constant = value[:, 1:] - value[:, :1], constant[1:] - constant[:1]
        values = values_in(value, constant, kind, format, len(trees))
        feature, threshold, *grid = thresholds_in(forest, format)
        refuse_above(65_535, max(n_classes, constant.size), "classes or outputs")
        refuse_above(65_535, grid[0].size, "grids of thresholds in int8")
        shape = forest.n_splits, forest.empty, feature, forest.n_left, forest.missing_left
        return cls(kind, format, n_features, n_classes, *shape, threshold, *values, *grid, classes)

    @property
    def nbytes(self):
        """Number of bytes from `to_bytes`."""
        return len(self.to_bytes())

    def to_bytes(self):
        """Return the model as bytes; docs/gif-format.md describes them."""
        return serialization.written(self)

    @classmethod
    def from_bytes(cls, data, classes=None):
        """Read a model from the bytes of `to_bytes`.

        `classes`, (n_classes,), are the labels; None: predictions are class numbers. Bytes that are
        not a model, are incomplete, contradict each other, or have another version raise
        `FormatError`; other damage is not noticed. Too few or too many labels raise
        `ParameterError`.
        """
        # Labels are not part of the bytes, because a device predicts class numbers.
        classes, parts = None if classes is None else np.asarray(classes), serialization.read(data)
        if classes is not None and len(classes) != parts["n_classes"]:
            raise ParameterError(
                f"classes must be the labels of {parts['n_classes']} classes, got {len(classes)}."
            )
        return cls(**parts, classes=classes)

    def thresholds(self):
        """Return the thresholds as float32 numbers, shape (n_splits,)."""
        if self.format != "int8":
            return self.threshold
        return self.low[self.feature] + self.step[self.feature] * self.threshold.astype(np.float32)

    def features(self):
        """Return the feature of each split as a column of X, shape (n_splits,)."""
        return self.used[self.feature] if self.format == "int8" else self.feature

    def trees(self):
        """Return the trees; the value of a leaf is the index of its stop."""
        shape = self.n_splits, self.features(), self.thresholds(), self.n_left
        return rebuilt(*shape, self.missing_left)

    def scores(self, X):
        """Return the sums or votes that determine predictions, float32 (n_samples, n_columns).

        X is rounded to float32.
        """
        X = np.ascontiguousarray(X, dtype=np.float32)
        # Sums have the type of the constant, int32 or float32, and are added in the order of C.
        sums = np.tile(self.constant, (len(X), 1))
        # Comparisons are in float32 on both sides, as in C.
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
        """Yield the values of each tree's stops from left to right, including those not stored.

        They have the format's type and the shape (n_splits + 1, n_columns); votes have one column.
        """
        # A tree of s splits stores s + 1 stops, or s if the root has an empty side.
        first = 0
        for n_splits, empty in zip(self.n_splits, self.empty, strict=True):
            values = self.value[first : first + n_splits + (empty == FULL)]
            first += len(values)
            if empty != FULL:
                zero = np.zeros((1, self.n_columns), dtype=values.dtype)
                values = np.concatenate((zero, values) if empty == LEFT_IS_ZERO else (values, zero))
            yield values


@dataclass(eq=False, repr=False)
class CompactNetwork(CompactModel):
    """A perceptron with one hidden layer of ReLU units and one-byte weights.

    The first layer standardises examples, and replaces missing values by the mean of training.
    Predictions are made in float32, and equal those of the exported C code bit for bit.
    """

    kind: int  # `REGRESSION`, or `SCORES` of classes as in `CompactForest`
    # (n_features,), float32: the number subtracted from a feature, and the factor after that, which
    # includes the unit of its weights.
    centre: np.ndarray
    step: np.ndarray
    weight: np.ndarray  # int8 (n_features, n_hidden)
    bias: np.ndarray  # float32 (n_hidden,)
    outer: np.ndarray  # int8 (n_hidden, n_columns)
    scale: np.ndarray  # float32 (1,): the unit of the weights `outer`
    constant: np.ndarray  # float32 (n_columns,)
    classes: np.ndarray | None = None

    format, arrays = "int8", ("centre", "step", "weight", "bias", "outer", "scale", "constant")

    @classmethod
    def fitted(cls, X, y, byte_budget, alpha, seed, task):
        """Fit as many hidden units as fit into `byte_budget` bytes, and round their weights.

        X may contain NaN. If not even one unit fits, `BudgetError` is raised.
        """
        classifies = task == "classification"
        n_features, n_columns = X.shape[1], np.unique(y).size if classifies else 1
        n_columns = 1 if n_columns == 2 else n_columns
        # The bytes of each further hidden unit, and of a network with one unit.
        one, least = n_features + 4 + n_columns, 9 * n_features + 5 * n_columns + 8
        if byte_budget < least:
            raise BudgetError(f"{byte_budget} bytes hold no hidden unit: one needs {least}.", least)
        width = min(WIDEST, 1 + (byte_budget - least) // one)
        centre, inverse = _standard(X)
        mean, spread = (0.0, 1.0) if classifies else (np.mean(y), np.std(y) or 1.0)
        kind = MLPClassifier if classifies else MLPRegressor
        options = {"alpha": alpha, "learning_rate_init": 0.01, "max_iter": 150}
        network = kind(hidden_layer_sizes=(width,), random_state=seed, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            Z = _standardised(X, centre, inverse)
            network.fit(Z, y if classifies else (y - mean) / spread)
        # The unit of a feature's weights is moved into its step, which each feature has anyway.
        step, weight = _rounded(network.coefs_[0], axis=1)
        scale, outer = _rounded(network.coefs_[1], axis=None)
        bias, constant = network.intercepts_
        arrays = centre, step[:, 0] * inverse, weight, bias, outer, scale.ravel() * spread
        arrays = (*arrays, constant * spread + mean)
        arrays = (each if each.dtype == np.int8 else each.astype(np.float32) for each in arrays)
        kind, classes = (SCORES, network.classes_) if classifies else (REGRESSION, None)
        return cls(kind, *arrays, classes)

    @property
    def n_features(self):
        """Number of columns of the examples."""
        return self.centre.size

    @property
    def nbytes(self):
        """Number of bytes of the arrays, which is all that a device stores."""
        return sum(getattr(self, name).nbytes for name in self.arrays)

    def scores(self, X):
        """Return the scores that determine predictions, float32 (n_samples, n_columns), as in C."""
        Z = _standardised(X, self.centre, self.step)
        hidden = _added(Z, self.weight, np.tile(self.bias, (len(Z), 1)))
        hidden = np.where(hidden > 0, hidden, np.float32(0))
        sums = np.zeros((len(Z), self.n_columns), dtype=np.float32)
        return self.constant + self.scale * _added(hidden, self.outer, sums)


def _standard(X):
    """Return the means of the known values in float32, and the inverse standard deviations.

    The latter are 0 for features whose values float32 cannot distinguish or represent.
    """
    known = np.ma.masked_invalid(X)
    mean, spread = (np.ma.filled(each, 0.0) for each in (known.mean(axis=0), known.std(axis=0)))
    size = np.abs(mean) + spread
    held = (spread > 2.0**-22 * size) & (spread > 1e-30) & (size < 1e30)
    centre = np.where(held, mean, 0.0).astype(np.float32)
    return centre, np.divide(1.0, spread, out=np.zeros(spread.size), where=held)


def _standardised(X, centre, step):
    with np.errstate(over="ignore", invalid="ignore"):
        Z = (np.asarray(X, dtype=np.float32) - centre) * step.astype(np.float32)
    return np.where(np.isnan(Z), np.float32(0), np.clip(Z, -FAR, FAR))


def _rounded(weights, axis):
    """Return the steps of weights, `INT8_MAX` to the largest weight, and the weights in steps."""
    largest = np.abs(weights).max(axis=axis, keepdims=True)
    step = np.where(largest > 0, largest / INT8_MAX, 1.0)
    return step, np.rint(weights / step).astype(np.int8)


def _added(inputs, weights, sums):
    """Add inputs times weights to sums one input after another, in the order of the C code."""
    for values, row in zip(inputs.T, weights, strict=True):
        sums += values[:, None] * row.astype(np.float32)
    return sums
