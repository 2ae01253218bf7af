"""BudgetRF (Nan, Wang and Saligrama, 2015): random forests under a feature budget."""

from .forest import BudgetRFClassifier as BudgetRFClassifier
from .forest import BudgetRFRegressor as BudgetRFRegressor
from .forest import Growth as Growth
from .forest import Leaves as Leaves
