"""Base class of FMCC, VoC and the random order, which acquire features one by one."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import StandardScaler

from ..costs import affords, too_small
from ..parallel import thread_map
from ..protocol import BudgetedEstimator, Outcome, Stage, WeightedFit
from ..protocol.documenting import estimator_class
from ..protocol.feature_requests import Ledger, drive, requests_by_feature
from ..protocol.prediction import from_table
from ..validation import ParameterError, check_number

# Test points per task, which bounds the memory besides the results.
BLOCK_ROWS = 256


@dataclass(frozen=True)
class Record:
    """Record of the acquisitions of m test points with d features."""

    order: np.ndarray  # (m, d) int: acquired features in order, -1 after the last one
    # (m, d): the value by which each acquisition was chosen (expected accuracy, or its gain, minus
    # the weighted price); 0 after the last one.
    value: np.ndarray
    # (m, d + 1): estimated probability of a correct prediction after 0, 1, ... d acquisitions; the
    # last one is repeated.
    estimate: np.ndarray
    winner: np.ndarray  # (m, d + 1) int: predicted class; the last one is repeated
    # (m, d + 1, n_classes): class probabilities; n_classes is 0 if there are only estimates.
    shares: np.ndarray

    @classmethod
    def empty(cls, n_rows, n_features, n_classes=0):
        """Return a record to be filled in, with nothing acquired."""
        order = np.full((n_rows, n_features), -1, dtype=np.intp)
        estimate, shares = np.zeros((n_rows, n_features + 1)), (n_rows, n_features + 1, n_classes)
        winner = np.zeros(estimate.shape, dtype=np.intp)
        return cls(order, np.zeros(order.shape), estimate, winner, np.zeros(shares))

    @classmethod
    def join(cls, walks):
        """Stack the records of consecutive blocks of test points."""
        return cls(*(np.concatenate([getattr(w, f.name) for w in walks]) for f in fields(cls)))

    def acquired(self, stage=None):
        """Return the mask of the features among the first `stage` acquisitions (None: all)."""
        return self._place < (self.order.shape[1] if stage is None else stage)

    @cached_property
    def _place(self):
        """Place of each feature in the order, (m, d); d if it was not acquired."""
        place = np.full(self.winner.shape, self.order.shape[1], dtype=np.int32)
        np.put_along_axis(place, self.order, np.arange(self.order.shape[1])[None], axis=1)
        return place[:, :-1]  # the last column had the places without a feature, -1 in the order

    def probabilities(self, stage, n_classes):
        """Return class probabilities after `stage` acquisitions."""
        if self.shares.shape[2]:
            return self.shares[:, stage]
        right = self.estimate[:, stage]
        # FMCC estimates only the winner's probability; the others share the rest equally.
        shared = (1.0 - right) / (n_classes - 1)
        probabilities = np.repeat(shared[:, None], n_classes, axis=1)
        probabilities[np.arange(right.size), self.winner[:, stage]] = right
        return probabilities


def standardiser(X, weight):
    """Return a scaler fitted to weighted examples, or raise an error if a square overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaler = StandardScaler().fit(X, sample_weight=weight)
    large = np.flatnonzero(~np.isfinite(scaler.var_))
    if large.size:
        raise ParameterError(
            f"the feature at place {large[0]} reaches {np.abs(X[:, large[0]]).max():.3g}, whose "
            "square overflows: divide it by a power of ten."
        )
    return scaler


@estimator_class
class SequentialClassifier(ClassifierMixin, WeightedFit, BudgetedEstimator):
    """Base of classifiers that acquire features one by one until the prediction is certain.

    Stage k has acquired k + 1 features, regardless of the threshold, or all but those that are
    constant in training. The stage after the last one, which `predict` uses without a budget, stops
    each example at the threshold. A subclass learns in `_fit_codes`, and walks test points in
    `_walk_block` and `_acquiring`.

    Parameters
    ----------
    threshold : float, default=0.95
        Stop when the estimated probability of a correct prediction exceeds this value in [0, 1];
        1: never stop.
    cost_weight : float, default=0.0
        Weight alpha of the price against the value in the choice of a feature.
    max_cost : float, default=None
        Maximum cost of an example, in the unit of `feature_costs`. Features that would exceed it
        are not acquired, and acquisitions end if no feature is affordable.
    """

    _groups = True

    threshold: float = 0.95
    cost_weight: float = 0.0
    max_cost: float | None = None
    scoring: Any = None
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    @abstractmethod
    def _fit_codes(self, X, codes, weight, rng):
        """Learn from validated examples, class indices and weights (None: all alike)."""

    @abstractmethod
    def _walk_block(self, X, threshold, max_cost):
        """Return the `Record` of the rows of X."""

    @abstractmethod
    def _acquiring(self, n_rows, threshold, max_cost, most):
        """Yield requests of n_rows examples for `requests_by_feature`, and return their `Record`.

        Each example acquires at most `most` features.
        """

    def _block_rows(self):
        """Return the number of test points that are walked together."""
        return BLOCK_ROWS

    def _fit(self, train, valid, seeds):
        check_number(self.threshold, "threshold", low=0.0, high=1.0)
        # Infinite times the price of a free feature is no number.
        check_number(self.cost_weight, "cost_weight", low=0.0, high=np.inf, high_open=True)
        check_number(self.max_cost, "max_cost", low=0.0, none=True)
        # A column with the same value in every training row tells nothing and is never acquired.
        self._varies = (train.X[0] != train.X).any(axis=0)
        # A cap below every price is a mistake; for constant predictions there is `fallback`.
        cheapest = self.feature_costs_.alone[self._varies].min(initial=np.inf)
        if self._varies.any() and not affords(self._limit(), cheapest):
            raise too_small(self.max_cost, cheapest, "feature", "max_cost")
        self._fit_codes(train.X, train.y, train.weight, seeds)

    @property
    def n_stages_(self):
        """Number of operating points: one for each number of features."""
        return self.n_features_in_

    def _default_stage(self):
        return self.n_stages_  # beyond the last: stop when sure

    def _limit(self, max_cost=None):
        limits = [limit for limit in (self.max_cost, max_cost) if limit is not None]
        return min(limits, default=np.inf)

    def _walk(self, X, *, stop=True):
        """Walk checked rows in blocks; without `stop` the threshold is ignored."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        # With an infinite threshold a walk never stops, so it contains all stages.
        threshold = self.threshold if stop else np.inf
        walk = partial(self._walk_block, threshold=threshold, max_cost=self._limit())
        step = self._block_rows()
        blocks = [X[i : i + step] for i in range(0, X.shape[0], step)]
        return Record.join(thread_map(walk, blocks, self.n_jobs))

    def _stages(self, X, which, want):
        walks = {}
        for index in which:
            # At most two walks serve all stages, one with stops and one without.
            sure = index == self.n_stages_
            if sure not in walks:
                walks[sure] = self._walk(X, stop=sure)
            walk, at = walks[sure], -1 if sure else index + 1
            yield Stage(
                {} if sure else {"features": at},
                self.classes_[walk.winner[:, at]],
                walk.probabilities(at, self.classes_.size),
                walk.acquired(None if sure else at),
                estimate=walk.estimate[:, at],
            )

    def _acquisitions(self, n_samples, stage, ledger):
        parts, step = [], self._block_rows()
        most = self.n_features_in_ if stage == self.n_stages_ else stage + 1
        threshold = self.threshold if stage == self.n_stages_ else np.inf

        def estimate(walk):
            return self._outcome([*parts, walk], n_samples)

        for start in range(0, n_samples, step):
            size = min(step, n_samples - start)
            acquiring = self._acquiring(size, threshold, self._limit(ledger.max_cost), most)
            parts.append((yield from requests_by_feature(acquiring, estimate, start)))
        return self._outcome(parts, n_samples)

    def _outcome(self, walks, n_samples):
        """Return the predictions for the rows walked so far, and the constant for the others."""
        walk, outcome = Record.join(walks), Outcome.constant(self, n_samples)
        # Blocks are walked in order, so the first rows have answers.
        done, shares = slice(len(walk.winner)), walk.probabilities(-1, self.classes_.size)
        outcome.fill(done, self.classes_[walk.winner[:, -1]], shares)
        return outcome

    def _more_to_explain(self, x, max_cost):
        labels = self.feature_costs_.labels
        acquiring = self._acquiring(1, np.inf, self._limit(max_cost), self.n_features_in_)
        # Driven like a prediction, so that unavailable features are replaced by others.
        requests = requests_by_feature(acquiring, lambda walk: None)
        walk = drive(requests, from_table(x), Ledger(self.feature_costs_, 1), fallback=True)
        pairs = zip(walk.order[0], walk.value[0], strict=True)
        return {"value": {labels[feature]: value for feature, value in pairs if feature >= 0}}
