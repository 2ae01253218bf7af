"""What each task is scored by; larger is better."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score

from ..metrics import average_precision_at_5


@dataclass(frozen=True)
class Score:
    """How predictions of one task become a number.

    Attributes
    ----------
    name : str
        As figures and tables call it.
    output : {"predict", "predict_proba"}
        The estimator's method whose outcome is scored.
    function : callable
        Takes the target, the outcome and the query of each example (None outside of ranking).
    bounded : bool
        Whether it lies in [0, 1] whatever is predicted.
    """

    name: str
    output: str
    function: Callable
    bounded: bool


def _accuracy(y, predicted, queries):
    return float(accuracy_score(y, predicted))


def _r2(y, predicted, queries):
    return float(r2_score(y, predicted))


def squared_error(task, y, outcome):
    """Return the mean squared error in regression, in the unit of the target squared; else NaN."""
    return float(mean_squared_error(y, outcome)) if task == "regression" else np.nan


def _ap5(y, shares, queries):
    """Rank by the share of class 1, the relevant documents."""
    return average_precision_at_5(y, shares[:, 1], queries)


SCORES = {
    "classification": Score("accuracy", "predict", _accuracy, True),
    "regression": Score("R²", "predict", _r2, False),
    "ranking": Score("AP@5", "predict_proba", _ap5, True),
}
