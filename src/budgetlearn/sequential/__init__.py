"""Classifiers that acquire features one after another and stop when they are sure: FMCC, VoC."""

from .fmcc import FMCCClassifier, RandomOrderClassifier, boosted_stumps
from .voc import VoCClassifier

__all__ = ["FMCCClassifier", "RandomOrderClassifier", "VoCClassifier", "boosted_stumps"]
