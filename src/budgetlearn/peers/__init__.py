"""Rivals of budgeted learners: controls, and methods that users would pick instead."""

from .astc import ASTCClassifier
from .controls import AllFeaturesClassifier, FreeConstantClassifier, FreeConstantRegressor
from .cost_boosting import GreedyMiserClassifier, LightGBMCostClassifier
from .ensembles import ForestStages
from .filters import FilterBoostingClassifier, FilterForestClassifier
from .node_shares import BoostingNodeShares, GIFNodeShares
from .sparse_linear import SparseLinearClassifier

__all__ = [
    "ASTCClassifier",
    "AllFeaturesClassifier",
    "BoostingNodeShares",
    "FilterBoostingClassifier",
    "FilterForestClassifier",
    "ForestStages",
    "FreeConstantClassifier",
    "FreeConstantRegressor",
    "GIFNodeShares",
    "GreedyMiserClassifier",
    "LightGBMCostClassifier",
    "SparseLinearClassifier",
]
