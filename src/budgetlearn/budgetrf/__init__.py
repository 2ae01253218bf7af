"""BudgetRF (Nan, Wang and Saligrama, 2015): random forests under a feature budget."""

from .classifier import BudgetRFClassifier
from .regressor import BudgetRFRegressor

__all__ = ["BudgetRFClassifier", "BudgetRFRegressor"]
