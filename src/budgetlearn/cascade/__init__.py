"""The cascade: acquire features stage by stage, and stop an example once its class is sure."""

from .estimator import ScheduleCascadeClassifier as ScheduleCascadeClassifier
from .estimator import ScheduleCascadeRegressor as ScheduleCascadeRegressor
