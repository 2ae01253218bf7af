"""Boosted trees with prices on features, along a path of weights of the prices."""

from abc import abstractmethod

import numpy as np
from sklearn.base import ClassifierMixin

from ..protocol.documenting import documented
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError, check_number
from .staged import TreeStages, TreeSum, check_increasing

TRADEOFFS, N_TREES = (10, 3, 1, 0.3, 0.1, 0.03, 0), (10, 20, 40)
N_TRADEOFFS = 10
LEAST_TRADEOFF = 0.01  # of those above 0


@documented
class CostBoosting(ClassifierMixin, TreeStages):
    """Boosting at several weights of the prices, each with several numbers of trees.

    The prices enter as shares of what all features cost together, and a tradeoff is per training
    example, so that it means the same whatever the unit of the prices and the size of the table.

    Parameters
    ----------
    cost_weights : sequence of float or None, default=(10, 3, 1, 0.3, 0.1, 0.03, 0)
        Weights of the prices, decreasing. None: ten that scale with the prices, from where nothing
        is acquired to 0.
    n_trees : sequence of int, default=(10, 20, 40)
        Boosting iterations at each size, increasing: stages of one model for each tradeoff. With
        K > 2 classes each is K trees, one for each class.
    learning_rate : float, default=0.2
        Shrinkage of each tree.

    Attributes
    ----------
    trees_ : list of Tree
        Trees of the last stage; the sum of their values is the score of each class, or of the
        second of two.
    stage_settings_ : list of dict
        What tells stages apart: {"tradeoff": value, "trees": n}, the smallest model first.
    """

    _groups = True

    def __init__(
        self,
        *,
        feature_costs=None,
        cost_weights=TRADEOFFS,
        n_trees=N_TREES,
        learning_rate=0.2,
        n_jobs=None,
    ):
        self.feature_costs = feature_costs
        self.cost_weights = cost_weights
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.n_jobs = n_jobs

    @abstractmethod
    def _boost(self, X, labels, shares, cost_weights, n_iterations):
        """Return for each tradeoff the list of its trees, the same number in each iteration."""

    def _fit(self, train, valid, seeds):
        cost_weights = _check_tradeoffs(self.cost_weights, self.feature_costs_)
        n_trees = check_increasing(self.n_trees, "n_trees", integer=True)
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        shares = _price_shares(self.feature_costs_)
        # Stages in the order of the path: prices matter less, models grow.
        self._models, self.stage_settings_ = [], []
        paths = self._boost(train.X, train.y, shares, cost_weights, n_trees[-1])
        for tradeoff, trees in zip(cost_weights, paths, strict=True):
            self._models += self._first_iterations(trees, n_trees)
            self.stage_settings_ += [{"tradeoff": tradeoff, "trees": n} for n in n_trees]
        self.trees_ = trees

    @property
    def _n_outputs(self):
        """Scores of a model: one for two classes, else one for each class."""
        return 1 if self.classes_.size == 2 else self.classes_.size

    def _first_iterations(self, trees, sizes):
        """Return the model after each number of iterations, or all where boosting ended early."""
        nodes = np.cumsum([tree.node_count for tree in trees])
        predictor = ForestPredictor(trees, self.n_features_in_)
        # Boosting may end early: then the larger sizes are one model.
        counts = [min(self._n_outputs * size, len(trees)) for size in sizes]
        step = self._n_outputs
        return [TreeSum(predictor, n, int(nodes[n - 1]), per_step=step) for n in counts]


def _check_tradeoffs(cost_weights, costs):
    """Return the cost_weights as a list, if each is below the one before and none below 0."""
    cost_weights = scaled_tradeoffs(costs) if cost_weights is None else list(cost_weights)
    for tradeoff in cost_weights:
        check_number(tradeoff, "cost_weights (each)", low=0)
    if not cost_weights or np.any(np.diff(cost_weights) >= 0):
        raise ParameterError(
            "cost_weights must be one or more decreasing numbers, so that later stages acquire "
            f"more, got {cost_weights}."
        )
    return cost_weights


def scaled_tradeoffs(costs):
    """Return `N_TRADEOFFS` from where nothing is acquired to where prices do not matter.

    From full price over the cheapest that is paid, which no gain of a split repays (see
    `LightGBMCostClassifier`), in equal ratios down to `LEAST_TRADEOFF`; then 0.
    """
    # A perfect first split gains 1 an example: beyond full / cheapest no price is repaid.
    paid = costs.alone[costs.alone > 0]
    most = max(costs.full / paid.min(), 1.0) if paid.size else 1.0
    return [*np.geomspace(most, LEAST_TRADEOFF, N_TRADEOFFS - 1).tolist(), 0.0]


def _price_shares(costs):
    """Return the cost of each feature alone, as a share of the cost of all."""
    return costs.alone / costs.full if costs.full else costs.alone
