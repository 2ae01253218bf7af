"""Random forests that are charged for features, and those that weigh costs while they grow."""

from .cost_sensitive import CostSensitiveRFClassifier, CostSensitiveRFPathClassifier
from .importance import oob_permutation_importance, permutation_importance
from .random_forest import CostWeightedRFClassifier, RandomForestClassifier

__all__ = [
    "CostSensitiveRFClassifier",
    "CostSensitiveRFPathClassifier",
    "CostWeightedRFClassifier",
    "RandomForestClassifier",
    "oob_permutation_importance",
    "permutation_importance",
]
