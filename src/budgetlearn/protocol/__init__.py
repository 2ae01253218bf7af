"""The protocol of all budgeted estimators: stages, budgets, and acquiring while predicting.

A subclass of `BudgetedEstimator` defines `_fit` and `_stages`; all that users call is derived.
"""

from .estimator import BudgetedEstimator, WeightedFit
from .feature_requests import Answer, BudgetedTags, Decisions, Ledger, Outcome, Request, Stage
from .operating_points import Certificate
from .pipeline import BudgetPipeline, EncodedSession
from .prediction import Session
from .scoring import BudgetScorer, make_budget_scorer

__all__ = [
    "Answer",
    "BudgetPipeline",
    "BudgetScorer",
    "BudgetedEstimator",
    "BudgetedTags",
    "Certificate",
    "Decisions",
    "EncodedSession",
    "Ledger",
    "Outcome",
    "Request",
    "Session",
    "Stage",
    "WeightedFit",
    "make_budget_scorer",
]
