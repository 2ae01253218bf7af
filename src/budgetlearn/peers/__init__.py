"""What budgeted learners are measured against: controls, and users' usual choices."""

from .controls import AllFeaturesClassifier, FreeConstantClassifier, FreeConstantRegressor
from .ensembles import ForestStages
from .node_shares import BoostingNodeShares, GIFNodeShares

__all__ = [
    "AllFeaturesClassifier",
    "BoostingNodeShares",
    "ForestStages",
    "FreeConstantClassifier",
    "FreeConstantRegressor",
    "GIFNodeShares",
]
