"""Rivals of budgeted learners: controls, and methods that users would pick instead."""

from .astc import ASTCClassifier
from .baselines import (
    AllFeaturesClassifier,
    FilterBoostingClassifier,
    FilterForestClassifier,
    FreeConstantClassifier,
    FreeConstantRegressor,
    SparseLinearClassifier,
)
from .cost_boosting import GreedyMiserClassifier, LightGBMCostClassifier
from .ensembles import BoostingNodeShares, ForestStages, GIFNodeShares

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
