"""What budgeted learners are measured against: controls, and users' usual choices."""

from .controls import AllFeaturesClassifier, FreeConstantClassifier, FreeConstantRegressor
from .staged import ForestStages, GIFNodeShares

__all__ = [
    "AllFeaturesClassifier",
    "ForestStages",
    "FreeConstantClassifier",
    "FreeConstantRegressor",
    "GIFNodeShares",
]
