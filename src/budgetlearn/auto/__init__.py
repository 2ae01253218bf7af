"""The decision: methods compared out of fold, and the best one for each budget."""

from .estimator import AutoBudgetClassifier, AutoBudgetRegressor

__all__ = ["AutoBudgetClassifier", "AutoBudgetRegressor"]
