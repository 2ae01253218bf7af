"""What FMCC, VoC and the random order share: buy features one after another, then classify."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import check_classes, check_number
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ..exceptions import BudgetError
from .walk import Walk

# Most test points per task: bounds the memory beyond the answer itself, whatever n_jobs is.
BLOCK_ROWS = 256


@dataclass(frozen=True)
class Decision:
    """What is decided about m test points after a number of purchases.

    Attributes
    ----------
    predicted : ndarray of shape (m,)
        Class labels.
    acquired : ndarray of bool of shape (m, n_features)
        Which features were bought.
    estimate : ndarray of shape (m,)
        Estimated probability that the prediction is right.
    """

    predicted: np.ndarray
    acquired: np.ndarray
    estimate: np.ndarray


class SequentialClassifier(AcquisitionMixin, ClassifierMixin, BaseEstimator):
    """Base of classifiers that buy features one after another and stop when sure.

    A subclass stores the parameters `feature_costs`, `threshold`, `cost_weight`, `budget`,
    `random_state` and `n_jobs`, learns in `_fit`, and walks blocks of test points in `_walk_block`.
    """

    @abstractmethod
    def _fit(self, X, codes, rng):
        """Learn from validated examples and class indices."""

    @abstractmethod
    def _walk_block(self, X, threshold, budget):
        """Return the `Walk` of the rows of X."""

    def _block_rows(self):
        """Return how many test points are walked together."""
        return BLOCK_ROWS

    def fit(self, X, y):
        """Learn from examples whose features are all known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        BudgetError
            When the budget does not even buy the cheapest feature.
        ParameterError
            When a parameter is out of its range, or the estimator's score cannot be split into
            features.
        CostError
            When the feature costs do not fit X.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = check_classes(y)
        check_number(self.threshold, "threshold", low=0.0, high=1.0)
        check_number(self.cost_weight, "cost_weight", low=0.0)
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        self._check_budget()
        self._fit(X, codes, check_random_state(self.random_state))
        return self

    def _check_budget(self):
        if self.budget is None:
            return
        check_number(self.budget, "budget", low=0.0)
        cheapest = float(self.feature_costs_.alone.min())
        if self.budget < cheapest:
            raise BudgetError(
                f"budget {self.budget:g} buys no feature: the cheapest costs {cheapest:g}. Raise "
                "the budget to at least that.",
                cheapest,
            )

    def _walk(self, X, *, stop=True):
        """Validate X and walk it in blocks; without `stop` the threshold plays no part."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        threshold = self.threshold if stop else np.inf
        budget = np.inf if self.budget is None else self.budget
        step = self._block_rows()
        blocks = [X[i : i + step] for i in range(0, X.shape[0], step)]
        return Walk.join(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._walk_block)(block, threshold, budget) for block in blocks
            )
        )

    def predict(self, X):
        """Predict classes, each from the features bought until the classifier was sure.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples; only the bought features of each are looked at.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        walk = self._walk(X)
        return self.classes_[walk.winner[:, -1]]

    def predict_proba(self, X):
        """Estimate class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The column of the predicted class is the estimated probability p that the prediction is
            right; the other classes share 1 - p evenly. p may be small: the prediction keeps the
            sign of the score even where its neighbours say that this is probably wrong.
        """
        walk = self._walk(X)
        return walk.probabilities(-1, self.classes_.size)

    def acquired_features(self, X):
        """Return which features were bought.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        return self._walk(X).acquired()

    def acquisition_order(self, X):
        """Return the bought features in the order of purchase.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of int of shape (n_samples, n_features)
            Feature indices, -1 after the last purchase.
        """
        return self._walk(X).order

    def staged_decisions(self, X):
        """Buy 1, 2, ... n_features features and tell all that follows; the threshold plays no part.

        The other staged methods each tell one part of it and walk through the points again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples. Where `budget` ends the purchases, the last state is repeated.

        Yields
        ------
        Decision
            Predicted classes, bought features and estimated accuracies.
        """
        walk = self._walk(X, stop=False)
        for stage in range(1, self.n_features_in_ + 1):
            yield Decision(
                self.classes_[walk.winner[:, stage]], walk.acquired(stage), walk.estimate[:, stage]
            )

    def staged_predict(self, X):
        """Predict from 1, 2, ... n_features bought features; the threshold plays no part.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples. Where `budget` ends the purchases, the last prediction is repeated.

        Yields
        ------
        ndarray of shape (n_samples,)
            Class labels.
        """
        yield from (decision.predicted for decision in self.staged_decisions(X))

    def staged_predict_proba(self, X):
        """Estimate class probabilities from 1, 2, ... n_features bought features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            As `predict_proba`, in the stages of `staged_predict`.
        """
        walk = self._walk(X, stop=False)
        for stage in range(1, self.n_features_in_ + 1):
            yield walk.probabilities(stage, self.classes_.size)

    def staged_acquired_features(self, X):
        """Return which features are bought at each stage of `staged_predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        yield from (decision.acquired for decision in self.staged_decisions(X))

    def explain(self, x):
        """Tell how one example was classified, purchase by purchase.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), or a frame of one row
            The example.

        Returns
        -------
        pandas.DataFrame
            One row per purchase: `feature` (name or index), `measured` (its value in x), `value`
            (what it was chosen for, see `Walk`), `price` (in the unit of `feature_costs`, with a
            group's charge where it fell due), `spent` (so far), `estimated_accuracy` and
            `prediction` (both after the purchase).
        """
        x = x if hasattr(x, "columns") else np.atleast_2d(x)
        if len(x) != 1:
            raise ValueError(f"explain takes one example, got {len(x)} rows. Pass them one by one.")
        walk = self._walk(x)
        bought = walk.order[0, : walk.n_bought[0]]
        acquired, prices = np.zeros(self.n_features_in_, dtype=bool), []
        for feature in bought:
            prices.append(self.feature_costs_.marginal(acquired)[feature])
            acquired[feature] = True
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return pd.DataFrame(
            {
                "feature": names[bought],
                "measured": np.asarray(x, dtype=np.float64)[0, bought],
                "value": walk.value[0, : bought.size],
                "price": np.array(prices, dtype=np.float64),
                "spent": np.cumsum(prices),
                "estimated_accuracy": walk.estimate[0, 1 : bought.size + 1],
                "prediction": self.classes_[walk.winner[0, 1 : bought.size + 1]],
            }
        )
