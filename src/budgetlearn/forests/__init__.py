"""Random forests with acquisition costs, and forests that weigh costs during growth."""

from .cost_sensitive import CostSensitiveRFClassifier as CostSensitiveRFClassifier
from .cost_sensitive import CostSensitiveRFPathClassifier as CostSensitiveRFPathClassifier
from .importance import oob_permutation_importance as oob_permutation_importance
from .importance import permutation_importance as permutation_importance
from .random_forest import CostWeightedRFClassifier as CostWeightedRFClassifier
from .random_forest import RandomForestClassifier as RandomForestClassifier
