"""msB: model sequences and model schedules under a budget (Yan et al.), and logitB."""

from .exhaustive import ExhaustiveSearch
from .l1_path import LogitPathClassifier
from .search import ModelScheduleSearch
from .sequences import (
    BackwardSequence,
    CostSequence,
    ForwardSequence,
    ImportancePerCostSequence,
    ImportanceSequence,
    L1PathSequence,
    RemovalSequence,
    SamplingSequence,
    UniformSequence,
)

__all__ = [
    "BackwardSequence",
    "CostSequence",
    "ExhaustiveSearch",
    "ForwardSequence",
    "ImportancePerCostSequence",
    "ImportanceSequence",
    "L1PathSequence",
    "LogitPathClassifier",
    "ModelScheduleSearch",
    "RemovalSequence",
    "SamplingSequence",
    "UniformSequence",
]
