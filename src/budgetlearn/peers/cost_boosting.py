"""Boosted trees that are charged for features, along a path of weights of the prices.

LightGBM with its own feature costs is what users would try without a budgeted method. GreedyMiser
is stage-wise regression whose trees pay for each feature that no earlier tree uses.
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
LEAST_TRADEOFF = 0.01  # the smallest above 0
_MAX_BINS = 255


@estimator_class
class CostBoosting(WeightedFit, TreeStages):
    """Boosting at several weights of the prices, each with several numbers of trees.

    Prices are shares of the full cost, and a tradeoff is per training example. The meaning of a
    tradeoff is therefore independent of the unit of the prices and the size of the table.

    Parameters
    ----------
    cost_weights : sequence of float or None, default=(10, 3, 1, 0.3, 0.1, 0.03, 0)
        Tradeoffs, decreasing: the full cost of all features in units of the loss, or the gain, of
        one training example; 0 ignores prices. None: ten tradeoffs, from one at which nothing is
        acquired down to 0.
    n_trees : sequence of int, default=(10, 20, 40)
        Numbers of boosting iterations, increasing; each is a stage for each tradeoff. With K > 2
        classes, an iteration has K trees, one for each class.

    Attributes
    ----------
    trees_ : list of Tree
        Trees of the last stage. The sum of their values is the score of each class, or of the
        second of two classes; in regression, the distance from the mean of the targets.
    stage_settings_ : list of dict
        Setting that identifies each stage: {"tradeoff": value, "trees": n}, from the largest
        tradeoff to the smallest, each from few trees to many.
    """

    _groups = True
    _caps_mean = True

    cost_weights: Any = (10, 3, 1, 0.3, 0.1, 0.03, 0)
    n_trees: Any = (10, 20, 40)
    learning_rate: float = 0.2
    scoring: Any = None
    n_jobs: int | None = None

    _origin = 0.0  # added to the trees' sums

    @abstractmethod
    def _boost(self, train, shares, cost_weights, n_iterations):
        """Return a list of trees for each tradeoff, with equally many trees in each iteration.

        `train` are the `Examples`, `shares` the prices as shares of the full cost.
        """

    def _fit(self, train, valid, seeds):
        costs, weights = self.feature_costs_, self.cost_weights
        weights = scaled_tradeoffs(costs) if weights is None else weights
        # Decreasing, so that later stages acquire more.
        weights = check_increasing(weights, "cost_weights", falling=True, low_open=False)
        n_trees = check_increasing(self.n_trees, "n_trees", integer=True)
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        shares = costs.alone / costs.full if costs.full else costs.alone
        self._models, self.stage_settings_ = [], []
        paths = self._boost(train, shares, weights, n_trees[-1])
        for tradeoff, trees in zip(weights, paths, strict=True):
            predictor, step = ForestPredictor(trees, self.n_features_in_), self._n_outputs
            # Boosting may end early; then larger sizes are the same model.
            counts = [min(step * size, len(trees)) for size in n_trees]
            self._models += [TreeSum(predictor, n, self._origin, per_step=step) for n in counts]
            self.stage_settings_ += [{"tradeoff": tradeoff, "trees": n} for n in n_trees]
        self.trees_ = trees

    @property
    def _n_outputs(self):
        """Number of scores of a model: one for each class if there are more than two, else one."""
        return self.classes_.size if is_classifier(self) and self.classes_.size > 2 else 1


def scaled_tradeoffs(costs):
    """Return `N_TRADEOFFS` tradeoffs, from one at which nothing is acquired down to 0.

    They fall in equal ratios from full cost / cheapest price above 0 to `LEAST_TRADEOFF`, then 0.
    """
    # At the tradeoff full / cheapest no feature with a price costs less than 1 for each example,
    # which is the gain of a perfect first split.
    paid = costs.alone[costs.alone > 0]
    most = costs.full / paid.min() if paid.size else 1.0
    return [*np.geomspace(most, LEAST_TRADEOFF, N_TRADEOFFS - 1).tolist(), 0.0]


@estimator_class
class GreedyMiserClassifier(ClassifierMixin, CostBoosting):
    """Stage-wise regression with shallow trees that pay for new features.

    Each tree h is grown greedily to minimise Σ w (residual − h(x))², with the weights w of the
    examples, plus the tradeoff times the price of every feature that no earlier split of the
    ensemble uses, as used features are free. The next split is always that of largest net gain.

    Parameters
    ----------
    max_depth : int, default=4
        Depth of the trees; the default is the paper's.

    References
    ----------
    Z. Xu, K. Q. Weinberger and O. Chapelle. The greedy miser: learning under test-time budgets.
    ICML 2012.
    """

    max_depth: int = 4
    class_weight: Any = None

    def _boost(self, train, shares, cost_weights, n_iterations):
        # Depth 8 means 256 leaves: deeper trees are no longer shallow.
        check_number(self.max_depth, "max_depth", low=1, high=8, integer=True)
        coded, n = CodedRows.of(train.X, _MAX_BINS), len(train.y)
        costs = self.feature_costs_
        members = train.y == np.arange(self.classes_.size)[:, None]
        # Two classes have one score, that of the second class, which is the last row.
        targets = np.where(members[-self._n_outputs :], 1.0, -1.0)
        learned = coded, targets, None, np.arange(n), train.weight
        sizes = {"n_leaves": min(2**self.max_depth, n), "min_leaf": 1, "max_depth": self.max_depth}

        def path(tradeoff):
            boosting = Boosting(*learned, rate=self.learning_rate, **sizes)
            # A tradeoff is per example, the squared error a sum over examples. All trees and
            # classes share the prices, so that each feature is paid for once.
            boosting.prices[:] = tradeoff * n * shares
            for _ in range(n_iterations):
                boosting.step()
                # A group's charge, once paid, is no longer due for its other members.
                due = costs.marginal(boosting.prices == 0)
                boosting.prices[:] = tradeoff * n * (due / (costs.full or 1.0))
            return boosting.grown()

        return thread_map(path, cost_weights, self.n_jobs, "models")


@estimator_class
class LightGBMCost(CostBoosting):
    """Gradient boosting by LightGBM with feature costs.

    Parameters
    ----------
    penalty : {"coupled", "lazy"}, default="coupled"
        "coupled": the model pays for a feature once, at its first split on the feature. "lazy": it
        pays for each training example in a node that has not used the feature before.
    random_state : int, RandomState instance or None, default=None
        Passed to LightGBM, which is deterministic here below 200,000 examples.

    Notes
    -----
    The penalty of a split is tradeoff × n_samples × share ("coupled"), or tradeoff × share for
    each example ("lazy"), where share is the feature's price divided by the full cost.

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
        # Gains are sums over examples, so "coupled" is multiplied by their number.
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
            "force_row_wise": True,  # else LightGBM chooses by timing, which is not reproducible
            "verbose": -1,
        }
        options = {"params": dict(parameters), "free_raw_data": False}
        data = lightgbm.Dataset(train.X, train.y, weight=train.weight, **options)
        paths = []
        for tradeoff in progress(cost_weights, "models"):
            count_fit()
            charged = {**parameters, "cegb_tradeoff": tradeoff}
            # Otherwise LightGBM would write all trees to text and read them again.
            booster = lightgbm.train(charged, data, n_iterations, keep_training_booster=True)
            paths.append(from_lightgbm(booster))
        return paths


@estimator_class
class LightGBMCostClassifier(ClassifierMixin, LightGBMCost):
    """Classification by LightGBM's gradient boosting with feature costs."""

    class_weight: Any = None


@estimator_class
class LightGBMCostRegressor(RegressorMixin, LightGBMCost):
    """Regression by LightGBM's gradient boosting with feature costs.

    LightGBM is fitted to standardised targets: a tradeoff is a share of their variance.
    """

    def _boost(self, train, *path):
        self._origin = np.average(train.y, weights=train.weights)
        away = train.y - self._origin
        most = np.abs(away).max() or 1.0  # else squares may underflow or overflow
        unit = most * np.sqrt(np.average((away / most) ** 2, weights=train.weights)) or 1.0
        paths = super()._boost(replace(train, y=away / unit), *path)
        return [[replace(tree, value=unit * tree.value) for tree in trees] for trees in paths]
