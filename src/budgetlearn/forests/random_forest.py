"""Random forests on our tree kernels: Breiman's, and rfB, which draws cheap features more often."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..parallel import thread_map
from ..protocol.documenting import estimator_class
from ..tree.growth import TreeGrower
from ..tree.impurity import Entropy, Gini, Variance
from ..validation import check_choice
from .base import CodedFit, ForestClassifier, ForestRegressor, UsedFeaturesForest, gini_importance

CRITERIA = {"gini": Gini, "entropy": Entropy}


def grown(forest, data, train, rule, seeds, features=None):
    """Return a tree for each seed, grown on the seed's bootstrap sample."""
    labels, n_classes = train.y, 1
    if is_classifier(forest):
        labels, n_classes = train.y.astype(np.int32), forest.classes_.size
    grower = TreeGrower(data, labels, n_classes, rule, features)

    def grow(seed):
        # All features are free, so splits depend on the drop in impurity alone. Each tree has its
        # own prices, as it writes them, and threads must not write the same memory.
        return grower.tree(forest._drawn(train, seed), np.zeros(data.n_features), seed)

    return thread_map(grow, seeds, forest.n_jobs, "trees")


def fit_drawn(forest, train, seeds, impurity):
    """Grow a forest's trees on bootstrap samples; with `oob_score`, predict out of bag, too."""
    # Constant features count as drawn, as in Breiman's and scikit-learn's forests.
    rule = forest._rule(train.X.shape[1], impurity=impurity)
    data = forest._codes(train.X, forest._binned)
    # Drawn before the trees grow, so that threads do not change the forest.
    forest.tree_seeds_ = forest._tree_seeds(seeds)
    forest._set_trees(grown(forest, data, train, rule, forest.tree_seeds_))
    if forest.oob_score:
        forest._set_oob(forest.trees_, forest.tree_seeds_, train)


@estimator_class
class RandomForestClassifier(CodedFit, ForestClassifier):
    """Random forest (Breiman 2001): bootstrap samples, a few random features at each node.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Prices for `acquisition_cost`, which do not change the trees. None: 1 each.
    criterion : {"gini", "entropy"}, default="gini"
        Impurity whose mean over the two sides a split minimises.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Number of features drawn at each node, more only while all are constant. None: all.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree instead of using every example.
    oob_score : bool, default=False
        Whether to estimate the accuracy on the examples that each tree left out.

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree, which also determines its bootstrap sample.
    oob_score_ : float
        Accuracy on the examples that some tree left out; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean out-of-bag class shares of examples of positive weight; NaN if no tree left one out.

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 2001.
    """

    criterion: str = "gini"
    bootstrap: bool = True
    oob_score: bool = False

    def _fit(self, train, valid, seeds):
        check_choice(self.criterion, "criterion", tuple(CRITERIA))
        fit_drawn(self, train, seeds, CRITERIA[self.criterion]())


@estimator_class
class RandomForestRegressor(CodedFit, ForestRegressor):
    """Random forest for numbers: splits lower the variance, leaves predict means.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Prices for `acquisition_cost`, which do not change the trees. None: 1 each.
    max_features : {"sqrt"}, int, float or None, default=1/3
        As in `RandomForestClassifier`.
    min_samples_leaf : int, default=1
        Minimum number of examples on each side of a split.
    bootstrap, oob_score : bool, default=True, False
        As in `RandomForestClassifier`; the score is R².

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree, which also determines its bootstrap sample.
    oob_prediction_ : ndarray of shape (n_samples,)
        Mean out-of-bag prediction; NaN if no tree left an example out.
    """

    max_features: Any = 1 / 3
    min_samples_leaf: int = 1
    bootstrap: bool = True
    oob_score: bool = False

    def _fit(self, train, valid, seeds):
        fit_drawn(self, train, seeds, Variance())


# Minimum price in the draw, as a share of the highest. With lower prices, hardly any other feature
# would ever be drawn.
LEAST_PRICE = 1e-4


def drawing_odds(feature_costs):
    """Return each feature's probability in the draw at a node, p_j = (1/c_j) / Σ_k (1/c_k)."""
    # A member of a group counts with its own price plus the group's charge. Prices below a
    # ten-thousandth of the highest one, including 0, count as that much.
    prices = feature_costs.alone
    highest = prices.max() or 1.0
    odds = highest / np.maximum(prices, LEAST_PRICE * highest)
    return odds / odds.sum()


@estimator_class
class CostWeightedRFClassifier(CodedFit, UsedFeaturesForest):
    """Random forest whose nodes draw features with probabilities inverse to their costs (rfB).

    There is no budget; the cost is a result of the fit. A prediction pays for every feature that
    the forest uses, so all examples cost the same.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Prices c; None: 1 each. A member of a group counts with its price plus the group's charge,
        and a free feature with a ten-thousandth of the highest price.
    subset : {"all", "above_mean"}, default="all"
        "above_mean": only the features whose Gini importance in the weighted forest exceeds the
        mean (or reaches it, if none exceeds it) are kept, for an ordinary random forest.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Number of features drawn at each node, without replacement; more are drawn, with equal
        probabilities, only while all are constant. None: all, so that the draw has no effect.

    Attributes
    ----------
    odds_ : ndarray of shape (n_features,)
        Probability of each feature in the weighted draw.
    feature_importances_ : ndarray of shape (n_features,)
        Gini importance in the forest of the weighted draw.

    References
    ----------
    Q. Zhou, H. Zhou, T. Li. Cost-sensitive feature selection using random forest: selecting
    low-cost subsets of informative features. Knowledge-Based Systems 95, 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forests import CostWeightedRFClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> prices = range(1, 14)
    >>> forest = CostWeightedRFClassifier(feature_costs=prices, subset="above_mean", random_state=0)
    >>> bool(forest.fit(X, y).cost_ < 91)
    True
    """

    subset: str = "all"

    def _fit(self, train, valid, seeds):
        check_choice(self.subset, "subset", ("all", "above_mean"))
        data = self._codes(train.X, self._binned)
        self.odds_ = drawing_odds(self.feature_costs_)
        trees = self._grown(data, train, self.odds_, seeds)
        self._importances = importance = gini_importance(trees, train.X.shape[1])
        if self.subset == "above_mean":
            above = importance > importance.mean()
            # If all are equal, none exceeds the mean.
            kept = np.flatnonzero(above if above.any() else importance >= importance.mean())
            trees = self._grown(data, train, None, seeds, kept)
        self._set_trees(trees)

    @property
    def feature_importances_(self):
        """Mean decrease of Gini impurity over the trees of the forest of all features."""
        check_is_fitted(self)
        return self._importances

    def _grown(self, data, train, odds, random, features=None):
        """Grow the trees on some features, which nodes draw with `odds` (None: equal)."""
        n_features = data.n_features if features is None else features.size
        rule = self._rule(n_features, impurity=Gini(), odds=odds)
        return grown(self, data, train, rule, self._tree_seeds(random), features)
