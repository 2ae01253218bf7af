"""The L1 path of logistic regression by python-glmnet, and logitB, its models with their costs."""

import warnings
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from ..curves import pareto_indices
from ..exceptions import IncompletePathWarning, extra
from ..fit_counts import fit_counted
from ..protocol.documenting import estimator_class
from ..tree.boosting import predictions_of
from ..validation import check_number
from .schedule_classifier import ScheduleClassifier

# glmnet starts each penalty from the solution of the previous one, which must be near: on
# handwritten digits 100 penalties take a third of a second, but a single step from the first to the
# last is not finished after 27 s. So it never gets fewer penalties.
GRID = 100
PASSES = (10**5, 10**6)  # over all variables, for the whole path: glmnet's default, then more
CONSTANT = 1e-14  # a spread below this share of the largest value is rounding


@dataclass(frozen=True, eq=False)
class L1Path:
    """Logistic models along a falling penalty, in the standardised space.

    A path that is not `complete` ends early, but its models are valid solutions.
    """

    # (n_lambda, n_outputs, n_features): one output for two classes, otherwise one per class.
    coef: np.ndarray
    intercept: np.ndarray  # (n_lambda, n_outputs)
    penalties: np.ndarray  # λ, falling
    mean: np.ndarray  # mean and scale standardise X
    scale: np.ndarray
    complete: bool = True  # solved for every penalty, or up to a saturated fit

    def __len__(self):
        return self.penalties.size

    def variables(self, step):
        """Return the variables with a non-zero coefficient in any class, as a tuple of int."""
        return tuple(np.flatnonzero(self.coef[step].any(axis=0)).tolist())

    def decision_function(self, X, step):
        """Return the linear scores of `X`, shape (n_samples, n_outputs), at one step."""
        # Variables without a non-zero coefficient are ignored, as they may be NaN.
        standard = np.where(self.coef[step].any(axis=0), (X - self.mean) / self.scale, 0.0)
        return standard @ self.coef[step].T + self.intercept[step]

    def predict_proba(self, X, step):
        """Return class probabilities of `X`, shape (n_samples, n_classes), at one step."""
        scores = self.decision_function(X, step)
        return predictions_of(scores, max(scores.shape[1], 2))

    def predict(self, X, step):
        """Return class indices of `X`, shape (n_samples,), at one step."""
        scores = self.decision_function(X, step)
        return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def at(self, step):
        """Return the model of one step, as a classifier of class indices."""
        return SimpleNamespace(
            predict=lambda X: self.predict(X, step),
            predict_proba=lambda X: self.predict_proba(X, step),
        )


def fit_l1_path(X, y, n_lambda=100, tolerance=1e-7, weight=None, penalty_factors=None):
    """Fit L1 logistic regression (multinomial for more than two classes) along a λ path.

    X is standardised here, so that λ has the same meaning for all variables. y are class indices
    0..K-1, all present, `weight` is > 0 and 1 on average, and `penalty_factors` >= 0 multiply λ.

    `n_lambda` is the length of the logarithmic grid; glmnet may stop earlier if the fit is
    saturated. For a grid shorter than 100, the penalties in between are solved for, too, and
    omitted; the last solution is kept. `tolerance` is glmnet's convergence threshold for its
    coordinate descent. If that does not converge, the path ends early with a warning.
    """
    standard, mean, scale = _standardised(X, weight)
    if not standard.any():  # all variables are constant: class priors, one step
        priors = np.log(np.bincount(y, weight) / y.size)
        intercept = priors[1:] - priors[0] if priors.size == 2 else priors
        coef = np.zeros((1, intercept.size, mean.size))
        return L1Path(coef, intercept[None, :], np.zeros(1), mean, scale)
    # With penalties in between, of which every stride-th is kept.
    stride = -(-(GRID - 1) // max(n_lambda - 1, 1))
    length = max((n_lambda - 1) * stride + 1, GRID)
    net, complete = _solved(standard, y, weight, penalty_factors, length, tolerance)
    if not complete:
        warnings.warn(
            f"The L1 path ends at penalty {net.n_lambda_} of {length}: glmnet's descent did not "
            f"converge within {PASSES[-1]:,} passes over the {X.shape[1]} variables. The models "
            "before that are valid. Nearly identical variables cause this; leave one of them out.",
            IncompletePathWarning,
            stacklevel=2,
        )
    solved = np.arange(net.n_lambda_)
    kept = np.union1d(solved[::stride], solved[-1])[:n_lambda]
    coef = np.ascontiguousarray(np.moveaxis(net.coef_path_, 2, 0)[kept])
    intercept = np.ascontiguousarray(np.atleast_2d(net.intercept_path_).T[kept])
    path = L1Path(coef, intercept, net.lambda_path_[kept], mean, scale, complete)
    good = slice(len(path) - _last_diverged(path, X, y, weight))
    return replace(path, coef=coef[good], intercept=intercept[good], penalties=path.penalties[good])


def _last_diverged(path, X, y, weight):
    """Return whether the last models fit worse than those before, although the penalty fell."""
    # If classes are separable, glmnet's last step may leave coefficients of a million, unflagged.
    rows, steps = np.arange(y.size), range(max(len(path) - 2, 0), len(path))
    shares = [np.maximum(path.predict_proba(X, step)[rows, y], 1e-300) for step in steps]
    losses = [-np.average(np.log(share), weights=weight) for share in shares]
    return losses[-1] > 2 * losses[0]  # converged ones differ by much less


def _solved(standard, y, weight, penalty_factors, length, tolerance):
    """Return glmnet's path and whether it is complete; a second attempt has more passes."""
    with extra("msb", "the L1 path (logitB, and 'l1' among msB's sequences)"):
        from glmnet import LogitNet  # here, as the import takes a second

    how = {"alpha": 1, "n_lambda": length, "standardize": False, "n_splits": 0, "tol": tolerance}
    weights = {"sample_weight": weight, "relative_penalties": penalty_factors}
    for passes in PASSES:
        net = LogitNet(max_iter=passes, **how)
        with warnings.catch_warnings():
            # `jerr_` below has the same information as the warning.
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                fit_counted(net, standard, y, **weights)
            except ValueError as error:
                raise RuntimeError(
                    f"glmnet could not fit the L1 path: {error} Weigh classes and rows more evenly."
                ) from error
        # Flags from -1 to -10000 mean that the descent ran out of passes. Flags below mean the
        # natural end of a path, where probabilities have reached 0 or 1.
        complete = not -10000 <= net.jerr_ < 0
        if complete:
            break
    if net.jerr_ > 0 or net.n_lambda_ < 1:
        raise RuntimeError(
            f"glmnet found no solution (jerr = {net.jerr_}) on {standard.shape[0]} rows, "
            f"{standard.shape[1]} variables, {np.unique(y).size} classes."
        )
    return net, complete


def _standardised(X, weight):
    """Return X with mean 0 and spread 1 in each column (constant ones 0), the means and spreads."""
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    # A constant column may have a tiny spread from rounding; dividing by it would give noise.
    constant = span <= CONSTANT * np.abs(X).max(axis=0)
    span = np.where(constant, 1.0, span)
    share = (X - low) / span  # so that squares stay in range, whatever the unit
    mean = np.average(share, axis=0, weights=weight)
    scale = np.sqrt(np.average((share - mean) ** 2, axis=0, weights=weight))
    scale = np.where(constant, 1.0, scale)
    return np.where(constant, 0.0, (share - mean) / scale), low + span * mean, span * scale


@estimator_class
class LogitPathClassifier(ScheduleClassifier):
    """Cost-sensitive selection along the L1 path of logistic regression (logitB).

    The cost of each model of the path is that of its variables with a non-zero coefficient. The
    models are compressed on validation data into a schedule, and the budget selects one (section
    2.3 of the paper, equations (4)-(5), where the method is cited as [24]). Unlike msB's L1
    sequence, prediction uses the logistic model itself.

    Parameters
    ----------
    n_lambda : int, default=100
        Number of penalties on the path.

    Attributes
    ----------
    path_ : L1Path
        Every model of the path.
    """

    _groups = False  # the path ignores prices

    n_lambda: int = 100

    def _fit_schedule(self, train, valid, seed):
        check_number(self.n_lambda, "n_lambda", low=1, integer=True)
        self.path_ = self._path(train)
        steps = range(len(self.path_))
        score = self._validation_score(valid) or (lambda one, X: np.mean(one.predict(X) == valid.y))
        variables = [self.path_.variables(step) for step in steps]
        # Equations (4)-(5): the budget limits the cost of variables with a non-zero coefficient.
        costs = [self.feature_costs_.subset(subset) for subset in variables]
        scores = [score(self.path_.at(step), valid.X) for step in steps]
        self.schedule_ = self._schedule_of(costs, scores, variables)
        # Of steps with equal cost and score, the first has the largest penalty.
        self._steps = pareto_indices(costs, scores).tolist()

    def _path(self, train):
        return fit_l1_path(train.X, train.y, self.n_lambda, weight=train.weight)

    def _entry(self, X, entry):
        return self.path_.at(self._steps[entry]), X
