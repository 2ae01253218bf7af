"""Models in several stages from one fit, so that a study can set error against cost or memory."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import ParameterError, check_classes, check_number
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ..tree.predictor import ForestPredictor


class Staged(AcquisitionMixin, BaseEstimator):
    """An estimator in stages; the last is what `predict` and `acquired_features` use.

    A subclass sets `stage_settings_` when fitted, and says what one stage does.
    """

    _dtype = np.float64

    @abstractmethod
    def _predict_stage(self, X, stage):
        """Return the predictions of one stage."""

    @abstractmethod
    def _acquired_stage(self, X, stage):
        """Return the acquired features of one stage."""

    @abstractmethod
    def staged_n_nodes(self):
        """Yield the nodes of each stage."""

    def _checked(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=self._dtype, reset=False)

    def predict(self, X):
        """Predict at the last stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predict_stage(self._checked(X), -1)

    def staged_predict(self, X):
        """Predict at each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        for stage in range(len(self.stage_settings_)):
            yield self._predict_stage(X, stage)

    def acquired_features(self, X):
        """Return which features the prediction of each example looks at, at the last stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        return self._acquired_stage(self._checked(X), -1)

    def staged_acquired_features(self, X):
        """Return `acquired_features` at each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._checked(X)
        for stage in range(len(self.stage_settings_)):
            yield self._acquired_stage(X, stage)


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The first trees of a forest as a model: scores are what their leaves add up to.

    Parameters
    ----------
    forest : ForestPredictor
        The trees.
    n_trees : int
        How many of them belong to the model.
    n_nodes : int
        Their nodes.
    intercept : float or ndarray of shape (n_values,), default=0.0
        Added to the sum.
    scale : float, default=1.0
        Factor of the sum: 1 / n_trees where the trees average.
    """

    forest: ForestPredictor
    n_trees: int
    n_nodes: int
    intercept: float | np.ndarray = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, trees, n_features, shares=False):
        """Return the model that all of `trees` make, with class shares for counts if wanted."""
        n_nodes = sum(tree.node_count for tree in trees)
        return cls(ForestPredictor(trees, n_features, shares=shares), len(trees), n_nodes)

    def scores(self, X, n_jobs):
        """Return the scores of each example, shape (n_samples, n_values)."""
        walk = self.forest.walk(X, values=True, trees=(0, self.n_trees), n_jobs=n_jobs)
        return self.scale * walk.values + self.intercept

    def acquired(self, X, n_jobs):
        """Return the features that each example's paths test, over all trees of the model."""
        trees = (0, self.n_trees)
        return self.forest.walk(X, acquired=True, trees=trees, n_jobs=n_jobs).acquired


class TreeStages(Staged):
    """Stages that are sums of trees: a subclass sets `_models`, a `TreeSum` for each stage."""

    def _predict_stage(self, X, stage):
        scores = self._models[stage].scores(X, self.n_jobs)
        if not is_classifier(self):
            return scores[:, 0]
        if scores.shape[1] < self.classes_.size:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _acquired_stage(self, X, stage):
        return self._models[stage].acquired(X, self.n_jobs)

    def staged_n_nodes(self):
        """Return the nodes at each stage.

        Yields
        ------
        int
        """
        check_is_fitted(self)
        for model in self._models:
            yield model.n_nodes


class MetaStaged(MetaEstimatorMixin, Staged):
    """Stages that one fit of another estimator gives: classifier or regressor as that is.

    A subclass fits `estimator_` and sets `stage_settings_` in `_fit`.
    """

    @abstractmethod
    def _fit(self, X, y):
        """Fit on validated data."""

    def __sklearn_tags__(self):
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = own.target_tags.required
        return tags

    def fit(self, X, y):
        """Fit the last stage, which holds all others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,)
            Class labels or numbers, as the estimator takes them.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=self._dtype, y_numeric=not is_classifier(self))
        if is_classifier(self):
            check_classes(y)
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        self._fit(X, y)
        if is_classifier(self):
            self.classes_ = self.estimator_.classes_
        return self

    def score(self, X, y):
        """Return accuracy in classification, R² in regression, at the last stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            True labels or numbers.

        Returns
        -------
        float
        """
        return (accuracy_score if is_classifier(self) else r2_score)(y, self.predict(X))


def check_increasing(values, name, high=None, integer=False):
    """Return sizes as a list, checked: numbers above 0, each larger than the one before.

    Parameters
    ----------
    values : sequence of float
        The sizes.
    name : str
        How messages name them.
    high : float, default=None
        Upper bound, inclusive.
    integer : bool, default=False
        Whether only whole numbers are accepted.

    Returns
    -------
    list
    """
    values = list(values)
    for value in values:
        check_number(value, f"{name} (each)", low=0, low_open=True, high=high, integer=integer)
    if not values or np.any(np.diff(values) <= 0):
        raise ParameterError(f"{name} must be one or more increasing numbers, got {values}.")
    return values
