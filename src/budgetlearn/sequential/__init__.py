"""Classifiers that buy features one after another and stop when they are sure."""

from .additive import boosted_stumps
from .cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from .fmcc import FMCCClassifier, RandomOrderClassifier
from .voc import VoCClassifier

__all__ = [
    "FMCCClassifier",
    "RandomOrderClassifier",
    "ScheduleCascadeClassifier",
    "ScheduleCascadeRegressor",
    "VoCClassifier",
    "boosted_stumps",
]
