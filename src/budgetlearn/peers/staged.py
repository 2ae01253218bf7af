"""Models with several stages from one fit, which trade error for cost or memory."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags

from ..export.serialization import stored_bytes
from ..forests.base import tree_acquisitions
from ..protocol import BudgetedEstimator, Stage
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError, check_numbers


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The first trees of a forest as a model, whose scores are sums or means of leaf values."""

    forest: ForestPredictor
    n_trees: int  # number of trees of the model
    intercept: float | np.ndarray = 0.0  # added to the sum
    averages: bool = False  # whether trees are averaged instead of added
    # Number of trees of a boosting step; 0 if trees are independent votes.
    per_step: int = 0

    def scores(self, totals, n_counted):
        """Return scores, (n_samples, n_values), from the sums of the values of reached leaves.

        `n_counted` is the number of evaluated trees in the sums, for each example or for all.
        """
        if self.averages:
            totals = np.reshape(1 / np.maximum(n_counted, 1), (-1, 1)) * totals
        return totals + self.intercept


class TreeStages(BudgetedEstimator):
    """Base of estimators with trees; a subclass sets `_models`, a `TreeSum` for each stage."""

    def _stages(self, X, which, want):
        for index in which:
            model = self._models[index]
            nodes = model.forest.node_count(model.n_trees)
            stage = Stage(dict(self.stage_settings_[index]), nodes=nodes)
            vote, acquired = bool(want & {"output", "probabilities"}), "acquired" in want
            trees = (0, model.n_trees)
            walk = model.forest.walk(
                X, trees=trees, values=vote, acquired=acquired, n_jobs=self.n_jobs
            )
            stage.acquired = walk.acquired
            if vote:
                stage.output, stage.probabilities = self._answer(model, walk.values, model.n_trees)
            yield stage

    def _most_costs(self):
        forests = [model.forest.trees[: model.n_trees] for model in self._models]
        used = [np.concatenate([t.feature[~t.is_leaf] for t in trees]) for trees in forests]
        return np.array([self.feature_costs_.subset(features) for features in used])

    def stored_bytes(self, stage):
        model = self._models[stage]
        n_columns = model.forest.n_values
        # One of several trees of a step has values of one class; two classes have opposite scores.
        if model.per_step > 1 or (is_classifier(self) and n_columns == 2):
            n_columns = 1
        return stored_bytes(model.forest.trees[: model.n_trees], model.forest.n_features, n_columns)

    def _answer(self, model, totals, n_counted):
        scores = model.scores(totals, n_counted)
        shows = is_classifier(self) and self._can_predict_proba()
        return self._decided(scores), self._shares(model, scores) if shows else None

    def _decided(self, scores):
        """Return the class labels or numbers for scores."""
        if not is_classifier(self):
            return scores[:, 0]
        if scores.shape[1] < self.classes_.size:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _shares(self, model, scores):
        """Return class probabilities, (n_samples, n_classes), from sums of votes or log-odds."""
        if not model.per_step:
            return scores / scores.sum(axis=1, keepdims=True)
        if scores.shape[1] < self.classes_.size:
            # Not as 1 − expit(scores), which would lose digits.
            return np.hstack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def _acquisitions(self, n_samples, stage, ledger):
        model = self._models[stage]
        trees, answer = (model.forest, model.n_trees), partial(self._answer, model)
        requests = tree_acquisitions(
            self, trees, n_samples, ledger, answer, per_step=model.per_step
        )
        return (yield from requests)


class MetaStaged(MetaEstimatorMixin, BudgetedEstimator):
    """Base of meta-estimators with stages; a classifier or regressor like their `estimator`."""

    def __sklearn_tags__(self):
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = own.target_tags.required
        tags.ranking = tags.estimator_type == "classifier" and self._can_predict_proba()
        return tags


def check_increasing(values, name, *, falling=False, low_open=True, high=None, integer=False):
    """Return numbers as a list if each is larger than the one before (with `falling`, smaller).

    The numbers must be above 0 (or at least 0 if `low_open` is False), at most `high`, and integers
    if `integer` is set. Error messages call them `name`.
    """
    values = check_numbers(values, name, low=0, low_open=low_open, high=high, integer=integer)
    if np.any(np.diff(values) * (-1 if falling else 1) <= 0):
        order = "decreasing" if falling else "increasing"
        raise ParameterError(f"{name} must be one or more {order} numbers, got {values}.")
    return values
