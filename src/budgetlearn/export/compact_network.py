"""`CompactNetwork`: a perceptron as a device stores it, and its predictions in float32."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from ..exceptions import BudgetError
from .compact_forest import INT8_MAX, CompactModel
from .serialization import REGRESSION, SCORES

WIDEST = 256  # hidden units
FAR = np.float32(1e6)  # what lies farther out counts as this: no sum overflows


@dataclass(eq=False)
class CompactNetwork(CompactModel):
    """A perceptron with one hidden layer of ReLU and weights of a byte each.

    It takes examples as they are: the first layer standardises them, and there a missing value is
    the mean of training. Predictions are made in float32, and are those of the exported C code bit
    for bit.
    """

    kind: int  # `REGRESSION`, or `SCORES` of classes as in `CompactForest`
    # (n_features,), float32: what is taken from a feature, and the unit of its weights.
    centre: np.ndarray
    step: np.ndarray
    weight: np.ndarray  # int8 (n_features, n_hidden)
    bias: np.ndarray  # float32 (n_hidden,)
    outer: np.ndarray  # int8 (n_hidden, n_columns)
    scale: np.ndarray  # float32 (1,): the unit of these weights
    constant: np.ndarray  # float32 (n_columns,)
    classes: np.ndarray | None = None

    format, arrays = "int8", ("centre", "step", "weight", "bias", "outer", "scale", "constant")

    @classmethod
    def fitted(cls, X, y, byte_budget, alpha, seed, task):
        """Fit as many hidden units as the bytes hold to X, which may hold NaN; round the weights.

        `BudgetError` where they do not hold one.
        """
        classifies = task == "classification"
        n_classes = np.unique(y).size if classifies else 1
        width = _widest(byte_budget, X.shape[1], n_classes if n_classes > 2 else 1)
        centre, inverse = _standard(X)
        mean, spread = (0.0, 1.0) if classifies else (np.mean(y), np.std(y) or 1.0)
        kind = MLPClassifier if classifies else MLPRegressor
        options = {"alpha": alpha, "learning_rate_init": 0.01, "max_iter": 150}
        network = kind(hidden_layer_sizes=(width,), random_state=seed, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            Z = _standardised(X, centre, inverse)
            network.fit(Z, y if classifies else (y - mean) / spread)
        # Each feature has a step of its own in any case: it takes in the unit of its weights.
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
        """Columns of the examples."""
        return self.centre.size

    @property
    def nbytes(self):
        """Bytes of the arrays, all that a device stores."""
        return sum(getattr(self, name).nbytes for name in self.arrays)

    def scores(self, X):
        """Return what predictions are made from, float32 (n_samples, n_columns), as C does."""
        Z = _standardised(X, self.centre, self.step)
        hidden = _added(Z, self.weight, np.tile(self.bias, (len(Z), 1)))
        hidden = np.where(hidden > 0, hidden, np.float32(0))
        sums = np.zeros((len(Z), self.n_columns), dtype=np.float32)
        return self.constant + self.scale * _added(hidden, self.outer, sums)


def _widest(byte_budget, n_features, n_columns):
    """Return the most hidden units that so many bytes hold, at most `WIDEST`."""
    one, least = n_features + 4 + n_columns, 9 * n_features + 5 * n_columns + 8
    if byte_budget < least:
        raise BudgetError(f"{byte_budget} bytes hold no hidden unit: one takes {least}.", least)
    return min(WIDEST, 1 + (byte_budget - least) // one)


def _standard(X):
    """Return the means of the known values in float32, and one by their standard deviations.

    The latter is 0 where float32 does not tell the values of a feature apart, or cannot hold them.
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
    """Return the steps of weights, the largest of each being `INT8_MAX` of them, and multiples."""
    largest = np.abs(weights).max(axis=axis, keepdims=True)
    step = np.where(largest > 0, largest / INT8_MAX, 1.0)
    return step, np.rint(weights / step).astype(np.int8)


def _added(inputs, weights, sums):
    """Add inputs times weights to sums one input after another, the order that C adds in."""
    for values, row in zip(inputs.T, weights, strict=True):
        sums += values[:, None] * row.astype(np.float32)
    return sums
