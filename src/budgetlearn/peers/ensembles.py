"""Ensembles of scikit-learn with their first trees only: sums that are charged like ours."""

import numpy as np
from sklearn.base import clone, is_classifier

from .._counting import fit_counted
from .._validation import ParameterError
from ..tree.convert import (
    NOT_CONSTANT,
    READABLE,
    from_sklearn,
    holds_trees,
    score_scale,
    sklearn_intercept,
    starts_constant,
)
from ..tree.predictor import ForestPredictor
from .samme_r import SAMMERClassifier
from .staged import MetaStaged, TreeStages, TreeSum, check_increasing


def averages(estimator):
    """Tell whether the trees of an ensemble of scikit-learn average, or add up as in boosting."""
    return not hasattr(estimator, "learning_rate")


def first_trees(estimator, n_features, sizes=None, node_budgets=None):
    """Return what a fitted ensemble would be with its first members only.

    Parameters
    ----------
    estimator : fitted estimator
        An ensemble that `check_ensemble` lets pass.
    n_features : int
        Columns of its training data.
    sizes : sequence of int, default=None
        Members at each stage: trees, or boosting iterations, which are one tree for each class in
        gradient boosting of more than two. Boosting that ended early has no more than it has.
    node_budgets : sequence of int, default=None
        Instead of `sizes`: as many members as have at most so many nodes together.

    Returns
    -------
    list of TreeSum
    """
    trees = estimator.trees_ if hasattr(estimator, "trees_") else from_sklearn(estimator)
    members = len(estimator.estimators_)
    per_member = len(trees) // members
    nodes = np.cumsum([tree.node_count for tree in trees])[per_member - 1 :: per_member]
    if sizes is None:
        sizes = np.searchsorted(nodes, node_budgets, side="right").tolist()
    predictor, intercept = ForestPredictor(trees, n_features), sklearn_intercept(estimator)
    return [
        TreeSum(
            predictor,
            n_trees=per_member * min(size, members),
            n_nodes=int(nodes[min(size, members) - 1]),
            intercept=intercept,
            scale=1 / size if averages(estimator) else 1.0,
            per_step=0 if averages(estimator) else per_member,
        )
        for size in sizes
    ]


def check_ensemble(estimator):
    """Refuse what is no ensemble of scikit-learn that can be read as a sum of trees.

    Parameters
    ----------
    estimator : estimator
        Unfitted.

    Raises
    ------
    ParameterError
    """
    own = isinstance(estimator, SAMMERClassifier)
    if not own and not (holds_trees(estimator) and hasattr(estimator, "n_estimators")):
        raise ParameterError(
            f"estimator must be an ensemble ({READABLE}) or SAMMERClassifier, got {estimator!r}."
        )
    if not starts_constant(estimator):
        raise ParameterError(f"{NOT_CONSTANT}, got {estimator.init!r}.")


class SklearnStages(TreeStages):
    """Stages that read their scores as scikit-learn reads those of `estimator`."""

    _dtype = np.float32  # what scikit-learn's trees compare

    def _can_predict_proba(self):
        return averages(self.estimator) or hasattr(self.estimator, "loss")

    def _decided(self, scores):
        if is_classifier(self) and scores.shape[1] < self.classes_.size:
            return self.classes_[(scores[:, 0] >= 0).astype(np.intp)]
        return super()._decided(scores)

    def _shares(self, scores):
        if averages(self.estimator):
            return scores / scores.sum(axis=1, keepdims=True)
        return super()._shares(score_scale(self.estimator) * scores)


class ForestStages(SklearnStages, MetaStaged):
    """A forest or boosting of scikit-learn, and what it would be with its first trees only.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        Random forest, extra trees, bagging of decision trees, gradient boosting that starts from a
        constant (`init=None` or "zero"), AdaBoostClassifier over decision trees, or
        `SAMMERClassifier`. Its `n_estimators` is replaced by the last of `n_trees`.
    n_trees : sequence of int, default=(10, 100, 1000)
        Trees at each size, increasing; in gradient boosting of more than two classes, iterations.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Given to the estimator.
    n_jobs : int, default=None
        Threads; scikit-learn's boosting fits in one.

    Attributes
    ----------
    estimator_ : estimator
        The fitted ensemble.
    stage_settings_ : list of dict
        What tells each size apart: {"trees": n}.
    """

    def __init__(
        self,
        estimator,
        n_trees=(10, 100, 1000),
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_trees = n_trees
        self.feature_costs = feature_costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_estimator(self, X, y):
        check_ensemble(self.estimator)
        n_trees = check_increasing(self.n_trees, "n_trees", integer=True)
        model = clone(self.estimator)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=self.n_jobs)
        model.set_params(n_estimators=n_trees[-1], random_state=self.random_state)
        self.estimator_ = fit_counted(model, X, y)
        self._models = first_trees(model, X.shape[1], n_trees)
        self.stage_settings_ = [{"trees": n} for n in n_trees]
