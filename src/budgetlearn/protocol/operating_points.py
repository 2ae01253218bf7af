"""Operating points: the cost and the score of each stage on validation data."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import check_scoring, r2_score

from ..exceptions import BudgetlearnWarning
from ..validation import ParameterError

RESAMPLES = 100


class _Known(BaseEstimator):
    """Predictions that are there already, for scikit-learn's scorers; X holds their rows."""

    def __init__(self, stage=None, classes=None):
        self.stage = stage
        self.classes = classes

    def fit(self, X=None, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, rows):
        return self.stage.output[rows]


class _KnownClasses(ClassifierMixin, _Known):
    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, rows):
        return self.stage.probabilities[rows]


class _KnownNumbers(RegressorMixin, _Known):
    pass


def _scorer(estimator, scoring, stage):
    """Return score(rows, y, weight) of the stage's predictions by a scikit-learn scorer."""
    # Scikit-learn asks a classifier by its tags, so that there is a class for each kind.
    if is_classifier(estimator):
        made = _KnownClasses(stage, estimator.classes_)
    else:
        made = _KnownNumbers(stage)
    scorer = check_scoring(made, scoring=scoring)
    return lambda rows, y, **weight: float(scorer(made, rows, y, **weight))


def score_outcome(estimator, scoring, stage, y, weight=None):
    """Return the score of a stage's predictions, as `scoring` of scikit-learn names it.

    The stage has output, and probabilities where the scorer asks for them; `y` are the true
    targets.
    """
    extra = {} if weight is None else {"sample_weight": np.asarray(weight)}
    return _scorer(estimator, scoring, stage)(np.arange(len(y)), y, **extra)


def _score(estimator, stage, targets):
    """Return the validation score of a stage and its standard error."""
    n = len(targets)
    scoring = getattr(estimator, "scoring", None)
    if scoring is not None:
        # Any score has a standard error by resampling; a fixed seed gives all stages the same
        # rows.
        score, random = _scorer(estimator, scoring, stage), np.random.default_rng(0)
        drawn = (random.integers(n, size=n) for _ in range(RESAMPLES))
        redrawn = [score(rows, targets[rows]) for rows in drawn]
        return score(np.arange(n), targets), float(np.std(redrawn, ddof=1))
    if is_classifier(estimator):
        # The standard error of a share.
        right = float(np.mean(stage.output == targets))
        return right, float(np.sqrt(right * (1 - right) / n))
    if n < 2:
        return np.nan, np.nan
    # The standard error of the mean square, in units of the variance, as R² has it.
    squares = np.reshape((stage.output - targets) ** 2, (n, -1)).mean(axis=1)
    variance = max(float(np.var(targets, axis=0).mean()), 1e-300)
    spread = float(np.sqrt(squares.var(ddof=1) / n)) / variance
    return float(r2_score(targets, stage.output)), spread


def refuse_alike(estimator, train, valid):
    """Raise where R² is to score numbers, and those of the validation data are all alike."""
    if is_classifier(estimator) or getattr(estimator, "scoring", None) is not None:
        return
    # Where training has one value only, a constant is all there is to learn, and R² does no harm.
    n = len(valid.y)
    if n < 2 or (np.ptp(valid.targets, axis=0).max() == 0 < np.ptp(train.targets, axis=0).max()):
        raise ParameterError(
            "R² compares errors with the spread of the targets, and the validation data need at "
            f"least two different ones: got {n} row{'s' * (n > 1)}, the first with "
            f"{valid.targets[0]!s}. Give more rows, or scoring='neg_mean_absolute_error' where the "
            "estimator has that parameter."
        )


def refuse_unscored(points, n_samples):
    """Return points if all have a score on the examples, else raise `ParameterError`."""
    if points["score"].isna().any():
        raise ParameterError(
            f"scoring gives no number (NaN) for the {n_samples} validation examples, so that "
            "nothing can be chosen by it: give more of them, of all classes, or another scoring."
        )
    return points


def measured(estimator, stages, targets):
    """Return the operating points of a fitted estimator, measured on examples with true `targets`.

    `stages` are all of them applied to the examples, with the `scored_parts`. There is one row per
    stage, in order: `cost` (mean acquisition cost), `score` and `score_se` (its standard error),
    `nodes`, `n_features` (mean number acquired), `setting` (dict) and `variables` (names of all
    that some example acquired).
    """
    names, rows = np.array(estimator.feature_costs_.labels, dtype=object), []
    for stage in stages:
        score, error = _score(estimator, stage, targets)
        rows.append(
            {
                "cost": float(estimator.feature_costs_.total(stage.acquired).mean()),
                "score": score,
                "score_se": error,
                "nodes": stage.nodes,
                "n_features": float(stage.acquired.sum(axis=1).mean()),
                "setting": stage.setting,
                "variables": tuple(names[stage.acquired.any(axis=0)]),
            }
        )
    return pd.DataFrame(rows)


def scored_parts(estimator):
    """Return the parts of a `Stage` that its cost and its score need."""
    scored = getattr(estimator, "scoring", None) is not None
    return frozenset({"output", "acquired"} | ({"probabilities"} if scored else set()))


def known_points(estimator):
    """Return cost and score of each stage; where nothing was measured, fixed cost and rank."""
    if "operating_points_" in vars(estimator):
        return estimator.operating_points_
    costs = estimator.fixed_costs()
    # Stages go from cheap to expensive, so that a later one is taken to be better.
    return pd.DataFrame({"cost": costs, "score": np.arange(len(costs))})


def points_to_choose_from(estimator):
    """Return cost and score of each stage, measured now where they are not yet.

    A `BudgetError` says when costs differ between examples, and the rows to measure them on are
    gone.
    """
    known = vars(estimator)
    if "operating_points_" in known or estimator.fixed_costs() is None:
        return estimator.operating_points_
    # One stage leaves nothing to choose.
    if estimator.n_stages_ > 1 and known.get("_unmeasured") is not None:
        return estimator.operating_points_
    if estimator.n_stages_ > 1:
        warnings.warn(
            f"this {type(estimator).__name__} was stored before its operating points were "
            "measured: the last one within the budget is taken to be the best. Read "
            "operating_points_ before storing it.",
            BudgetlearnWarning,
            stacklevel=4,
        )
    return known_points(estimator)
