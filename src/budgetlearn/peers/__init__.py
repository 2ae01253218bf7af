"""What budgeted learners are measured against: controls now, users' usual choices next."""

from .controls import AllFeaturesClassifier, FreeConstantClassifier

__all__ = ["AllFeaturesClassifier", "FreeConstantClassifier"]
