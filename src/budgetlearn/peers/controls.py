"""Controls that bracket every score: pay nothing, or pay for everything."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import get_tags

from ..counting import fit_counted
from ..protocol import BudgetedEstimator, Stage
from ..protocol.documenting import documented


class _Control(BudgetedEstimator):
    """An estimator whose `_model` acquires the same features, `_acquires`, for every example."""

    def _fit(self, train, valid, seeds):
        self.model_ = fit_counted(self._model(), train.X, train.targets)

    def fixed_costs(self):
        return [self.feature_costs_.full if self._acquires else 0.0]

    def _takes_missing(self):
        return get_tags(self._model()).input_tags.allow_nan

    def _can_predict_proba(self):
        return hasattr(self._model(), "predict_proba")

    def _stages(self, X, which, want):
        stage = Stage({}, acquired=np.full(X.shape, self._acquires))
        # What costs nothing must not look: the constant is asked about zeros.
        known = X if self._acquires else np.zeros(X.shape)
        if "output" in want:
            stage.output = self.model_.predict(known)
        if "probabilities" in want and hasattr(self.model_, "predict_proba"):
            stage.probabilities = self.model_.predict_proba(known)
        # One stage, asked for once or again.
        yield from (stage for _ in which)


@documented
class FreeConstantClassifier(ClassifierMixin, _Control):
    """Predict the most frequent class and acquire nothing."""

    _acquires = False

    def __init__(self, *, feature_costs=None):
        self.feature_costs = feature_costs

    def _model(self):
        return DummyClassifier(strategy="most_frequent")


@documented
class FreeConstantRegressor(RegressorMixin, _Control):
    """Predict the mean of the training targets and acquire nothing."""

    _acquires = False

    def __init__(self, *, feature_costs=None):
        self.feature_costs = feature_costs

    def _model(self):
        return DummyRegressor(strategy="mean")


@documented
class AllFeaturesClassifier(ClassifierMixin, _Control):
    """Acquire every feature and hand them to any classifier.

    Parameters
    ----------
    estimator : classifier, default=None
        None: a random forest of 100 trees.
    random_state : int, RandomState instance or None, default=None
        Given to the estimator where it has such a parameter.
    """

    _acquires = True

    def __init__(self, estimator=None, *, feature_costs=None, random_state=None):
        self.estimator = estimator
        self.feature_costs = feature_costs
        self.random_state = random_state

    def _model(self):
        model = RandomForestClassifier() if self.estimator is None else clone(self.estimator)
        # Not every classifier draws anything.
        if "random_state" in model.get_params():
            model.set_params(random_state=self.random_state)
        return model
