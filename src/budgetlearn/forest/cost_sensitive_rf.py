"""The cost-sensitive random forest: information gain minus what a new feature costs."""

import numpy as np

from .._parallel import progress
from .._validation import ParameterError, check_choice, check_max_features, check_number
from ..tree.growth import TOLERANCE, GrowthRule, grow_tree
from ..tree.impurity import Entropy
from .base import CodedFit, UsedFeaturesForest
from .complementary import ComplementarySampling, EqualSampling


class CostSensitiveRFClassifier(CodedFit, UsedFeaturesForest):
    """Random forest that trades information gain for the price of features (Thomas).

    A node takes the split with the largest F = H(T) - H(T|s) - λ C_i, and becomes a leaf where
    that is not positive. A feature that a split uses is bought: C_i = 0 from then on, in this tree
    and in all later ones, so trees grow one after another. A prediction pays for every feature
    that the forest uses, so all examples cost the same.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        C; None: 1 each. A member of a group costs its own price plus the group's charge until a
        tree has bought a member; from the next tree on the charge is paid.
    cost_weight : float, default=0.0
        λ >= 0, in bits per unit of `feature_costs`. A split gains at most one bit: a feature with
        λ C_i >= 1 is never bought.
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt"}, int, float or None, default=None
        Features drawn at each node; None: all (FFS); "sqrt": RFS.
    complementary : bool or {"literal"}, default=False
        Whether the examples that the trees so far get wrong have better chances to be drawn for
        the next tree (CT); "literal": those that they get right, as Algorithm 3 is printed.
    thresholds : {"all", "random"}, default="all"
        Every midpoint of neighbouring values, or a random 80, 40 or 20 of them (at nodes of more
        than 2000, more than 500, fewer examples).
    max_bins : int, default=None
        Quantile bins for each feature, 255 is fast; None: exact.
    n_jobs : int, default=None
        Threads to code the table and to predict, as in joblib. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Attributes
    ----------
    trees_ : list of Tree
        Node values are class counts.
    features_ : ndarray of int of shape (n_used,)
        The features that the forest uses, ascending.
    cost_ : float
        What they cost.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.

    See Also
    --------
    CostSensitiveRFPathClassifier : The forests of many λ.

    References
    ----------
    A. Thomas. Feature cost sensitive random forest. Poster, Stanford University. Algorithms 1-3.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forest import CostSensitiveRFClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = CostSensitiveRFClassifier(cost_weight=0.5, random_state=0).fit(X, y)
    >>> forest.cost_ < X.shape[1]
    True
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        cost_weight=0.0,
        n_estimators=100,
        max_features=None,
        complementary=False,
        thresholds="all",
        max_bins=None,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.cost_weight = cost_weight
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.complementary = complementary
        self.thresholds = thresholds
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, train, valid, seeds):
        check_number(self.cost_weight, "cost_weight", low=0, high=np.finfo(np.float64).max)
        labels = train.y.astype(np.int32)
        rule, sampling = self._rule(train.X.shape[1]), self._sampling(train.X, labels)
        data = self._codes(train.X, self._binned)
        self._set_trees(self._grown(data, train, rule, sampling, self._tree_seeds(seeds)))

    def _rule(self, n_features):
        check_choice(self.thresholds, "thresholds", ("all", "random"))
        return GrowthRule(
            impurity=Entropy(),
            least_gain=TOLERANCE,  # F must be positive, and not by rounding
            thresholds=self.thresholds,
            max_features=check_max_features(self.max_features, n_features),
        )

    def _sampling(self, X, labels):
        if isinstance(self.complementary, (bool, np.bool_)) and not self.complementary:
            return EqualSampling(labels.size)
        literal = isinstance(self.complementary, str) and self.complementary == "literal"
        if not literal and self.complementary is not True:
            raise ParameterError(
                f"complementary must be True, False or 'literal', got {self.complementary!r}."
            )
        return ComplementarySampling(X, labels, literal)

    def _grown(self, data, train, rule, sampling, seeds):
        labels = train.y.astype(np.int32)
        bought = np.zeros(data.n_features, dtype=bool)
        trees = []
        for seed in progress(seeds, "trees"):
            penalties = self.cost_weight * self.feature_costs_.marginal(bought)
            counts = sampling.draw(seed) * (1.0 if train.weight is None else train.weight)
            tree = grow_tree(data, labels, counts, self.classes_.size, rule, penalties, seed)
            bought |= self._used([tree])
            sampling.learn(tree)
            trees.append(tree)
        return trees
