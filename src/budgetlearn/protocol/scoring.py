"""Known scores, scorers of estimators under a budget, and scores of a stage with their errors.

`make_budget_scorer` makes scorers for `cross_validate`, `GridSearchCV` and similar functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import check_scoring, get_scorer, make_scorer, r2_score, recall_score
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if

from ..validation import ParameterError, rows_of_groups
from .checked_data import checked_weight
from .documenting import EXPECTED, Limits, described

RESAMPLES = 100


@dataclass(frozen=True)
class Score:
    """Properties of a score by which predictions are compared; more is better."""

    label: str  # in figures and tables, with a minus sign if the underlying measure is a loss
    task: str  # "classification", "regression" or "ranking"
    span: tuple = (0.0, 1.0)  # the minimum, and the score of perfect predictions
    probabilities: bool = False  # whether it needs class probabilities


CLASSES, NUMBERS, LOSS = "classification", "regression", (-np.inf, 0.0)
# By scikit-learn's names; the first score of a task is the default.
SCORES = {
    "accuracy": Score("accuracy", CLASSES),
    "balanced_accuracy": Score("balanced accuracy", CLASSES),
    "roc_auc": Score("AUC", CLASSES, probabilities=True),
    "neg_log_loss": Score("−log-loss", CLASSES, LOSS, probabilities=True),
    "f1_macro": Score("macro F1", CLASSES),
    "r2": Score("R²", NUMBERS, (-np.inf, 1.0)),
    "neg_mean_absolute_error": Score("−MAE", NUMBERS, LOSS),
    # From `budgetlearn.metrics`.
    "average_precision_at_5": Score("AP@5", "ranking", probabilities=True),
}


def scores_of(task, n_classes=None):
    """Return the names of a task's scores, the default first, that apply to `n_classes`."""
    names = (name for name, score in SCORES.items() if score.task == task)
    return tuple(name for name in names if name != "roc_auc" or n_classes in (None, 2))


@dataclass(frozen=True)
class BudgetScorer:
    """Scorer of predictions under a budget, with the interface of scikit-learn's scorers."""

    scorer: Callable[..., float]
    limits: dict[str, Any]  # passed to `predict` and `predict_proba`

    def __call__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score of a fitted estimator's predictions, or of a pipeline's."""
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        made = Substitute(estimator, lambda name, X: getattr(estimator, name)(X, **self.limits))
        return float(self.scorer(made, X, y, **weight))

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request metadata as scikit-learn's scorers do: `sample_weight=True`."""
        self.scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the request, without which scikit-learn refuses to score with weights."""
        return self.scorer.get_metadata_routing()


@described
def make_budget_scorer(
    metric: str | Callable[..., float],
    *,
    budget: float | None = None,
    max_cost: float | None = None,
    fallback: bool = True,
    budget_mode: str = EXPECTED,
) -> BudgetScorer:
    """Make a scorer of an estimator's predictions within a budget.

    Parameters
    ----------
    metric : str or callable
        Name of one of scikit-learn's scores, such as "roc_auc"; one of its scorers; or a function
        `metric(y_true, y_pred)` that is higher for better predictions.
    fallback : bool, default=True
        Whether a model that cannot keep the limits gets the score of the constant prediction, so
        that a search can rank it, instead of raising an error.

    Returns
    -------
    BudgetScorer

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from budgetlearn import BudgetRFClassifier, make_budget_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_budget_scorer("roc_auc", budget=10)
    >>> model = BudgetRFClassifier(n_estimators=5, random_state=0)
    >>> scores = cross_validate(model, X, y, scoring=scorer, cv=3)["test_score"]
    >>> bool((scores > 0.9).all())
    True
    """
    limits = Limits(budget, max_cost, fallback=fallback, budget_mode=budget_mode)
    # scikit-learn's class of scorers has no public name.
    made = isinstance(metric, str | type(get_scorer("accuracy")))
    return BudgetScorer(get_scorer(metric) if made else make_scorer(metric), asdict(limits))


def refuse_unknown_score(estimator):
    """Raise for a `scoring` that is unknown or needs probabilities that the estimator lacks."""
    if (scoring := getattr(estimator, "scoring", None)) is not None:
        # Lists and dicts are several scores in scikit-learn, which compare no points.
        if not (isinstance(scoring, str) or callable(scoring)):
            wanted = "the name of one score, a scorer or None"
            raise ParameterError(f"scoring must be {wanted}, got {scoring!r}.")
        scorer = check_scoring(Substitute(estimator), scoring=scoring)
        of_labels = getattr(scorer, "_response_method", "predict") == "predict"
        if not (of_labels or hasattr(estimator, "predict_proba")):
            who = f"which this {type(estimator).__name__} lacks: use a score of labels"
            raise ParameterError(f"scoring={scoring!r} needs class probabilities, {who}.")


def score_outcome(estimator, scoring, stage, y, weight=None):
    """Return the score of a stage's predictions by `scoring`; None: accuracy or R²."""
    check_consistent_length(stage.output, y)
    weight = None if weight is None else checked_weight(weight, y)
    return stage_scorer(estimator, scoring, stage, y)(np.arange(len(y)), weight)


def score_and_error(estimator, stage, targets, groups=None):
    """Return the score of a stage, by `scoring` if the estimator has it, and its standard error."""
    n = len(targets)
    scoring = getattr(estimator, "scoring", None)
    if scoring is not None:
        score = stage_scorer(estimator, scoring, stage, targets)
        return score(np.arange(n)), standard_error(score, n, groups=groups)
    if is_classifier(estimator):
        return mean_and_error(1.0 * (stage.output == targets), groups=groups)
    if n < 2:
        return np.nan, np.nan
    outputs = zip(np.reshape(stage.output, (n, -1)).T, np.reshape(targets, (n, -1)).T, strict=True)
    rows = np.mean([r2_rows((predicted - y) ** 2, y) for predicted, y in outputs], axis=0)
    return float(r2_score(targets, stage.output)), mean_and_error(rows, groups=groups)[1]


def mean_and_error(values, weight=None, groups=None):
    """Return the weighted mean of values, one for each example, and its standard error."""
    mean = float(np.average(values, weights=weight))
    squares = (values - mean) ** 2
    if groups is None:
        # Kish's effective sample size.
        n = values.size if weight is None else weight.sum() ** 2 / (weight**2).sum()
        return mean, float(np.sqrt(np.average(squares, weights=weight)) / np.sqrt(n))
    # Examples of a group may be correlated, so only the sums of whole groups are independent.
    added = sums_of_groups((values - mean) * (1.0 if weight is None else weight), groups)
    total = values.size if weight is None else weight.sum()
    # Corrects the bias with few groups; a single group gives no error.
    factor = added.size / (added.size - 1) if added.size > 1 else np.nan
    return mean, float(np.sqrt(factor * (added**2).sum()) / total)


def sums_of_groups(values, groups):
    """Return the sum of the values of each group."""
    return np.bincount(rows_of_groups(groups)[1], values)


def standard_error(score, n, weight=None, groups=None):
    """Return the standard error of `score(rows, weight)` of n weighted examples."""
    alike = getattr(score, "alike", {})
    if weight is None and groups is None and sum(alike.values()) > 1:
        # The jackknife, once for each set of equivalent examples.
        n, counts = sum(alike.values()), np.array(list(alike.values()))
        rows = np.arange(n)
        left = np.array([score(np.delete(rows, row)) for row in alike])
        return float(np.sqrt((n - 1) / n * counts @ (left - counts @ left / n) ** 2))
    random = np.random.default_rng(0)  # a fixed seed, so that all stages get the same rows
    if groups is not None:
        place = rows_of_groups(groups)[1]
        members = np.split(np.argsort(place), np.bincount(place).cumsum()[:-1])
        n = len(members)
    drawn = [random.integers(n, size=n) for _ in range(RESAMPLES)]
    if groups is not None:
        drawn = [np.concatenate([members[each] for each in some]) for some in drawn]
    found = [score(rows, None if weight is None else weight[rows]) for rows in drawn]
    # Resamples that lack a class may have no score, such as the area under a ROC curve.
    known = np.array(found)[~np.isnan(found)]
    return float(known.std(ddof=1)) if known.size > 1 and n > 1 else np.nan


def r2_rows(losses, targets, weight=None):
    """Return the contribution of each row to R², (n_samples,), with R² as their mean.

    `losses` are the squared errors. R² divides by the variance of the same rows, so a row affects
    both. A contribution is 1 - loss / variance plus the influence of the variance (delta method).
    The standard error of the contributions is that of R².
    """
    squares = (targets - np.average(targets, weights=weight)) ** 2
    spread = np.average(squares, weights=weight)
    if not spread:
        return 1.0 - losses
    lost = np.average(losses, weights=weight) / spread
    return 1.0 - losses / spread + lost * (squares / spread - 1.0)


def error_of_mean(y, weight=None, groups=None):
    """Return the error of the R² of the mean of y: its root mean square on as many other rows.

    On these rows it is 0. On others, it is minus the squared difference of both means over the
    variance.
    """
    mean, error = mean_and_error(y, weight, groups)
    variance = np.average((y - mean) ** 2, weights=weight)
    # The difference d of two such means has the variance 2 error², and E[d⁴] = 3 (2 error²)².
    return 2 * np.sqrt(3) * error**2 / max(variance, 1e-300)


class Substitute(BaseEstimator):
    """Stand-in for an estimator in a scorer; predictions come from `respond(method, X)`."""

    def __init__(self, estimator=None, respond=None):
        self.estimator = estimator
        self.respond = respond

    def fit(self, X=None, y=None):
        """Do nothing; scorers check that the method exists."""
        return self

    def __sklearn_tags__(self):
        return get_tags(self.estimator)

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        """Class labels."""
        return self.estimator.classes_

    def predict(self, X):
        """Return class labels or numbers."""
        return self.respond("predict", X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X):
        """Return class probabilities."""
        return self.respond("predict_proba", X)


def stage_scorer(estimator, scoring, stage, y):
    """Return a function score(rows, weight=None) of the stage's predictions of some rows."""
    classes = getattr(estimator, "classes_", ())
    if scoring == "roc_auc" and len(classes) == 2:
        # Unknown classes always count as errors: they rank behind the first class.
        known = np.isin(y, classes)
        return area_scorer(np.where(known, stage.probabilities[:, 1], -1.0), y != classes[0])
    if scoring == "neg_log_loss":
        # scikit-learn's own scorer raises for rows without one of the classes, as in resamples.
        place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        known = classes[place] == y  # other classes have probability 0
        own = np.where(known, stage.probabilities[np.arange(len(y)), place], 0)
        least = np.finfo(own.dtype).eps  # as scikit-learn clips
        gains = np.log(np.clip(own, least, 1 - least))
        return lambda rows, weight=None: float(np.average(gains[rows], weights=weight))
    made = {"predict": stage.output, "predict_proba": stage.probabilities}
    substitute = Substitute(estimator, lambda method, rows: made[method][rows])
    plain = "accuracy" if is_classifier(estimator) else "r2"
    scorer = check_scoring(substitute, scoring=plain if scoring is None else scoring)
    # Scores that need labels only, and support weights, can be computed from counts.
    weighs = getattr(scorer, "_response_method", None) == "predict" and (
        "sample_weight" in signature(scorer._score_func).parameters
    )
    counted = is_classifier(estimator) and np.ndim(y) == 1 and weighs
    if counted and scoring not in (None, plain):
        # Laplace's rule: if all rows of a rare class are right, its recall is still uncertain. The
        # added rows, one right and one wrong for each class, count in the jackknife only.
        known = np.flatnonzero(np.isin(classes, y) & (len(classes) > 1))
        right, wrong = classes[known], classes[(known + 1) % len(classes)]
        y = np.concatenate([y, right, right])
        made["predict"] = np.concatenate([stage.output, right, wrong])

    def score(rows, weight=None):
        if scoring == "balanced_accuracy":  # scikit-learn's own warns if rows lack a class
            true, predicted = y[rows], made["predict"][rows]
            named = {"labels": np.unique(true), "average": "macro"}
            return float(recall_score(true, predicted, sample_weight=weight, **named))
        extra = {} if weight is None else {"sample_weight": weight}
        return _of_rows(scorer, substitute, rows, y, extra)

    if not counted:
        return score
    # Such a score only depends on the number of rows with each pair of class and label.
    pairs = np.unique(y, return_inverse=True)[1] * len(classes)
    pairs = pairs + np.searchsorted(classes, made["predict"])
    _, first, pair, counts = np.unique(
        pairs, return_index=True, return_inverse=True, return_counts=True
    )

    def score_of_counts(rows, weight=None):
        counts = np.bincount(pair[rows], weight, first.size)
        there = np.flatnonzero(counts)
        return score(first[there], counts[there])

    # For the jackknife: one row of each pair, and the number of such rows.
    score_of_counts.alike = dict(zip(first, counts, strict=True))
    return score_of_counts


def _of_rows(scorer, substitute, rows, y, extra):
    """Return the score of some rows; NaN if they lack a class and have no score without it."""
    try:
        return float(scorer(substitute, rows, y[rows], **extra))
    except ValueError:
        if np.unique(y[rows]).size < np.unique(y).size:
            return np.nan
        raise


def area_scorer(chances, second):
    """Return score(rows, weight=None), the area under the ROC curve; NaN for rows of one class."""
    # `second` is the mask of the second class. scikit-learn's scorer would sort for each resample.
    place = np.unique(chances, return_inverse=True)[1]

    def score(rows, weight=None):
        weight = np.ones(len(rows)) if weight is None else weight
        own, n_places = second[rows], place.max() + 1
        high = np.bincount(place[rows], own * weight, n_places)
        low = np.bincount(place[rows], ~own * weight, n_places)
        # Ties count half.
        ordered = high @ (low.cumsum() - low / 2)
        return ordered / (high.sum() * low.sum()) if high.any() and low.any() else np.nan

    return score
