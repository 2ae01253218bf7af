"""Smooth models of a stage: linear models, and kernel ridge with held-out scores without refits."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.optimize import minimize

from ..fit_counts import count_fit
from ..protocol.calibration import scale_of
from ..tree.shares import softmax
from .kernels import gaussian_sums, standardised

# Values are clipped at this many standard deviations, so that outliers do not dominate.
FARTHEST = 3.0
# A few codes such as -999 inflate the standard deviation until all other values look alike. If
# clipping reduces it below the share LEAST_LEFT, values are clipped and it is computed again,
# N_CUTS times.
LEAST_LEFT, N_CUTS = 0.25, 8
# Penalty of the linear model on standardised coefficients, and largest number of steps.
PENALTY = 1.0
MOST_STEPS = 100
# Numbers of landmarks for the model, and for the choice of a length.
N_LANDMARKS, N_FEW = 300, 60
# Factors in a kernel's exponent, of the squared distance divided by the number of columns.
LENGTHS = (0.05, 0.2, 0.8)
PENALTIES = np.geomspace(1e-4, 1e2, 13)
# For fewer rows, a compiled kernel is faster than matrix products.
FEW_ROWS = 8
# Directions with less than this share of the largest squared singular value are rounding errors.
LEAST_SQUARE = 1e-10
# Range of log T for kernel scores, which are near 0 and 1: a sharpness 1 / T from 0.1 to 50.
_LOG_SCALES = (np.log(0.02), np.log(10.0))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standardisation of features, with outliers clipped.

    A missing value becomes its feature's mean; if any was missing in training, a column marks it.
    """

    # (n_columns,): of the training examples; a constant column has scale 1.
    mean: np.ndarray
    scale: np.ndarray
    gaps: np.ndarray  # int (n_gaps,): the features with an indicator column

    @classmethod
    def of(cls, X, weight, robust):
        """Return the scaling of weighted examples; `robust` protects it from codes like -999."""
        lacks = np.isnan(X)
        gaps = np.flatnonzero(lacks.any(axis=0))
        if gaps.size:
            counts = ~lacks if weight is None else ~lacks * weight[:, None]
            total = counts.sum(axis=0)
            means = (counts * np.where(lacks, 0.0, X)).sum(axis=0) / np.where(total > 0, total, 1.0)
            X = np.hstack([np.where(lacks, means, X), lacks[:, gaps]])
        found = moments(X, weight)
        ruled = robust & (moments(X, weight, found)[1] < LEAST_LEFT * found[1])
        for _ in range(N_CUTS if ruled.any() else 0):
            found[:, ruled] = moments(X[:, ruled], weight, found[:, ruled])
        mean, spread = found
        return cls(mean, np.where(spread > 0, spread, 1.0), gaps)

    def scaled(self, X):
        """Return standardised examples, (n_samples, n_columns)."""
        if self.gaps.size:
            X = np.hstack([X, np.isnan(X[:, self.gaps])])
        return standardised(X, self.mean, self.scale, FARTHEST)


def moments(X, weight, known=None):
    """Return mean and deviation of columns, (2, n_columns), clipped by `known` moments if any."""
    if known is not None:
        mean, spread = known
        X = np.clip(X, mean - FARTHEST * spread, mean + FARTHEST * spread)
    # In units of a power of two, which rounds nothing, so that sums and squares do not overflow.
    unit = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=0))[1] - 1)
    X = X / unit
    mean = np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    return np.array([mean, spread]) * unit


def targets_of(y, n_classes, weight=None):
    """Return centred targets, (n_samples, n_outputs), with a column for each class, and means."""
    targets = y[:, None].astype(np.float64) if n_classes is None else np.eye(n_classes)[y]
    centre = np.average(targets, axis=0, weights=weight)
    return targets - centre, centre


class Kind:
    """A kind of model; `fit_both` also returns predictions of examples it was not fitted on."""

    def fit_whole(self, table, features, seed):
        """Return the model of all examples."""
        return self.fit_both(table, features, seed)[1]


class FoldedKind(Kind):
    """A kind of model that is fitted once for each fold to make out-of-fold predictions."""

    def fit_both(self, table, features, seed):
        """Return the out-of-fold predictions and the model of all examples."""
        known, held_out = table.of(features), np.empty((len(table.y), table.n_outputs))
        for out in table.left_out:
            held_out[out] = self.fit(known.take(~out), seed).predict(known.X[out])
        return held_out[table.folds >= 0], self.fit(known, seed)

    def fit_whole(self, table, features, seed):
        """Return the model of all examples."""
        return self.fit(table.of(features), seed)


class LinearKind(FoldedKind):
    """Logistic or ridge regression on standardised features, with out-of-fold predictions."""

    def fit(self, table, seed):
        """Return a `LinearModel` of all features and examples."""
        count_fit()
        y, n_classes, weight = table.y, table.n_classes, table.weight
        # In regression, targets may be extreme where values are, so outliers keep their influence.
        scaling = Scaling.of(table.X, weight, robust=n_classes is not None)
        Z = scaling.scaled(table.X)
        if n_classes is None:
            targets, centre = targets_of(y, None, weight)
            # The mean of clipped values need not be 0, but the intercept is not penalised.
            middle = np.average(Z, axis=0, weights=weight)
            Z = Z - middle
            counted = Z if weight is None else Z * weight[:, None]
            gram = counted.T @ Z + PENALTY * np.eye(Z.shape[1])
            weights = np.linalg.solve(gram, counted.T @ targets)
            return LinearModel(scaling, weights, centre - middle @ weights, False)
        weights = _logistic(np.column_stack([Z, np.ones(len(Z))]), np.eye(n_classes)[y], weight)
        return LinearModel(scaling, weights[:-1], weights[-1], True)


def _logistic(Z, classes, weight):
    """Return the weights, (n_columns, n_classes), of least log loss; Z's last column is ones."""
    # Classes as rows, because sums over a short last axis are several times slower.
    Zt, shape = np.ascontiguousarray(Z.T), (classes.shape[1], Z.shape[1])
    # The intercept has a small penalty, just enough to make the solution unique.
    penalty = np.full(shape[1], PENALTY)
    penalty[-1] = 1e-3
    counts = 1.0 if weight is None else weight
    right = np.ascontiguousarray(classes.T * counts)

    def loss(flat):
        weights = flat.reshape(shape)
        scores = weights @ Zt
        # scipy's logsumexp would take as long as all the rest on a few hundred rows.
        scores -= scores.max(axis=0)
        shares = np.exp(scores)
        sums = shares.sum(axis=0)
        value = (counts * np.log(sums)).sum() - np.vdot(right, scores)
        value += 0.5 * (penalty * weights**2).sum()
        shares *= counts / sums
        shares -= right
        return value, (shares @ Z + penalty * weights).ravel()

    options = {"maxiter": MOST_STEPS, "ftol": 1e-5}
    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(shape).T


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear model; `predicted` turns its scores into probabilities or numbers."""

    scaling: Scaling
    weights: np.ndarray
    intercept: np.ndarray
    classifies: bool

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        sharpness = 1.0 if self.classifies else None
        return predicted(self.scaling.scaled(X) @ self.weights, self.intercept, sharpness)


def predicted(scores, centre, sharpness):
    """Return numbers score + centre, or probabilities ∝ exp(sharpness · (score + centre))."""
    found = scores if sharpness is None else softmax(sharpness * (scores + centre))
    # Scores or probabilities are rounded to single precision, because the last bits of matrix
    # products vary with the number of rows, and predictions must not. In regression, the centre is
    # added afterwards, as it may be much larger than the scores.
    found = found.astype(np.float32).astype(np.float64)
    return found + centre if sharpness is None else found


def squared_distances(X, Y):
    """Return the squared distances between the rows of X and of Y, (n_rows of X, n_rows of Y)."""
    apart = -2 * (X @ Y.T)
    apart += np.einsum("ij,ij->i", X, X)[:, None]
    apart += np.einsum("ij,ij->i", Y, Y)
    return np.maximum(apart, 0, out=apart)


class KernelKind(Kind):
    """Ridge regression of numbers or class indicators on Gaussian kernels around examples.

    Out-of-fold predictions need no further fit: with the hat matrix H, examples F left out together
    are predicted as y_F - (I - H_FF)^-1 (y_F - (H y)_F). Leave-one-out errors choose the penalty of
    each fold, from the other folds, and the length, from all examples and fewer landmarks. In
    classification, scores become probabilities ∝ exp(b · score), with b chosen by the log loss.
    """

    def fit_both(self, table, features, seed):
        """Return the out-of-fold predictions and the model of all examples."""
        X = np.ascontiguousarray(table.X[:, features])
        targets, centre = targets_of(table.y, table.n_classes, table.weight)
        scaling = Scaling.of(X, table.weight, robust=table.n_classes is not None)
        Z = scaling.scaled(X)
        # Landmarks are chosen without the target, so held-out predictions stay unbiased.
        landmarks = np.sort(np.random.RandomState(seed).permutation(len(Z))[:N_LANDMARKS])
        apart = squared_distances(Z, Z[landmarks])

        def fit_of(length, some):
            kernel = np.exp(-length / Z.shape[1] * apart[:, some])
            return KernelFit(kernel, landmarks[some], targets, table.weight)

        # A few landmarks are enough to choose the length, in a fraction of the time.
        few = slice(None, None, max(1, len(landmarks) // N_FEW))
        rough = [fit_of(length, few).left_one_out().sum(axis=1).min() for length in LENGTHS]
        length = LENGTHS[int(np.argmin(rough))]
        fit = fit_of(length, slice(None))
        errors, scores = fit.left_one_out(), np.empty_like(targets)
        for out in table.left_out:
            scores[out] = fit.left_out(out, PENALTIES[errors[:, ~out].sum(axis=1).argmin()])
        weights = fit.weights(PENALTIES[errors.sum(axis=1).argmin()])
        scores, judged, sharpness = scores[table.folds >= 0], table.judged, None
        if table.n_classes is not None:
            sharpness = 1 / scale_of(scores + centre, judged.y, judged.weight, _LOG_SCALES)
        columns = np.asfortranarray(Z[landmarks])
        model = KernelModel(scaling, columns, length / Z.shape[1], weights, centre, sharpness)
        return predicted(scores, centre, sharpness), model


class KernelFit:
    """Kernel ridge regression with one length, for all penalties.

    `kernel`, (n_samples, n_landmarks), is that of the examples and the landmarks, whose ascending
    rows are `landmarks`; `targets`, (n_samples, n_outputs), are centred. The row of an example with
    weight w is multiplied by √w, so that its squared errors count w times.
    """

    def __init__(self, kernel, landmarks, targets, weight=None):
        count_fit()
        # Pivoted Cholesky, kernel = L L', drops landmarks that depend on the others. LAPACK counts
        # pivots from 1.
        least = LEAST_SQUARE * len(landmarks)
        factor, pivots, n_kept, _ = dpstrf(kernel[landmarks], tol=least, lower=1)
        factor, kept = factor[:n_kept, :n_kept], pivots[:n_kept] - 1
        features = solve_triangular(factor, kernel[:, kept].T, lower=True).T
        self._root = None if weight is None else np.sqrt(weight)[:, None]
        if weight is not None:
            features, targets = self._root * features, self._root * targets
        # features = U diag(√squares) axes', and the hat matrix U diag(shrunk) U'.
        squares, axes = np.linalg.eigh(features.T @ features)
        sure = squares > LEAST_SQUARE * squares[-1]
        self._squares = squares[sure]
        turned = axes[:, sure] / np.sqrt(self._squares)
        self._U, self._inverse = features @ turned, np.zeros((len(landmarks), self._squares.size))
        self._inverse[kept] = solve_triangular(factor, turned, trans=1, lower=True)
        self._targets, self._along = targets, self._U.T @ targets

    def _shrunk(self, penalty):
        return self._squares / (self._squares + penalty)

    def left_one_out(self):
        """Return the leave-one-out squared errors, (n_penalties, n_samples)."""
        # One product for all penalties reads the large matrix only once.
        shrunk = self._shrunk(PENALTIES[:, None])
        leverages = np.minimum(self._U**2 @ shrunk.T, 1 - 1e-6)
        along = np.einsum("pd,do->dpo", shrunk, self._along)
        fitted = (self._U @ along.reshape(len(along), -1)).reshape(-1, *along.shape[1:])
        return (((self._targets[:, None] - fitted) ** 2).sum(axis=2) / (1 - leverages) ** 2).T

    def left_out(self, out, penalty):
        """Return the predictions of examples `out` that are left out together."""
        shrunk = self._shrunk(penalty)
        U, targets = self._U[out], self._targets[out]
        residuals = targets - U @ (shrunk[:, None] * self._along)
        # (I - U S U')^-1 r = r + U (S^-1 - U'U)^-1 U'r: a system as small as the landmarks.
        inner = np.diag(1 / shrunk) - U.T @ U
        found = targets - (residuals + U @ np.linalg.solve(inner, U.T @ residuals))
        return found if self._root is None else found / self._root[out]

    def weights(self, penalty):
        """Return the weights of the kernels, (n_landmarks, n_outputs)."""
        return self._inverse @ (self._shrunk(penalty)[:, None] * self._along)


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Weighted sums of Gaussian kernels; `predicted` turns them into probabilities or numbers."""

    scaling: Scaling
    landmarks: np.ndarray  # (n_landmarks, n_columns): scaled, in Fortran order
    length: float  # the factor of squared distances in exp(-length · distance²)
    weights: np.ndarray
    centre: np.ndarray
    sharpness: float | None

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        Z = self.scaling.scaled(X)
        if len(Z) < FEW_ROWS:
            scores = gaussian_sums(Z, self.landmarks.T, self.length, self.weights)
        else:
            scores = np.exp(-self.length * squared_distances(Z, self.landmarks)) @ self.weights
        return predicted(scores, self.centre, self.sharpness)
