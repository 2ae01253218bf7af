"""Globally induced forests (Begon, Joly and Geurts, 2017)."""

from .estimators import GIFClassifier, GIFRegressor

__all__ = ["GIFClassifier", "GIFRegressor"]
