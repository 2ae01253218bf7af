"""Classifiers that buy features one after another and stop when they are sure."""

from .additive import boosted_stumps
from .fmcc import FMCCClassifier, RandomOrderClassifier
from .voc import VoCClassifier

__all__ = ["FMCCClassifier", "RandomOrderClassifier", "VoCClassifier", "boosted_stumps"]
