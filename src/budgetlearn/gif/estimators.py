"""Globally induced forests (Begon, Joly and Geurts, 2017): forests under a node budget."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from ..protocol.checked_data import complete_table, weighted_quantile
from ..protocol.documenting import estimator_class
from ..validation import check_choice, check_number
from . import loss_kernels as kernels
from .forest import BaseGIF


@estimator_class
class GIFRegressor(MultiOutputMixin, RegressorMixin, BaseGIF):
    """Globally induced forest for regression, with squared loss and one or more outputs.

    Starting from `n_estimators` single splits, the forest accepts one node after another, each
    with the weight that lowers the loss of the whole forest most, until the node budget is spent
    (algorithm 1 of Begon, Joly and Geurts, 2017). Splits are those of extra trees.

    Parameters
    ----------
    loss : {"squared", "huber", "quantile"}, default="squared"
        "huber": squared for most examples and linear for the tenth farthest from the median, so
        that a few outliers do not dominate. "quantile": the pinball loss, for predicting a
        quantile. With both losses, splits use targets that are cut off where that tenth begins.
    quantile : float, default=0.5
        The quantile in (0, 1) that `loss="quantile"` predicts: 0.1 and 0.9 give an interval.

    See Also
    --------
    GIFClassifier : Globally induced forest for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetlearn.gif import GIFRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = GIFRegressor(node_budget=500, n_estimators=50, random_state=0).fit(X, X[:, 0] ** 2)
    >>> model.n_nodes_
    500
    """

    _multi_output = True

    quantile: float = 0.5

    def _loss(self):
        if self.loss == "quantile":
            return Quantile(self.quantile)
        return Huber() if self.loss == "huber" else Squared()

    def _fit(self, train, valid, seeds):
        check_choice(self.loss, "loss", ("squared", "huber", "quantile"))
        check_number(self.quantile, "quantile", low=0, high=1, low_open=True, high_open=True)
        self._check_parameters(self.loss)
        self._single_output = train.y.ndim == 1
        # Scaled, so that squares of targets neither overflow nor vanish. Powers of two are exact.
        _, exponent = np.frexp(np.abs(train.y).max())

        def scaled(part):
            return replace(part, y=np.ldexp(part.y, -exponent).reshape(len(part.y), -1))

        self._grow(scaled(train), valid and scaled(valid), seeds, exponent)

    def _answer(self, scores):
        return scores[:, 0] if self._single_output else scores, None


@estimator_class
class GIFClassifier(ClassifierMixin, BaseGIF):
    """Globally induced forest for classification.

    `GIFRegressor` describes how the forest grows. Splits lower Gini's index.

    Parameters
    ----------
    loss : {"squared", "trimmed_exponential", "exponential", "auto"}, default="squared"
        "squared": one output for each class, the paper's choice for more than two classes.
        "trimmed_exponential": multiclass exponential loss with bounded weights, the paper's
        choice for two classes. "exponential": without that bound, for comparison. "auto": the
        paper's choice, but "squared" with a regression or splits by residuals.
    saturation : float, default=3.0
        Largest log-ratio of class errors that counts ("trimmed_exponential" only), in (0, 100].
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn, multiplied with the sample weights. With weights
        the splits lower the weighted variance of the one-hot classes, which is Gini's index.

    Attributes
    ----------
    loss_ : str
        The loss in use.

    See Also
    --------
    GIFRegressor : Globally induced forest for regression.
    """

    _regressions = ("ridge", "logistic")

    saturation: float = 3.0
    class_weight: Any = None

    def _loss(self):
        if self.loss_ == "squared":
            return Logistic() if str(self.joint_fit) == "logistic" else Squared()
        return Exponential(np.inf if self.loss_ == "exponential" else self.saturation)

    def _fit(self, train, valid, seeds):
        check_choice(self.loss, "loss", ("squared", "trimmed_exponential", "exponential", "auto"))
        self.loss_ = self.loss
        if self.loss == "auto":
            regression = self._regresses or self.split_on == "residuals"
            squared = regression or self.classes_.size > 2
            self.loss_ = "squared" if squared else "trimmed_exponential"
        self._check_parameters(self.loss_)
        check_number(self.saturation, "saturation", low=0, high=100, low_open=True)
        one_hot = np.eye(self.classes_.size)
        if valid is not None:
            known = valid.take(np.flatnonzero(valid.y >= 0))
            valid = replace(known, y=one_hot[known.y])
        self._grow(replace(train, y=one_hot[train.y]), valid, seeds)

    def decision_function(self, X):
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Larger scores mean likelier classes. For two classes: the second minus the first.
        """
        X = complete_table(self, X)
        walk = self._model.predictor.walk(X, values=True, n_jobs=self.n_jobs)
        scores = self.intercept_ + walk.values
        return scores[:, 1] - scores[:, 0] if self.classes_.size == 2 else scores

    def _answer(self, scores):
        return self.classes_[scores.argmax(axis=1)], self._loss().probabilities(scores)


# The losses. Each takes targets with one column for each output (regression) or class (one-hot),
# computes the best constant, creates the kernel with the state of the training samples, turns
# scores into probabilities, and measures predictions on validation data.


class Squared:
    """Squared error, summed over the outputs; in classification, one output for each class."""

    def start(self, targets, weight=None):
        """Return the loss-optimal constant and the kernel that starts from it.

        Targets (n_samples, n_outputs) are outputs or one-hot classes; weights are positive, or None
        (all 1).
        """
        # NumPy's weighted mean may differ in the last bit.
        intercept = targets.mean(axis=0) if weight is None else weight @ targets / weight.sum()
        return intercept, kernels.SquaredLoss(np.ascontiguousarray(targets - intercept), weight)

    def split_targets(self, targets, weight):
        """Return the targets whose variance the splits reduce."""
        return targets

    def probabilities(self, scores):
        """Return class probabilities: the outputs without negative values, normalised."""
        positive = np.maximum(scores, 0.0)
        return positive / positive.sum(axis=1, keepdims=True)

    def error(self, predicted, targets):
        """Return the error of predictions, or of probabilities, summed over the examples."""
        return np.square(predicted - targets).sum()


class Huber(Squared):
    """Huber's loss, which is linear for the tenth of the targets farthest from the median."""

    def start(self, targets, weight=None):
        """Return the medians and the kernel."""
        median, delta = _middle_and_spread(targets, weight)
        return median, kernels.HuberLoss(np.ascontiguousarray(targets - median), delta, weight)

    def split_targets(self, targets, weight):
        """Return the targets, cut off at the distance where the farthest tenth begins."""
        median, spread = _middle_and_spread(targets, weight)
        return np.clip(targets, median - spread, median + spread)

    def error(self, predicted, targets):
        """Return the absolute error, which does not depend on the spread of other targets."""
        return np.abs(predicted - targets).sum()


class Quantile(Huber):
    """The pinball loss of a quantile."""

    def __init__(self, quantile):
        self.quantile = quantile

    def start(self, targets, weight=None):
        """Return the quantiles and the kernel."""
        intercept = weighted_quantile(targets, self.quantile, weight)
        residuals = np.ascontiguousarray(targets - intercept)
        return intercept, kernels.QuantileLoss(residuals, self.quantile, weight)

    def error(self, predicted, targets):
        """Return the pinball loss."""
        below = targets - predicted
        return np.maximum(self.quantile * below, (self.quantile - 1) * below).sum()


def _middle_and_spread(targets, weight):
    """Return each column's median, and the distance from it that nine in ten do not exceed."""
    median = weighted_quantile(targets, 0.5, weight)
    distance = np.abs(targets - median)
    spread = weighted_quantile(distance, 0.9, weight)
    # If nine in ten are equal, the smallest distance of the others is the spread.
    nearest = np.where(distance > 0, distance, np.inf).min(axis=0)
    spread = np.where(spread > 0, spread, nearest)
    return median, np.where(np.isfinite(spread), spread, 1.0)


class Logistic(Squared):
    """Squared error while the forest grows, logistic loss when all weights are refitted."""

    def probabilities(self, scores):
        """Return class probabilities: the softmax of the scores."""
        return softmax(scores, axis=1)


class Exponential(Squared):
    """Multiclass exponential loss of Zhu et al. (2009), with scores that sum to 0 (Eq. MEmin).

    A class absent from a node would require an infinite weight. Its error counts as 2^-52 of the
    node's, which still gives large steps. The paper's remedy is `saturation` (Eq. METrimmed).
    """

    def __init__(self, saturation=np.inf):
        self.saturation = saturation

    def start(self, targets, weight=None):
        """Return the loss-optimal constant and the kernel; every class must be present."""
        n_classes = targets.shape[1]
        codes = targets.argmax(axis=1).astype(np.int32)
        log_counts = np.log(targets.sum(axis=0) if weight is None else weight @ targets)
        # Eq. (MEsolution) for the node of all samples; not trimmed, as every class is present.
        intercept = (n_classes - 1) * (log_counts - log_counts.mean())
        # Each sample starts with its loss under the intercept; the kernel multiplies these losses.
        errors = np.exp(-intercept[codes] / (n_classes - 1))
        errors *= 1.0 if weight is None else weight
        return intercept, kernels.ExponentialLoss(codes, errors, n_classes, self.saturation)

    def probabilities(self, scores):
        """Return class probabilities (Eq. MEproba)."""
        return softmax(scores / (scores.shape[1] - 1), axis=1)
