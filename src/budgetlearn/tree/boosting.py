"""Gradient boosting on a coded table, for many models on few rows."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..fit_counts import count_fit
from .binning import bin_features
from .leaf_wise import MOST_ROWS, LeafWise
from .predictor import ForestPredictor, Tree
from .shares import softmax

# Minimum distance of class shares from 0 and 1 in the constant that boosting starts from.
LEAST_SHARE = 1e-15


@dataclass(frozen=True, eq=False)
class CodedRows:
    """A coded table in row-major order, as boosting sums all features of an example together."""

    codes: np.ndarray  # uint8 (n_samples, n_features): last code for missing values, if any
    offsets: np.ndarray  # int32 (n_features + 1,): where each feature begins in `cuts`
    cuts: np.ndarray  # the threshold after each code; inf after the last one with a value
    missing: np.ndarray  # bool (n_features,): whether values were missing

    @classmethod
    def of(cls, X, max_bins):
        """Return a table's codes: at most `max_bins` (<= 255) for each feature, and one for NaN."""
        missing = np.isnan(X).any(axis=0)
        binned = bin_features(X, max_bins, missing=missing)
        low, high = np.append(binned.lowest[1:], np.nan), binned.highest
        middle = low / 2 + high / 2
        # Halfway to the next value, but never equal to it after rounding, as in `midpoint`.
        cuts = np.where((high <= middle) & (middle < low), middle, high)
        # After the last known value only missing ones follow, and larger values of new rows.
        cuts[binned.offsets[1:] - 1 - missing] = np.inf
        codes = np.ascontiguousarray(binned.codes.T, dtype=np.uint8)
        return cls(codes, binned.offsets.astype(np.int32), cuts, missing)

    def take(self, features):
        """Return the table of some features, in that order."""
        sizes = np.diff(self.offsets)[features]
        cells = np.concatenate([np.arange(*self.offsets[each : each + 2]) for each in [*features]])
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
        codes = np.ascontiguousarray(self.codes[:, features])
        return CodedRows(codes, offsets, self.cuts[cells], self.missing[features])


class Boosting:
    """Boosting with one tree for each output per round, and the current scores of all rows.

    The trees learn from `rows`; the scores of other rows are predictions. The loss is the squared
    error, or the log loss of a sigmoid (two classes) or softmax. With several outputs, `y` has a
    row for each, and scores start from 0. `rate` multiplies the values of leaves; `sizes` are
    arguments of `LeafWise`.
    """

    def __init__(self, coded, y, n_classes, rows, weight, *, rate, keep=True, **sizes):
        count_fit()
        self.coded, self.n_classes, self.rate, self.keep = coded, n_classes, rate, keep
        # Of more rows than a tree can sum, every k-th one is used, which is enough for 15 leaves.
        self.rows = np.asarray(rows[:: -(-len(rows) // MOST_ROWS)], dtype=np.int32)
        self._others = self._without(self.rows)
        self.weight = weight
        self._grower = LeafWise(coded, **sizes)
        n_features = coded.codes.shape[1]
        self._all = np.arange(n_features, dtype=np.int32)
        self.prices, self.gains = np.zeros(n_features), np.zeros(n_features)
        self.targets, self.start = self._begin(y)
        self.scores = np.repeat(self.start[:, None], self.targets.shape[1], axis=1)
        self.trees = []

    def _begin(self, y):
        """Return targets (n_outputs, n_samples) and the constant's scores, (n_outputs,)."""
        if y.ndim == 2:
            return y, np.zeros(len(y))
        inside = y[self.rows]
        weight = None if self.weight is None else self.weight[self.rows]
        if self.n_classes is None:
            return y[None].astype(np.float64), np.array([np.average(inside, weights=weight)])
        shares = np.bincount(inside, weight, self.n_classes)
        shares = np.clip(shares / shares.sum(), LEAST_SHARE, 1 - LEAST_SHARE)
        if self.n_classes == 2:
            return (y[None] == 1) * 1.0, np.log(shares[1:] / shares[:1])
        return (y == np.arange(self.n_classes)[:, None]) * 1.0, np.log(shares)

    def _without(self, rows):
        outside = np.ones(len(self.coded.codes), dtype=bool)
        outside[rows] = False
        return np.flatnonzero(outside).astype(np.int32)

    def predictions(self):
        """Return probabilities (n_samples, n_classes) or numbers (n_samples, 1) for all rows."""
        return predictions_of(self.scores.T, self.n_classes)

    def _slopes(self):
        """Return gradients and curvatures of the loss, each (n_outputs, n_samples)."""
        if self.n_classes is None:
            gradients, curvatures = self.scores - self.targets, np.ones_like(self.scores)
        else:
            # K / (K − 1): K scores have K − 1 degrees of freedom (Friedman 2001, algorithm 6).
            factor = self.n_classes / (self.n_classes - 1) if self.n_classes > 2 else 1.0
            two = self.n_classes == 2
            shares = expit(self.scores) if two else softmax(self.scores.T).T.copy()
            gradients, curvatures = shares - self.targets, factor * shares * (1 - shares)
        if self.weight is not None:
            gradients, curvatures = gradients * self.weight, curvatures * self.weight
        return gradients, curvatures

    def step(self, rows=None, features=None):
        """Add a tree for each output, and return whether any of them splits.

        `rows` and `features` are those that these trees learn from; None: all.
        """
        rows, others = (self.rows, self._others) if rows is None else (rows, self._without(rows))
        features = self._all if features is None else features
        grew = False
        for output, slopes in enumerate(zip(*self._slopes(), strict=True)):
            grower = self._grower
            grew |= grower.grow(rows, *slopes, features, self.prices, self.gains) > 1
            grower.add_to(self.scores[output], self.rate, others)
            if self.keep:
                self.trees.append(grower.tree())
        return grew

    def grow(self, n_rounds):
        """Make `n_rounds` steps, or fewer if no tree splits any more."""
        for _ in range(n_rounds):
            if not self.step():
                break

    def grown(self, n_rounds=None):
        """Return the trees of the first `n_rounds` (None: of all so far) for a `ForestPredictor`.

        The values of a tree are 0 in all columns but that of its output.
        """
        n_outputs = len(self.start)
        trees = []
        for place, (columns, values) in enumerate(self.trees[: n_rounds and n_rounds * n_outputs]):
            value = np.zeros((values.size, n_outputs))
            value[:, place % n_outputs] = self.rate * values
            trees.append(Tree.of_nodes(columns, value))
        return trees

    def model(self, n_rounds=None):
        """Return the `BoostedTrees` of the first `n_rounds`; None: of all so far."""
        packed = ForestPredictor(self.grown(n_rounds), self.coded.codes.shape[1])
        return BoostedTrees(packed, self.start, self.n_classes)


def predictions_of(scores, n_classes):
    """Return the probabilities or numbers that scores (n_samples, n_outputs) represent."""
    if n_classes is None:
        return scores
    if n_classes == 2:
        second = expit(scores)
        return np.hstack([1 - second, second])
    return softmax(scores)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Boosted trees, packed for predictions."""

    trees: ForestPredictor
    start: np.ndarray  # (n_outputs,): scores before any tree
    n_classes: int | None  # None in regression

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        return predictions_of(self.trees.walk(X, values=True).values + self.start, self.n_classes)
