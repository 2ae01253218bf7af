"""The cost-sensitive random forest (Thomas): information gain minus the cost of new features."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..costs import affords, too_small
from ..parallel import progress, thread_map
from ..protocol import BudgetedEstimator, WeightedFit
from ..protocol.checked_data import stage_of
from ..protocol.documenting import estimator_class
from ..tree.binning import bin_features
from ..tree.bootstrap import bootstrap_weights
from ..tree.growth import TOLERANCE, GrowthRule, TreeGrower
from ..tree.impurity import Entropy
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, ParameterError, check_number, check_numbers, is_flag
from .base import X_TYPES, CodedFit, GrownTrees, UsedFeaturesForest, directions_of

# Minimum weight of an example, for those that every tree so far classifies correctly. After one
# tree these are nearly all, and without a floor the second would grow only on its mistakes.
FLOOR = 0.02


class ComplementarySampling:
    """Samples whose weights depend on the share ε_j of trees that are right about example j.

    This is Algorithm 3 of the cost-sensitive random forest. Its W_j = ε_j favours examples that the
    forest gets right. Dynamic random forests (Bernard, Adam and Heutte 2012), on which it is based,
    favour the others: W_j = 1 - ε_j.
    """

    def __init__(self, X, labels, literal):
        self.X, self.labels, self.literal = X, labels, literal
        self.weights = np.ones(labels.size)
        self._n_trees, self._n_right = 0, np.zeros(labels.size)

    def draw(self, seed):
        """Return the count of each example in a sample, float64 of shape (n_samples,)."""
        n, chances = self.weights.size, self.weights / self.weights.sum()
        drawn = np.random.default_rng(seed).choice(n, size=n, p=chances)
        return np.bincount(drawn, minlength=n).astype(np.float64)

    def learn(self, tree):
        """Count the examples that a new tree gets right, and update the weights."""
        votes = ForestPredictor([tree], self.X.shape[1]).walk(self.X, votes=True).votes
        self._n_right += votes[np.arange(self.labels.size), self.labels]
        self._n_trees += 1
        right = self._n_right / self._n_trees
        # Each tree is right about some example of each leaf, so the sum stays positive.
        self.weights = right if self.literal else np.maximum(1 - right, FLOOR)


@estimator_class
class CostSensitive(GrownTrees):
    """Mixin, named first among the bases, with the parameters of a forest and of a path.

    Parameters
    ----------
    max_features : {"sqrt"}, int, float or None, default=None
        Number of features drawn at each node; None: all (FFS); "sqrt": RFS.
    complementary : bool or {"literal"}, default=False
        Whether examples that the trees so far get wrong are more likely to be drawn for the next
        tree (CT); "literal": those that they get right, as Algorithm 3 is printed.
    thresholds : {"all", "random"}, default="all"
        Every midpoint, or a random 80, 40 or 20 (nodes of more than 2000, more than 500, fewer).

    References
    ----------
    A. Thomas. Feature cost sensitive random forest. Poster, Stanford University.
    """

    _takes_missing = True

    max_features: Any = None
    complementary: Any = False
    thresholds: str = "all"
    min_samples_leaf: int = 1


@estimator_class
class CostSensitiveRFClassifier(CostSensitive, CodedFit, UsedFeaturesForest):
    """Random forest that trades information gain for feature prices (Thomas, algorithms 1-3).

    A node takes the split with the largest F = H(T) - H(T|s) - λ C_i, and becomes a leaf if that is
    not positive. A feature used in a split is acquired: C_i = 0 from then on, in this tree and in
    all later ones, so trees grow one after another. A prediction pays for every feature that the
    forest uses, so all examples cost the same.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        C; None: 1 each. A member of a group costs its own price plus the group's charge until a
        tree has acquired a member. From the next tree the charge counts as paid.
    cost_weight : float, default=0.0
        λ >= 0, in bits per unit of `feature_costs`. A split gains at most one bit, so a feature
        with λ C_i >= 1 is never acquired.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit, on the same rows, and adds more up to
        `n_estimators`. The features of the kept trees are free for the new ones.

    See Also
    --------
    CostSensitiveRFPathClassifier : Forests for many λ.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forests import CostSensitiveRFClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = CostSensitiveRFClassifier(cost_weight=0.5, random_state=0).fit(X, y)
    >>> forest.cost_ < X.shape[1]
    True
    """

    cost_weight: float = 0.0
    warm_start: bool = False

    def _fit(self, train, valid, seeds):
        check_number(self.cost_weight, "cost_weight", low=0, high=np.finfo(np.float64).max)
        # F must be positive beyond rounding.
        rule = self._rule(train.X.shape[1], impurity=Entropy(), least_gain=TOLERANCE)
        self._set_trees(self._grown(train, rule, self._tree_seeds(seeds)))

    def _grown(self, train, rule, seeds):
        """Return one tree for each seed, those of a warm start first."""
        labels, wanted = train.y.astype(np.int32), self.complementary
        literal = isinstance(wanted, str) and wanted == "literal"
        if not literal and not is_flag(wanted):
            raise ParameterError(f"complementary must be True, False or 'literal', got {wanted!r}.")
        sampling = ComplementarySampling(train.X, labels, literal) if wanted else None
        grower = TreeGrower(self._codes(train.X, self._binned), labels, self.classes_.size, rule)
        trees = list(self._known_trees(train))
        acquired = self._used(trees)
        for tree in trees if sampling else ():
            sampling.learn(tree)
        for seed in progress(seeds[len(trees) :], "trees"):
            # Features of earlier trees are free (C_i = 0), so trees grow one after another.
            penalties = self.cost_weight * self.feature_costs_.marginal(acquired)
            counts = sampling.draw(seed) if sampling else bootstrap_weights(labels.size, seed)
            tree = grower.tree(counts * train.weights, penalties, seed)
            acquired |= self._used([tree])
            if sampling:
                sampling.learn(tree)
            trees.append(tree)
        return trees


# Ends of the grid, as multiples of the λ at which a tree on the training set acquires nothing. The
# roots of bootstrap samples gain more, and small nodes up to 1 bit, so costs fall far below it.
LARGEST_SHARE = 2
SMALLEST_SHARE = 0.1
# The grid reaches down to this penalty (bits) of the most expensive feature, if prices differ so
# much that the penalty would otherwise be larger everywhere.
SMALLEST_PENALTY = 0.3
N_WEIGHTS = 20  # of the grid without its 0


def cost_weight_grid(data, labels, n_classes, feature_costs, weights):
    """Return a descending grid of λ, from one that acquires (nearly) nothing to 0.

    Before the 0, the grid goes from twice to a tenth of the largest ratio of a split's gain to the
    price of its feature on the whole training set, or lower if prices differ much.
    """
    prices = feature_costs.alone
    charged = np.where(prices > 0, prices, np.inf)
    rule = GrowthRule(impurity=Entropy(), score="risk", ties="first", max_depth=1)
    root = TreeGrower(data, labels, n_classes, rule).tree(weights, charged, seed=0)
    if root.node_count == 1:
        return np.zeros(1)
    node, left, right = root.value[[0, root.children_left[0], root.children_right[0]]]
    after = left.sum() * Entropy()(left) + right.sum() * Entropy()(right)
    root_weight = (Entropy()(node) - after / node.sum()) / prices[root.feature[0]]
    smallest = min(SMALLEST_SHARE * root_weight, SMALLEST_PENALTY / prices.max())
    return np.append(np.geomspace(LARGEST_SHARE * root_weight, smallest, N_WEIGHTS), 0.0)


@estimator_class
class CostSensitiveRFPathClassifier(CostSensitive, WeightedFit, ClassifierMixin, BudgetedEstimator):
    """Cost-sensitive random forests for many λ (Thomas, figure 1), all grown from one seed.

    Parameters
    ----------
    cost_weights : array-like of float, default=None
        The values of λ; None: 0 and 20 more, see `cost_weight_grid`.
    budget : float, default=None
        Maximum cost of a prediction. `predict` uses the forest with the smallest λ that keeps it.
        None: no limit.
    n_estimators : int, default=100
        Number of trees in each forest.

    Attributes
    ----------
    cost_weights_ : ndarray of shape (n_weights,)
        The values of λ in descending order, so cheap forests come first.
    forests_ : list of CostSensitiveRFClassifier
        One for each λ.
    costs_ : ndarray of shape (n_weights,)
        The cost of a prediction by each forest.
    stage_settings_ : list of dict
        The `cost_weight` of each stage.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forests import CostSensitiveRFPathClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> path = CostSensitiveRFPathClassifier(budget=4, n_estimators=20, random_state=0).fit(X, y)
    >>> path.acquisition_cost(X).max() <= 4
    np.True_
    """

    _dtypes = X_TYPES
    _takes_sparse = True
    _groups = True

    cost_weights: Any = None
    budget: float | None = None
    scoring: Any = None

    def _fit(self, train, valid, seeds):
        check_number(self.budget, "budget", low=0, none=True)
        data = bin_features(train.X, self.max_bins, self.n_jobs, self.missing_in_training_)
        self.cost_weights_ = self._weights(data, train)
        known = CostSensitiveRFClassifier().get_params()
        shared = {name: value for name, value in self.get_params(False).items() if name in known}
        # The forests are fitted on arrays, with weights that include the class weights.
        shared |= {"feature_costs": self.feature_costs_.unnamed, "class_weight": None}
        shared |= {"monotonic_cst": directions_of(self.monotonic_cst, self)}
        shared["random_state"] = int(seeds.randint(INT32_MAX))

        def grow(cost_weight):
            forest = CostSensitiveRFClassifier(cost_weight=float(cost_weight), **shared)
            return forest.fit(train.X, train.targets, sample_weight=train.weight, binned=data)

        self.forests_ = thread_map(grow, self.cost_weights_, self.n_jobs, "forests")
        self.costs_ = np.array([forest.cost_ for forest in self.forests_])
        self.stage_settings_ = [{"cost_weight": f"{each:.6g}"} for each in self.cost_weights_]

    def fixed_costs(self):
        return self.costs_

    def _default_stage(self):
        if self.budget is None:
            return self.n_stages_ - 1
        # The last one has the smallest λ, though not always the highest cost.
        within = np.flatnonzero(affords(self.budget, self.costs_))
        if not within.size:
            raise too_small(self.budget, self.costs_.min(), "forest of these cost_weights")
        return int(within[-1])

    def _stages(self, X, which, want):
        for index in which:
            forest = self.forests_[index]
            # Whole forests, as the stages of the path are its λ.
            stage = stage_of(forest, X, forest.n_stages_ - 1, want)
            yield replace(stage, setting=dict(self.stage_settings_[index]), incremental=False)

    def _weights(self, data, train):
        if self.cost_weights is None:
            labels, n_classes = train.y.astype(np.int32), self.classes_.size
            return cost_weight_grid(data, labels, n_classes, self.feature_costs_, train.weights)
        return np.unique(check_numbers(self.cost_weights, "cost_weights", low=0))[::-1] * 1.0
