"""BudgetRF (Nan, Wang and Saligrama, 2015): random forests under a feature budget."""

from .estimators import BudgetRFClassifier, BudgetRFRegressor
from .forest import Growth, Leaves

__all__ = ["BudgetRFClassifier", "BudgetRFRegressor", "Growth", "Leaves"]
