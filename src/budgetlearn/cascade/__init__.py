"""The cascade: acquire features stage by stage and stop once the prediction is confident."""

from .estimator import ScheduleCascadeClassifier as ScheduleCascadeClassifier
from .estimator import ScheduleCascadeRegressor as ScheduleCascadeRegressor
