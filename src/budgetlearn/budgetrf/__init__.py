"""BudgetRF (Nan, Wang and Saligrama, 2015): random forests under a feature budget."""

from .classifier import BudgetRFClassifier
from .parameters import Growth, Leaves
from .regressor import BudgetRFRegressor

__all__ = ["BudgetRFClassifier", "BudgetRFRegressor", "Growth", "Leaves"]
