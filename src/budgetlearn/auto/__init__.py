"""The decision: methods compared out of fold, and the best one for each budget."""

from .estimator import AutoBudgetClassifier as AutoBudgetClassifier
from .estimator import AutoBudgetRegressor as AutoBudgetRegressor
