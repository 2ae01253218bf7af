"""Classifiers that acquire features one after another and stop when they are sure: FMCC, VoC."""

from .fmcc import FMCCClassifier as FMCCClassifier
from .fmcc import RandomOrderClassifier as RandomOrderClassifier
from .fmcc import boosted_stumps as boosted_stumps
from .voc import VoCClassifier as VoCClassifier
