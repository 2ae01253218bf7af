"""msB: model sequences and model schedules under a budget (Yan et al.), and logitB."""

from .exhaustive import ExhaustiveSearch
from .logit_path import LogitPathClassifier
from .removal import (
    CostSequence,
    ImportancePerCostSequence,
    ImportanceSequence,
    RemovalSequence,
    SamplingSequence,
    UniformSequence,
)
from .search import ModelScheduleSearch
from .sequences import L1PathSequence
from .stagewise import BackwardSequence, ForwardSequence

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
