"""Forests that are charged for the features that their predictions look at."""

from .budget_rf import BudgetRFClassifier
from .cost_sensitive_path import CostSensitiveRFPathClassifier
from .cost_sensitive_rf import CostSensitiveRFClassifier
from .random_forest import RandomForestClassifier

__all__ = [
    "BudgetRFClassifier",
    "CostSensitiveRFClassifier",
    "CostSensitiveRFPathClassifier",
    "RandomForestClassifier",
]
