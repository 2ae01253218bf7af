"""Forests under a budget, and forests that are charged like them."""

from .budget_regression import BudgetRFRegressor
from .budget_rf import BudgetRFClassifier
from .cost_sensitive_path import CostSensitiveRFPathClassifier
from .cost_sensitive_rf import CostSensitiveRFClassifier
from .cost_weighted_rf import CostWeightedRFClassifier
from .gif import GIFClassifier, GIFRegressor
from .importance import oob_permutation_importance, permutation_importance
from .random_forest import RandomForestClassifier

__all__ = [
    "BudgetRFClassifier",
    "BudgetRFRegressor",
    "CostSensitiveRFClassifier",
    "CostSensitiveRFPathClassifier",
    "CostWeightedRFClassifier",
    "GIFClassifier",
    "GIFRegressor",
    "RandomForestClassifier",
    "oob_permutation_importance",
    "permutation_importance",
]
