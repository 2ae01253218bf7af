"""Forests that are charged for the features that their predictions look at."""

from .budget_rf import BudgetRFClassifier
from .random_forest import RandomForestClassifier

__all__ = ["BudgetRFClassifier", "RandomForestClassifier"]
