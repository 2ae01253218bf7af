"""The cost-sensitive random forests of many λ: a whole cost–accuracy curve from one call."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import thread_map
from .._validation import INT32_MAX, ParameterError, check_number
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ..exceptions import BudgetError
from ..tree.binning import bin_features
from ..tree.growth import GrowthRule, grow_tree
from ..tree.impurity import Entropy
from .base import X_TYPES
from .cost_sensitive_rf import CostSensitiveRFClassifier

# Ends of the grid, as shares of the λ at which the training set itself buys nothing. Bootstrap
# samples gain more at their roots, small nodes up to 1 bit: costs start to fall far below it.
LARGEST_SHARE = 2
SMALLEST_SHARE = 0.1
# Where prices differ so much that the dearest feature would start with a larger penalty (bits), the
# grid reaches down to this one.
SMALLEST_PENALTY = 0.3


def cost_weight_grid(data, labels, n_classes, feature_costs, n_weights=20):
    """Return λ from one that buys (nearly) nothing down to 0.

    The yardstick is the largest ratio of a split's gain to the price of its feature on the whole
    training set: with a larger λ the training set itself buys nothing. The grid goes from twice
    that to a tenth of it, further where prices differ much.

    Parameters
    ----------
    data : BinnedData
        Coded training table.
    labels : ndarray of int32 of shape (n_samples,)
        Classes 0, 1, ..., n_classes - 1.
    n_classes : int
        Number of classes.
    feature_costs : FeatureCosts
        Prices.
    n_weights : int, default=20
        Number of positive λ, evenly spaced in log λ.

    Returns
    -------
    ndarray of shape (n_weights + 1,)
        Descending; only 0 where no feature that has a price tells anything.
    """
    prices = feature_costs.alone
    charged = np.where(prices > 0, prices, np.inf)
    rule = GrowthRule(impurity=Entropy(), score="risk", ties="first", max_depth=1)
    root = grow_tree(data, labels, np.ones(data.n_samples), n_classes, rule, charged, seed=0)
    if root.node_count == 1:
        return np.zeros(1)
    root_weight = _gain(root) / prices[root.feature[0]]
    smallest = min(SMALLEST_SHARE * root_weight, SMALLEST_PENALTY / prices.max())
    return np.append(np.geomspace(LARGEST_SHARE * root_weight, smallest, n_weights), 0.0)


def _gain(tree):
    """Return the information gain of a tree's first split, in bits."""
    sides = 0, tree.children_left[0], tree.children_right[0]
    node, left, right = (tree.value[side].copy() for side in sides)  # F wants to own its counts
    after = left.sum() * Entropy()(left) + right.sum() * Entropy()(right)
    return Entropy()(node) - after / node.sum()


class CostSensitiveRFPathClassifier(AcquisitionMixin, ClassifierMixin, BaseEstimator):
    """Cost-sensitive random forests of many λ, grown from the same seed.

    Forests of different λ do not depend on each other and grow in parallel; the table is coded
    once for all.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    cost_weights : array-like of float, default=None
        The λ; None: 0 and 20 more, see `cost_weight_grid`.
    budget : float, default=None
        Most that a prediction may cost; `predict` takes the forest of the smallest λ that keeps
        it. None: no limit.
    n_estimators : int, default=100
        Trees of each forest.
    max_features : {"sqrt"}, int, float or None, default=None
        As in `CostSensitiveRFClassifier`, like the next three.
    complementary : bool or {"literal"}, default=False
        How examples are drawn.
    thresholds : {"all", "random"}, default="all"
        Which thresholds are tried.
    max_bins : int, default=None
        Quantile bins for each feature; None: exact.
    n_jobs : int, default=None
        Threads, as in joblib. The forests do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Attributes
    ----------
    cost_weights_ : ndarray of shape (n_weights,)
        The λ, descending: cheap forests first.
    forests_ : list of CostSensitiveRFClassifier
        One for each λ.
    costs_ : ndarray of shape (n_weights,)
        What a prediction of each forest costs.
    stage_settings_ : list of dict
        What each stage was fitted with: its `cost_weight`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names, when X has them.

    References
    ----------
    A. Thomas. Feature cost sensitive random forest. Poster, Stanford University. Figure 1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forest import CostSensitiveRFPathClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> path = CostSensitiveRFPathClassifier(budget=4, n_estimators=20, random_state=0).fit(X, y)
    >>> path.acquisition_cost(X).max() <= 4
    np.True_
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        cost_weights=None,
        budget=None,
        n_estimators=100,
        max_features=None,
        complementary=False,
        thresholds="all",
        max_bins=None,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.cost_weights = cost_weights
        self.budget = budget
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.complementary = complementary
        self.thresholds = thresholds
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y):
        """Grow a forest for each λ.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=X_TYPES)
        check_classification_targets(y)
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        if self.budget is not None:
            check_number(self.budget, "budget", low=0)
        data = bin_features(X, self.max_bins, self.n_jobs)
        self.cost_weights_ = self._weights(data, y)
        seed = int(check_random_state(self.random_state).randint(INT32_MAX))

        def grow(cost_weight):
            return self._forest(float(cost_weight), seed).fit(X, y, binned=data)

        self.forests_ = thread_map(grow, self.cost_weights_, self.n_jobs)
        self.classes_ = self.forests_[0].classes_
        self.costs_ = np.array([forest.cost_ for forest in self.forests_])
        self.stage_settings_ = [{"cost_weight": f"{w:.6g}"} for w in self.cost_weights_]
        return self

    def _weights(self, data, y):
        if self.cost_weights is None:
            classes, labels = np.unique(y, return_inverse=True)
            labels = labels.astype(np.int32)
            return cost_weight_grid(data, labels, classes.size, self.feature_costs_)
        weights = np.asarray(self.cost_weights, dtype=object)
        if weights.ndim != 1 or not weights.size:
            raise ParameterError(
                f"cost_weights must be a list of at least one number, got {self.cost_weights!r}."
            )
        for weight in weights:
            check_number(weight, "each of cost_weights", low=0)
        return np.unique(weights.astype(np.float64))[::-1]

    def _forest(self, cost_weight, seed):
        return CostSensitiveRFClassifier(
            self.feature_costs_,
            cost_weight=cost_weight,
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            complementary=self.complementary,
            thresholds=self.thresholds,
            max_bins=self.max_bins,
            n_jobs=self.n_jobs,
            random_state=seed,
        )

    def _affordable(self, budget):
        """Return the forest of the smallest λ within `budget` (None: the constructor's)."""
        check_is_fitted(self, "forests_")
        budget = self.budget if budget is None else check_number(budget, "budget", low=0)
        if budget is None:
            return self.forests_[-1]
        within = np.flatnonzero(self.costs_ <= budget)
        if not within.size:
            cheapest = float(self.costs_.min())
            raise BudgetError(
                f"no forest fits budget={budget:g}: the cheapest costs {cheapest:g}. Raise the "
                "budget to at least that, or add larger cost_weights.",
                cheapest,
            )
        return self.forests_[within[-1]]

    def predict(self, X, budget=None):
        """Predict with the forest of the smallest λ that the budget affords.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        budget : float, default=None
            Most that a prediction may cost; None: the constructor's budget, and without one the
            smallest λ.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        BudgetError
            When even the cheapest forest costs more; the message names its cost.
        """
        forest = self._affordable(budget)
        return forest.predict(self._checked(X))

    def predict_proba(self, X, budget=None):
        """Return the mean class shares of the forest that `predict` uses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        budget : float, default=None
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        forest = self._affordable(budget)
        return forest.predict_proba(self._checked(X))

    def acquired_features(self, X, budget=None):
        """Return which features `predict` pays for: those of its forest, for every example.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        budget : float, default=None
            As for `predict`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        forest = self._affordable(budget)
        return forest.acquired_features(self._checked(X))

    def staged_predict(self, X):
        """Yield the predictions of each forest, from the largest λ to the smallest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        for forest in self.forests_:
            yield forest.predict(X)

    def staged_acquired_features(self, X):
        """Yield which features each forest pays for, from the largest λ to the smallest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._checked(X)
        for forest in self.forests_:
            yield forest.acquired_features(X)

    def _checked(self, X):
        check_is_fitted(self, "forests_")
        return validate_data(self, X, reset=False, dtype=X_TYPES)
