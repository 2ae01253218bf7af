"""msB: model sequences and model schedules under a budget (Yan et al.), and logitB."""

from .exhaustive import ExhaustiveSearch as ExhaustiveSearch
from .l1_path import LogitPathClassifier as LogitPathClassifier
from .search import ModelScheduleSearch as ModelScheduleSearch
from .sequences import CostSequence as CostSequence
from .sequences import ForwardSequence as ForwardSequence
from .sequences import ImportancePerCostSequence as ImportancePerCostSequence
from .sequences import ImportanceSequence as ImportanceSequence
from .sequences import L1PathSequence as L1PathSequence
from .sequences import RemovalSequence as RemovalSequence
from .sequences import SamplingSequence as SamplingSequence
from .sequences import UniformSequence as UniformSequence
