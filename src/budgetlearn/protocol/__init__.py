"""The protocol of all budgeted estimators: stages, budgets, and acquiring while predicting.

A subclass of `BudgetedEstimator` defines `_fit` and `_stages`; all that users call is derived.
"""

from .acquisition import Session
from .estimator import BudgetedEstimator, WeightedFit
from .guarantees import Certificate
from .requests import Answer, Decisions, Ledger, Outcome, Request
from .stage import BudgetedTags, Stage

__all__ = [
    "Answer",
    "BudgetedEstimator",
    "BudgetedTags",
    "Certificate",
    "Decisions",
    "Ledger",
    "Outcome",
    "Request",
    "Session",
    "Stage",
    "WeightedFit",
]
