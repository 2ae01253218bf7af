"""The decision: methods compared out of fold, and the best one for each budget."""

from .device import recommend_for_bytes as recommend_for_bytes
from .estimator import AutoBudgetClassifier as AutoBudgetClassifier
from .estimator import AutoBudgetRegressor as AutoBudgetRegressor
