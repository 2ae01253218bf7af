"""What budgeted learners are measured against: controls, and users' usual choices."""

from .controls import AllFeaturesClassifier, FreeConstantClassifier, FreeConstantRegressor
from .ensembles import ForestStages
from .greedy_miser import GreedyMiserClassifier
from .lightgbm_costs import LightGBMCostClassifier
from .node_shares import BoostingNodeShares, GIFNodeShares

__all__ = [
    "AllFeaturesClassifier",
    "BoostingNodeShares",
    "ForestStages",
    "FreeConstantClassifier",
    "FreeConstantRegressor",
    "GIFNodeShares",
    "GreedyMiserClassifier",
    "LightGBMCostClassifier",
]
