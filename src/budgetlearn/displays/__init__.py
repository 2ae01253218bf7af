"""Pictures of a fitted estimator in one call, in the manner of scikit-learn's displays."""

from .pictures import AcquisitionDisplay, CostAccuracyDisplay, ScheduleDisplay

__all__ = ["AcquisitionDisplay", "CostAccuracyDisplay", "ScheduleDisplay"]
