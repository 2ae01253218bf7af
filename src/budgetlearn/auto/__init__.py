"""The automatic choice: compares methods out of fold, and takes the best one for each budget."""

from .device import recommend_for_bytes as recommend_for_bytes
from .estimator import AutoBudgetClassifier as AutoBudgetClassifier
from .estimator import AutoBudgetRegressor as AutoBudgetRegressor
