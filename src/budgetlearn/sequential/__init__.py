"""Classifiers that acquire features one after another and stop when they are sure: FMCC, VoC."""

from .additive import boosted_stumps
from .fmcc import FMCCClassifier, RandomOrderClassifier
from .voc import VoCClassifier

__all__ = ["FMCCClassifier", "RandomOrderClassifier", "VoCClassifier", "boosted_stumps"]
