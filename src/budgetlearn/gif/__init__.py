"""Globally induced forests (Begon, Joly and Geurts, 2017)."""

from .estimators import GIFClassifier as GIFClassifier
from .estimators import GIFRegressor as GIFRegressor
