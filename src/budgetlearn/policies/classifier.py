"""The base of policies: acquire the best-rated feature, and predict with a network."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from ..protocol import BudgetedEstimator, Outcome, Stage
from ..protocol.documenting import estimator_class
from ..protocol.feature_requests import requests_by_feature, walked
from ..validation import INT32_MAX, check_number
from .networks import RankCode, Training, evaluate, one_thread, trained

FREE = 1e-9  # price of a free feature as a share of the full cost, so that it comes first
EQUAL = 1e-9  # ratings are equal if they differ by a smaller share, so that rounding is irrelevant


@dataclass(frozen=True)
class Record:
    """Record of the acquisitions of n examples with d features."""

    known: np.ndarray  # (n, d): codes of acquired features, 0 for the others
    acquired: np.ndarray  # (n, d) bool
    refused: np.ndarray  # (n, d) bool: unavailable
    order: np.ndarray  # (n, d) int: acquired features in their order, -1 after the last one
    rating: np.ndarray  # (n, d): worth per price of each acquisition; -inf after the last one

    @classmethod
    def empty(cls, *shape):
        """Return a record to be filled in, with nothing acquired."""
        acquired, refused = np.zeros((2, *shape), dtype=bool)
        order = np.full(shape, -1, dtype=np.intp)
        return cls(np.zeros(shape), acquired, refused, order, np.full(shape, -np.inf))

    def take(self, rows, features, ratings, codes, refused):
        """Record the answers to requests: codes of acquired features, or refusals."""
        self.refused[rows[refused], features[refused]] = True
        rows, features = rows[~refused], features[~refused]
        place = self.acquired[rows].sum(axis=1)
        self.order[rows, place], self.rating[rows, place] = features, ratings[~refused]
        self.acquired[rows, features], self.known[rows, features] = True, codes[~refused]

    def until(self, most, threshold):
        """Return the mask of the features acquired if the walks stop at some limits."""
        # A walk ends at its first rating below the threshold.
        lowest = np.minimum.accumulate(self.rating, axis=1)
        counts = ((self.order >= 0) & (lowest >= threshold)).sum(axis=1).clip(max=most)
        rows, places = np.nonzero(np.arange(self.order.shape[1]) < counts[:, None])
        acquired = np.zeros_like(self.acquired)
        acquired[rows, self.order[rows, places]] = True
        return acquired


@estimator_class
class PolicyClassifier(ClassifierMixin, BudgetedEstimator):
    """Base of classifiers that acquire one feature after another, and predict with a network.

    A subclass learns the order of acquisition in `_train`, and rates features in `_rating`.

    Parameters
    ----------
    max_acquired : int, default=20
        Largest number of features of an example, and length of the walks in training.
    n_steps : int, default=4000
        Number of gradient steps in the joint training.
    n_walks : int, default=256
        Number of examples in each step.
    n_hidden : int, default=128
        Number of units in each of the two hidden layers of a network.

    Attributes
    ----------
    stage_settings_ : list of dict
        Setting that identifies each stage.
    """

    _groups = True
    _threshold_rows = 2000  # thresholds are set on this to nearly twice this number of rows

    max_acquired: int = 20
    n_steps: int = 4000
    n_walks: int = 256
    n_hidden: int = 128
    scoring: Any = None
    random_state: Any = None

    @abstractmethod
    def _train(self, training, predictor, most):
        """Learn the order of acquisition, up to `most` features, with a pretrained predictor."""

    def _stops(self, X, most):
        """Return the setting and the limits (most features, least rating) of each stage.

        By default, stages are thresholds with which training rows acquire 1, 2, … features on
        average. The last stage does not stop early.
        """
        # Rows are spread over the table, which may be sorted.
        walk = self._walk(X[:: max(1, len(X) // self._threshold_rows)], most, 0.0)
        lowest = np.minimum.accumulate(walk.rating[:, :most], axis=1)
        ratings = -np.sort(-lowest, axis=None)
        thresholds = np.append(ratings[np.arange(1, most) * len(lowest) - 1] * (1 - EQUAL), 0.0)
        falling = np.unique(thresholds)[::-1].tolist()
        return [({"threshold": least}, (most, least)) for least in falling]

    def _fit(self, train, valid, seeds):
        for name in ("max_acquired", "n_steps", "n_walks", "n_hidden"):
            check_number(getattr(self, name), name, low=1, integer=True)
        most = min(self.max_acquired, train.X.shape[1])
        self._code = RankCode(train.X)
        coded = self._code.table(train.X)
        with one_thread(type(self).__name__) as torch:
            training = Training(torch, coded, train.y, int(seeds.randint(INT32_MAX)))
            predictor = training.network(self.n_hidden, self.classes_.size)
            # A policy cannot learn from an untrained predictor.
            training.pretrain(predictor, self.n_steps // 2, self.n_walks, most)
            self._train(training, predictor, most)
        self._predictor = trained(predictor)
        stops = self._stops(train.X, most)
        self.stage_settings_ = [setting for setting, _ in stops]
        self._limits = [limit for _, limit in stops]

    def _stages(self, X, which, want):
        limits = [self._limits[index] for index in which]
        walk = self._walk(X, max(most for most, _ in limits), min(least for _, least in limits))
        for index, limit in zip(which, limits, strict=True):
            acquired = walk.until(*limit)
            probabilities = self._probabilities(walk.known, acquired)
            output, sure = self.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1)
            setting = self.stage_settings_[index]
            yield Stage(setting, output, probabilities, acquired, estimate=sure)

    def _probabilities(self, known, acquired):
        return softmax(evaluate(self._predictor, np.where(acquired, known, 0.0), acquired), axis=1)

    def _walk(self, X, most, threshold):
        return walked(self._walking(len(X), most, threshold, np.inf), X)

    def _walking(self, n_rows, most, threshold, max_cost):
        """Yield requests, as for `requests_by_feature`, and return the `Record`."""
        walk, rows = Record.empty(n_rows, self.n_features_in_), np.arange(n_rows)
        while True:
            rows = rows[walk.acquired[rows].sum(axis=1) < most]
            rating = self._rating(walk, rows, max_cost)
            features, best = rating.argmax(axis=1), rating.max(axis=1, initial=-np.inf)
            going = (best >= threshold) & (best > -np.inf)
            rows, features, best = rows[going], features[going], best[going]
            if not rows.size:
                return walk
            values, refused = yield rows, features, walk
            walk.take(rows, features, best, self._code.cells(features, values), refused)

    @abstractmethod
    def _rating(self, walk, rows, max_cost):
        """Return the worth per price of each feature, -inf if it cannot be acquired."""

    def _acquisitions(self, n_samples, stage, ledger):
        walking = self._walking(n_samples, *self._limits[stage], ledger.max_cost)
        return self._outcome((yield from requests_by_feature(walking, self._outcome)))

    def _outcome(self, walk):
        probabilities = self._probabilities(walk.known, walk.acquired)
        output = self.classes_[probabilities.argmax(axis=1)]
        return Outcome(output, probabilities, np.ones(len(output), dtype=bool))


def divisors(prices, costs):
    """Return prices to divide by, which are small but not 0 for free features."""
    return prices.clip(FREE * costs.full or 1.0)
