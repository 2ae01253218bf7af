"""Classifiers that acquire features one by one and stop once they are certain: FMCC and VoC."""

from .fmcc import FMCCClassifier as FMCCClassifier
from .fmcc import RandomOrderClassifier as RandomOrderClassifier
from .fmcc import boosted_stumps as boosted_stumps
from .voc import VoCClassifier as VoCClassifier
