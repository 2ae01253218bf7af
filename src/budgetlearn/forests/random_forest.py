"""Random forests on our tree kernels: Breiman's, and rfB, which draws cheap features more often."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..parallel import thread_map
from ..protocol.documenting import estimator_class
from ..tree.growth import TreeGrower
from ..tree.impurity import Entropy, Gini
from ..validation import check_choice
from .base import CodedFit, ForestClassifier, UsedFeaturesForest, gini_importance

CRITERIA = {"gini": Gini, "entropy": Entropy}


def grown(forest, data, train, rule, seeds, features=None):
    """Return a tree for each seed, grown on the sample that the forest draws with it."""
    grower = TreeGrower(data, train.y.astype(np.int32), forest.classes_.size, rule, features)
    prices = np.zeros(data.n_features)

    def grow(seed):
        # All features are free: what wins is the drop in impurity alone.
        return grower.tree(forest._drawn(train, seed), prices, seed)

    return thread_map(grow, seeds, forest.n_jobs, "trees")


@estimator_class
class RandomForestClassifier(CodedFit, ForestClassifier):
    """Random forest (Breiman 2001): bootstrap samples, a few random features at each node.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        What `acquisition_cost` charges; it does not change the trees. None: 1 each.
    criterion : {"gini", "entropy"}, default="gini"
        Impurity whose mean over the two sides a split minimises.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Features drawn at each node; more only while all that came are constant. None: all.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree, else use every example.
    oob_score : bool, default=False
        Whether to estimate the accuracy on the examples that each tree left out.

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    oob_score_ : float
        Accuracy on the examples that some tree left out; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean class shares of the examples that weigh anything; NaN where no tree left one out.

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 2001.
    """

    criterion: str = "gini"
    bootstrap: bool = True
    oob_score: bool = False

    def _fit(self, train, valid, seeds):
        check_choice(self.criterion, "criterion", tuple(CRITERIA))
        # Constant features count as drawn, as Breiman's and scikit-learn's forests have it.
        rule = self._rule(train.X.shape[1], impurity=CRITERIA[self.criterion]())
        data = self._codes(train.X, self._binned)
        # Drawn before the trees grow, so that threads do not change the forest.
        self.tree_seeds_ = self._tree_seeds(seeds)
        self._set_trees(grown(self, data, train, rule, self.tree_seeds_))
        if self.oob_score:
            self._set_oob(self.trees_, self.tree_seeds_, train)


# Least price that the draw sees, as a share of the highest: 1/0 is not a probability, and with
# chances further apart than this the other features would never be drawn anyway.
LEAST_PRICE = 1e-4


def drawing_odds(feature_costs):
    """Return the chance of each feature in the draw at a node, p_j = (1/c_j) / Σ_k (1/c_k)."""
    # A member of a group counts with its own price and the group's charge. A price below a
    # ten-thousandth of the highest one, 0 among them, counts as that much.
    prices = feature_costs.alone
    highest = prices.max() or 1.0
    odds = highest / np.maximum(prices, LEAST_PRICE * highest)
    return odds / odds.sum()


@estimator_class
class CostWeightedRFClassifier(CodedFit, UsedFeaturesForest):
    """Random forest whose nodes draw features with chances inverse to their costs (rfB).

    There is no budget: the cost is what comes out. A prediction pays for every feature that the
    forest uses, so all examples cost the same.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Prices c; None: 1 each. A member of a group counts with the group's charge too, what is free
        as a ten-thousandth of the highest price.
    subset : {"all", "above_mean"}, default="all"
        "above_mean": the features whose Gini importance in the weighted forest exceeds the mean
        (those that attain it, where none does) are kept for an ordinary random forest.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Features drawn at each node, without replacement; more, at equal chances, only while all
        that came are constant. None: all, which makes the draw void.

    Attributes
    ----------
    odds_ : ndarray of shape (n_features,)
        Chance of each feature in the weighted draw.
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
            # Where all are equal, none exceeds the mean.
            kept = np.flatnonzero(above if above.any() else importance >= importance.mean())
            trees = self._grown(data, train, None, seeds, kept)
        self._set_trees(trees)

    @property
    def feature_importances_(self):
        """Decrease of the Gini impurity in the forest of all features, mean over its trees."""
        check_is_fitted(self)
        return self._importances

    def _grown(self, data, train, odds, random, features=None):
        """Grow the trees on some features, of which nodes draw with `odds` (None: equal)."""
        n_features = data.n_features if features is None else features.size
        rule = self._rule(n_features, impurity=Gini(), odds=odds)
        return grown(self, data, train, rule, self._tree_seeds(random), features)
