"""Models in several stages from one fit, so that a study can set error against cost or memory."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags

from .._validation import ParameterError, check_number
from ..base import BudgetedEstimator, Stage
from ..tree.predictor import ForestPredictor


class Staged(BudgetedEstimator):
    """An estimator in stages; the last is what `predict` uses without a budget.

    A subclass sets `stage_settings_` when fitted, and says what one stage does.
    """

    @abstractmethod
    def _output_stage(self, X, stage):
        """Return the class labels or numbers that one stage predicts."""

    @abstractmethod
    def _acquired_stage(self, X, stage):
        """Return the acquired features of one stage."""

    @abstractmethod
    def _nodes_stage(self, stage):
        """Return the nodes of one stage."""

    def _proba_stage(self, X, stage):
        """Return the class probabilities of one stage."""
        raise NotImplementedError

    def _facts_stage(self, stage):
        """Return what else a study may record of one stage."""
        return {}

    @property
    def n_stages_(self):
        """Number of operating points."""
        return len(self.stage_settings_)

    def _stages(self, X, which, want):
        for index in which:
            stage = Stage(dict(self.stage_settings_[index]), nodes=self._nodes_stage(index))
            stage.facts = self._facts_stage(index)
            if "output" in want:
                stage.output = self._output_stage(X, index)
            if "probabilities" in want and is_classifier(self) and self._can_predict_proba():
                stage.probabilities = self._proba_stage(X, index)
            if "acquired" in want:
                stage.acquired = self._acquired_stage(X, index)
            yield stage


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

    def _output_stage(self, X, stage):
        scores = self._models[stage].scores(X, self.n_jobs)
        if not is_classifier(self):
            return scores[:, 0]
        if scores.shape[1] < self.classes_.size:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _proba_stage(self, X, stage):
        return self._shares(self._models[stage].scores(X, self.n_jobs))

    def _shares(self, scores):
        """Return class shares of shape (n_samples, n_classes): scores are log-odds."""
        if scores.shape[1] < self.classes_.size:
            return np.hstack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def _acquired_stage(self, X, stage):
        return self._models[stage].acquired(X, self.n_jobs)

    def _nodes_stage(self, stage):
        return self._models[stage].n_nodes


class MetaStaged(MetaEstimatorMixin, Staged):
    """Stages that one fit of another estimator gives: classifier or regressor as that is.

    A subclass fits `estimator_` and sets `stage_settings_` in `_fit_estimator`.
    """

    @abstractmethod
    def _fit_estimator(self, X, y):
        """Fit on validated data."""

    def __sklearn_tags__(self):
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = own.target_tags.required
        return tags

    def _fit(self, train, valid, seeds):
        self._fit_estimator(train.X, train.targets)


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
