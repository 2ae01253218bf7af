"""Classifiers that acquire features one after another and stop when they are sure: FMCC, VoC."""

from .fmcc import FMCCClassifier as FMCCClassifier
from .fmcc import RandomOrderClassifier as RandomOrderClassifier
from .voc import VoCClassifier as VoCClassifier
