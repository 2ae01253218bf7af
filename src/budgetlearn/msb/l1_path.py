"""The L1 path of logistic regression, by python-glmnet."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from .._counting import fit_counted
from .._extras import extra


@dataclass(frozen=True, eq=False)
class L1Path:
    """Logistic models along a falling penalty, in the standardised space.

    Attributes
    ----------
    coef : ndarray of shape (n_lambda, n_outputs, n_features)
        One output for two classes, else one per class.
    intercept : ndarray of shape (n_lambda, n_outputs)
        The intercepts.
    penalties : ndarray of shape (n_lambda,)
        λ, falling.
    mean, scale : ndarray of shape (n_features,)
        What standardises X.
    """

    coef: np.ndarray
    intercept: np.ndarray
    penalties: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def __len__(self):
        return self.penalties.size

    def variables(self, step):
        """Return the variables with a non-zero coefficient in any class, as a tuple of int."""
        return tuple(np.flatnonzero(self.coef[step].any(axis=0)).tolist())

    def decision_function(self, X, step):
        """Return the linear scores of `X`, shape (n_samples, n_outputs), at one step.

        Variables whose coefficients are all 0 are not looked at: they may be NaN.
        """
        used = self.coef[step].any(axis=0)
        standard = np.where(used, (X - self.mean) / self.scale, 0.0)
        return standard @ self.coef[step].T + self.intercept[step]

    def predict_proba(self, X, step):
        """Return class probabilities of `X`, shape (n_samples, n_classes), at one step."""
        scores = self.decision_function(X, step)
        if scores.shape[1] == 1:
            right = expit(scores[:, 0])
            return np.column_stack([1 - right, right])
        return softmax(scores, axis=1)

    def predict(self, X, step):
        """Return class indices of `X`, shape (n_samples,), at one step."""
        scores = self.decision_function(X, step)
        return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class L1Step:
    """One model of an L1 path, as a classifier of class indices.

    Parameters
    ----------
    path : L1Path
        The path.
    step : int
        Which of its models.
    """

    path: L1Path
    step: int

    def predict(self, X):
        """Return class indices of X, shape (n_samples,)."""
        return self.path.predict(X, self.step)

    def predict_proba(self, X):
        """Return class probabilities of X, shape (n_samples, n_classes)."""
        return self.path.predict_proba(X, self.step)


def fit_l1_path(X, y, n_lambda=100, tolerance=1e-7, weight=None, penalty_factors=None):
    """Fit L1 logistic regression (multinomial for more than two classes) along a λ path.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised here, so that one λ means the same to each variable.
    y : ndarray of int of shape (n_samples,)
        Class indices 0..K-1, each present.
    n_lambda : int, default=100
        Length of the logarithmic grid; glmnet may stop earlier, once the fit is saturated.
    tolerance : float, default=1e-7
        glmnet's threshold for the convergence of its coordinate descent.
    weight : ndarray of shape (n_samples,), default=None
        Weights of the examples, > 0; None: 1 each.
    penalty_factors : ndarray of shape (n_features,), default=None
        What λ is multiplied by for each variable, >= 0; None: 1 each.

    Returns
    -------
    L1Path

    Raises
    ------
    RuntimeError
        When glmnet's error flag tells that it solved for no λ at all.
    """
    with extra("msb", "the L1 path (logitB, and 'l1' among msB's sequences)"):
        from glmnet import LogitNet  # costs a second, and only this method needs it

    if weight is not None:
        weight = weight / weight.mean()
    standard, mean, scale = _standardised(X, weight)
    if not standard.any():
        return _intercepts_only(y, mean, scale, weight)
    net = LogitNet(alpha=1, n_lambda=n_lambda, standardize=False, n_splits=0, tol=tolerance)
    with warnings.catch_warnings():
        # A path cut short by saturation is told by `jerr_`, read below, not by a warning.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            fit_counted(net, standard, y, sample_weight=weight, relative_penalties=penalty_factors)
        except ValueError as error:
            raise RuntimeError(f"glmnet could not fit the L1 path: {error}") from error
    if net.jerr_ > 0 or net.n_lambda_ < 1:
        raise RuntimeError(
            f"glmnet found no solution (jerr = {net.jerr_}) on {X.shape[0]} rows, "
            f"{X.shape[1]} variables, {np.unique(y).size} classes."
        )
    return L1Path(
        coef=np.ascontiguousarray(np.moveaxis(net.coef_path_, 2, 0)),
        intercept=np.ascontiguousarray(np.atleast_2d(net.intercept_path_).T),
        penalties=net.lambda_path_,
        mean=mean,
        scale=scale,
    )


def _standardised(X, weight):
    """Return X with mean 0 and spread 1 in each column, constant ones 0; the means; the spreads."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    if weight is not None:
        mean = np.average(X, axis=0, weights=weight)
        scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    # Rounding leaves a constant column a tiny spread; dividing by it would make noise of it.
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    scale = np.where(constant, 1.0, scale)
    return np.where(constant, 0.0, (X - mean) / scale), mean, scale


def _intercepts_only(y, mean, scale, weight):
    """Return the path of a table whose variables are all constant: class priors, one step."""
    priors = np.log(np.bincount(y, weight) / y.size)
    intercept = priors[1:] - priors[0] if priors.size == 2 else priors
    return L1Path(
        coef=np.zeros((1, intercept.size, mean.size)),
        intercept=intercept[None, :],
        penalties=np.zeros(1),
        mean=mean,
        scale=scale,
    )
