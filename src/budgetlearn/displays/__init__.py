"""Pictures of a fitted estimator in one call, in the manner of scikit-learn's displays."""

from .acquisition import AcquisitionDisplay
from .cost_accuracy import CostAccuracyDisplay
from .schedule import ScheduleDisplay

__all__ = ["AcquisitionDisplay", "CostAccuracyDisplay", "ScheduleDisplay"]
