"""Scores at a budget, for `cross_validate`, `GridSearchCV` and all else that takes a scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils import get_tags

from ..validation import check_choice, check_number
from .guarantees import EXPECTED, GUARANTEED


class _AtBudget(BaseEstimator):
    """A fitted estimator, or a pipeline that ends in one, whose predictions keep limits."""

    def __init__(self, estimator=None, limits=None):
        self.estimator = estimator
        self.limits = limits

    def __sklearn_tags__(self):
        return get_tags(self.estimator)

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.estimator.classes_

    def predict(self, X):
        return self.estimator.predict(X, **self.limits)

    def predict_proba(self, X):
        return self.estimator.predict_proba(X, **self.limits)


@dataclass(frozen=True)
class BudgetScorer:
    """Score predictions that keep a budget; called as scikit-learn calls a scorer.

    Attributes
    ----------
    scorer : callable
        Scorer of scikit-learn.
    limits : dict
        Passed to `predict` and `predict_proba`.
    """

    scorer: Callable[..., float]
    limits: dict[str, Any]

    def __call__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score of an estimator's predictions.

        Parameters
        ----------
        estimator : BudgetedEstimator or Pipeline
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples.

        Returns
        -------
        float
        """
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        return float(self.scorer(_AtBudget(estimator, self.limits), X, y, **weight))


def make_budget_scorer(
    metric: str | Callable[..., float],
    *,
    budget: float | None = None,
    max_cost: float | None = None,
    fallback: bool = True,
    budget_mode: str = EXPECTED,
) -> BudgetScorer:
    """Make a scorer of the predictions that an estimator makes within a budget.

    Parameters
    ----------
    metric : str or callable
        Name of a score of scikit-learn, as "roc_auc"; one of its scorers; or a function
        `metric(y_true, y_pred)` of which more is better.
    budget : float, default=None
        Most that a prediction may cost on average, as for `BudgetedEstimator.predict`.
    max_cost : float, default=None
        Most that any single example may cost.
    fallback : bool, default=True
        Whether a model that cannot keep the limits is scored as the constant that costs nothing,
        so that a search ranks it with the others, instead of raising.
    budget_mode : {"expected", "guaranteed"}, default="expected"
        As for `BudgetedEstimator.predict`.

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
    for value, name in ((budget, "budget"), (max_cost, "max_cost")):
        if value is not None:
            check_number(value, name, low=0)
    check_choice(budget_mode, "budget_mode", (EXPECTED, GUARANTEED))
    # The class of scorers has no public name.
    made = isinstance(metric, str | type(get_scorer("accuracy")))
    scorer = get_scorer(metric) if made else make_scorer(metric)
    limits = {"budget": budget, "max_cost": max_cost, "fallback": fallback}
    return BudgetScorer(scorer, limits | {"budget_mode": budget_mode})
