"""msB: model sequences and model schedules under a budget (Yan et al.), and logitB."""

from .exhaustive import ExhaustiveSearch
from .logit_path import LogitPathClassifier
from .search import ModelScheduleSearch
from .sequences import (
    CostSequence,
    ImportanceSequence,
    L1PathSequence,
    SamplingSequence,
    UniformSequence,
)

__all__ = [
    "CostSequence",
    "ExhaustiveSearch",
    "ImportanceSequence",
    "L1PathSequence",
    "LogitPathClassifier",
    "ModelScheduleSearch",
    "SamplingSequence",
    "UniformSequence",
]
