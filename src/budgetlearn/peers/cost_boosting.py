"""Boosted trees with prices on features, along a path of weights of the prices.

LightGBM with its own feature costs is the choice of users without a budgeted method; GreedyMiser is
stage-wise regression whose trees pay for features that they are first to use.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import check_random_state

from ..exceptions import extra
from ..fit_counts import count_fit
from ..parallel import progress, thread_map
from ..protocol import WeightedFit
from ..protocol.documenting import estimator_class
from ..tree.boosting import Boosting, CodedRows
from ..tree.convert import from_lightgbm
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, check_choice, check_number
from .staged import TreeStages, TreeSum, check_increasing

N_TRADEOFFS = 10
LEAST_TRADEOFF = 0.01  # of those above 0


@estimator_class
class CostBoosting(WeightedFit, TreeStages):
    """Boosting at several weights of the prices, each with several numbers of trees.

    The prices enter as shares of what all features cost together, and a tradeoff is per training
    example, so that it means the same whatever the unit of the prices and the size of the table.

    Parameters
    ----------
    cost_weights : sequence of float or None, default=(10, 3, 1, 0.3, 0.1, 0.03, 0)
        Tradeoffs, decreasing: what all features together cost in the loss, or the gain, of each
        training example; at 0 prices do not matter. None: ten, from where nothing is acquired to 0.
    n_trees : sequence of int, default=(10, 20, 40)
        Boosting iterations at each size, increasing: stages of one model for each tradeoff. With
        K > 2 classes each is K trees, one for each class.

    Attributes
    ----------
    trees_ : list of Tree
        Trees of the last stage; the sum of their values is the score of each class, or of the
        second of two; of numbers the distance from their mean.
    stage_settings_ : list of dict
        What tells stages apart: {"tradeoff": value, "trees": n}, the smallest model first.
    """

    _groups = True
    _caps_mean = True

    cost_weights: Any = (10, 3, 1, 0.3, 0.1, 0.03, 0)
    n_trees: Any = (10, 20, 40)
    learning_rate: float = 0.2
    scoring: Any = None
    n_jobs: int | None = None

    _origin = 0.0  # what the trees' sums are added to

    @abstractmethod
    def _boost(self, train, shares, cost_weights, n_iterations):
        """Return for each tradeoff the list of its trees, the same number in each iteration.

        `train` are the `Examples`, `shares` the prices as shares of that of all features.
        """

    def _fit(self, train, valid, seeds):
        costs, weights = self.feature_costs_, self.cost_weights
        weights = scaled_tradeoffs(costs) if weights is None else weights
        # Falling, so that later stages acquire more.
        weights = check_increasing(weights, "cost_weights", falling=True, low_open=False)
        n_trees = check_increasing(self.n_trees, "n_trees", integer=True)
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        # Prices as shares of what all features cost together.
        shares = costs.alone / costs.full if costs.full else costs.alone
        # Stages in the order of the path: prices matter less, models grow.
        self._models, self.stage_settings_ = [], []
        paths = self._boost(train, shares, weights, n_trees[-1])
        for tradeoff, trees in zip(weights, paths, strict=True):
            predictor, step = ForestPredictor(trees, self.n_features_in_), self._n_outputs
            # Boosting may end early: then the larger sizes are one model.
            counts = [min(step * size, len(trees)) for size in n_trees]
            self._models += [TreeSum(predictor, n, self._origin, per_step=step) for n in counts]
            self.stage_settings_ += [{"tradeoff": tradeoff, "trees": n} for n in n_trees]
        self.trees_ = trees

    @property
    def _n_outputs(self):
        """Scores of a model: one of numbers and of two classes, else one for each class."""
        return self.classes_.size if is_classifier(self) and self.classes_.size > 2 else 1


def scaled_tradeoffs(costs):
    """Return `N_TRADEOFFS` from where nothing is acquired to where prices do not matter.

    From full price over the cheapest that is paid, which no gain of a split repays, in equal ratios
    down to `LEAST_TRADEOFF`; then 0.
    """
    # A perfect first split gains 1 an example: beyond full / cheapest no price is repaid.
    paid = costs.alone[costs.alone > 0]
    most = max(costs.full / paid.min(), 1.0) if paid.size else 1.0
    return [*np.geomspace(most, LEAST_TRADEOFF, N_TRADEOFFS - 1).tolist(), 0.0]


_MAX_BINS = 255


@estimator_class
class GreedyMiserClassifier(ClassifierMixin, CostBoosting):
    """Stage-wise regression with shallow trees and prices on new features.

    Each tree h is grown greedily for Σ w (residual − h(x))², w being the examples' weights, plus
    the tradeoff times the price of every feature that no earlier split of the ensemble uses; such a
    feature is free from then on. The split with the largest net gain of all comes next.

    Parameters
    ----------
    max_depth : int, default=4
        Depth of the trees, the paper's.

    References
    ----------
    Z. Xu, K. Q. Weinberger and O. Chapelle. The greedy miser: learning under test-time budgets.
    ICML 2012.
    """

    max_depth: int = 4
    class_weight: Any = None

    def _boost(self, train, shares, cost_weights, n_iterations):
        # Depth 8 is 256 leaves: deeper trees are not of limited depth any more.
        check_number(self.max_depth, "max_depth", low=1, high=8, integer=True)
        coded, n = CodedRows.of(train.X, _MAX_BINS), len(train.y)
        members = train.y == np.arange(self.classes_.size)[:, None]
        # Two classes have one score, of the second class: its row is the last.
        targets = np.where(members[-self._n_outputs :], 1.0, -1.0)
        learned = coded, targets, None, np.arange(n), train.weight
        sizes = {"n_leaves": min(2**self.max_depth, n), "min_leaf": 1, "max_depth": self.max_depth}

        def path(tradeoff):
            boosting = Boosting(*learned, rate=self.learning_rate, **sizes)
            # A tradeoff is per example, the squared error a sum over all of them. All trees and
            # classes of the ensemble share the prices: a feature is paid for once.
            boosting.prices[:] = tradeoff * n * shares
            for _ in range(n_iterations):
                boosting.step()
            return boosting.grown()

        return thread_map(path, cost_weights, self.n_jobs, "models")


@estimator_class
class LightGBMCost(CostBoosting):
    """Gradient boosting by LightGBM that charges its splits for features.

    Parameters
    ----------
    penalty : {"coupled", "lazy"}, default="coupled"
        "coupled": the model pays for a feature once, at its first split on it. "lazy": it pays for
        each training example in a node that had not met the feature before.
    random_state : int, RandomState instance or None, default=None
        Given to LightGBM, which draws nothing here on fewer than 200,000 examples.

    Notes
    -----
    The penalty of a split is tradeoff × n_samples × share ("coupled"), or tradeoff × share for
    each example ("lazy"), where share is the feature's price over the full price.

    References
    ----------
    S. Peter, F. Diego, F. Hamprecht and B. Nadler. Cost efficient gradient boosting. NIPS 2017.
    """

    _takes_missing = True

    penalty: str = "coupled"
    num_leaves: int = 8
    min_child_samples: int = 5
    random_state: Any = None

    def _boost(self, train, shares, cost_weights, n_iterations):
        with extra("peers", type(self).__name__):
            import lightgbm
        check_choice(self.penalty, "penalty", ("coupled", "lazy"))
        check_number(self.num_leaves, "num_leaves", low=2, integer=True)
        check_number(self.min_child_samples, "min_child_samples", low=1, integer=True)
        # Gains are sums over examples: "coupled" must be, too; "lazy" is charged an example.
        penalties = shares * (len(train.y) if self.penalty == "coupled" else 1)
        classes = "binary" if self._n_outputs == 1 else "multiclass"
        parameters = {
            "objective": classes if is_classifier(self) else "regression",
            "num_class": self._n_outputs,
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            f"cegb_penalty_feature_{self.penalty}": penalties.tolist(),
            "num_threads": effective_n_jobs(self.n_jobs),
            "seed": int(check_random_state(self.random_state).randint(INT32_MAX)),
            "deterministic": True,
            "force_row_wise": True,  # else LightGBM times both ways, and picks one
            "verbose": -1,
        }
        # Coded once for all cost_weights.
        options = {"params": dict(parameters), "free_raw_data": False}
        data = lightgbm.Dataset(train.X, train.y, weight=train.weight, **options)
        paths = []
        for tradeoff in progress(cost_weights, "models"):
            count_fit()
            charged = {**parameters, "cegb_tradeoff": tradeoff}
            # Kept as it is: else LightGBM writes all trees to text, and reads them again.
            booster = lightgbm.train(charged, data, n_iterations, keep_training_booster=True)
            paths.append(from_lightgbm(booster))
        return paths


@estimator_class
class LightGBMCostClassifier(ClassifierMixin, LightGBMCost):
    """Gradient boosting of classes by LightGBM that charges its splits for features."""

    class_weight: Any = None


@estimator_class
class LightGBMCostRegressor(RegressorMixin, LightGBMCost):
    """Gradient boosting of numbers by LightGBM that charges its splits for features.

    LightGBM learns from the targets in standard deviations from their mean, so that a tradeoff is a
    share of the variance, whatever their unit.
    """

    def _boost(self, train, *path):
        self._origin = np.average(train.y, weights=train.weights)
        away = train.y - self._origin
        most = np.abs(away).max() or 1.0  # else squares may vanish, or overflow
        unit = most * np.sqrt(np.average((away / most) ** 2, weights=train.weights)) or 1.0
        paths = super()._boost(replace(train, y=away / unit), *path)
        return [[replace(tree, value=unit * tree.value) for tree in trees] for trees in paths]
