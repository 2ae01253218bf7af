"""Controls that bracket every score: pay nothing, or pay for everything."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..base import AcquisitionMixin
from ..costs import FeatureCosts


class _Control(AcquisitionMixin, BaseEstimator):
    """An estimator whose `_model` acquires the same features, `_acquires`, for every example."""

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples.
        y : array-like of shape (n_samples,)
            Class labels, or numbers in regression.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, y_numeric=not is_classifier(self))
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        self.model_ = self._model().fit(X, y)
        if is_classifier(self):
            self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """Return the predicted labels or numbers, shape (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False))

    @available_if(lambda self: hasattr(self._model(), "predict_proba"))
    def predict_proba(self, X):
        """Return the probability of each class, where the model knows it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(validate_data(self, X, reset=False))

    def acquired_features(self, X):
        """Return which features were looked at: all of them, or none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.full(X.shape, self._acquires)


class FreeConstantClassifier(ClassifierMixin, _Control):
    """Predict the most frequent class and acquire nothing.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    """

    _acquires = False

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    def _model(self):
        return DummyClassifier(strategy="most_frequent")


class FreeConstantRegressor(RegressorMixin, _Control):
    """Predict the mean of the training targets and acquire nothing.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    """

    _acquires = False

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    def _model(self):
        return DummyRegressor(strategy="mean")


class AllFeaturesClassifier(ClassifierMixin, _Control):
    """Acquire every feature and hand them to any classifier.

    Parameters
    ----------
    estimator : classifier, default=None
        None: a random forest of 100 trees.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Given to the estimator where it has such a parameter.
    """

    _acquires = True

    def __init__(self, estimator=None, feature_costs=None, random_state=None):
        self.estimator = estimator
        self.feature_costs = feature_costs
        self.random_state = random_state

    def _model(self):
        model = RandomForestClassifier() if self.estimator is None else clone(self.estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=self.random_state)
        return model
