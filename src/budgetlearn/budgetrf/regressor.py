"""BudgetRF for numbers: a forest of regression trees under a feature budget."""

from dataclasses import replace

import numpy as np

from ..forests.base import ForestRegressor
from ..forests.leaf_refit import RidgeRefit
from ..forests.out_of_bag import OutOfBagNumbers
from ..tree.growth import grow_tree
from ..tree.impurity import Variance
from .forest import GrownOnBudget
from .growing import TreeSource


class RegressionTreeSource(TreeSource):
    """Grows trees whose splits lower the variance of the target.

    Targets and weights are divided by powers of two, which changes no digit: so the forest depends
    on the unit of neither.

    Parameters
    ----------
    data, examples, feature_costs, draw, n_jobs
        As for `TreeSource`; the examples' y are numbers.
    """

    def __init__(self, data, examples, feature_costs, draw, n_jobs):
        super().__init__(data, examples, 1, feature_costs, draw, n_jobs)
        self.unit = _power_of_two(examples.y)
        self.targets = np.ascontiguousarray(examples.y / self.unit, dtype=np.float64)

    def _tree(self, weights, *how):
        weights = weights / _power_of_two(weights)
        tree = grow_tree(self.data, self.targets, weights, 1, *how)
        return replace(tree, value=self.unit * tree.value)

    def _losses(self, tree):
        return lambda nodes, rows: (tree.value[nodes, 0] - self.examples.y[rows]) ** 2


def _power_of_two(numbers):
    """Return the largest power of two up to the largest absolute value; 1 where all are 0."""
    largest = np.abs(numbers).max()
    return 2.0 ** (np.frexp(largest)[1] - 1) if largest else 1.0


class BudgetRFRegressor(GrownOnBudget, OutOfBagNumbers, ForestRegressor):
    """Forest of regression trees under a budget of feature acquisition.

    `BudgetRFClassifier` for numbers: trees grow by risk = cost of a feature / drop in variance, and
    join the forest while predictions on validation data cost at most `budget` on average. Missing
    values (NaN) are taken as in `BudgetRFClassifier`.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. In the risk of a split a member of a group costs its
        own price plus the group's charge.
    budget : float, default=None
        Most that a prediction may cost on average, in the unit of `feature_costs`. None: no limit.
    n_estimators : int, default=40
        Most trees.
    cost_exponent : float or list of float, default=None
        Power of the prices in the risk, as in `BudgetRFClassifier`.
    reuse_discount : float, default=1.0
        Share of a price that stays in the risk once all examples of a node have acquired the
        feature, as in `BudgetRFClassifier`.
    prune : bool, float or list of float, default=False
        Weight of the costs by which trees are pruned on left-out examples, as in
        `BudgetRFClassifier`; the error is the squared one.
    refit_leaves : bool, float or list of float, default=False
        Penalty with which the values of all leaves are fitted together, as in
        `BudgetRFClassifier`; by ridge regression of the target, shrunk to the leaves' means.
    thresholds : {"all", "random"}, default="all"
        Every midpoint of neighbouring values, or a random 80, 40 or 20 (at nodes of more than 2000,
        more than 500, fewer examples).
    ties : {"random", "first", "reuse"}, default="random"
        Which of several splits of least risk to take, as in `BudgetRFClassifier`.
    max_bins : int, default=None
        Quantile bins for each feature, 255 is fast; None: exact.
    codes_folder : str or Path, default=None
        Where a temporary file holds the codes of the table, mapped into memory, while the forest
        grows: for tables whose codes do not fit. None: in memory.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree.
    oob_score : bool, default=False
        Whether to estimate the R² of the forest, with the leaves as they grew, on the examples
        that each tree left out. Pruning has seen them: then it is a little too good.
    max_depth : int, default=None
        Greatest depth of a tree.
    max_features : {"sqrt"}, int, float or None, default=None
        Features drawn at each node among those that vary there; None: all.
    validation_fraction : float, default=0.3
        Share of the training data held out when validation data are needed (with a budget or
        lists to choose from) and none are given.
    refit : bool, default=False
        Whether the forest is grown again on training and validation data together, with what was
        chosen on validation data and as many trees, as far as the budget allows.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which validation data choose; None: R².
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit, on the same rows, and adds more up to
        `n_estimators`. Only where nothing is chosen on validation data.
    verbose : int, default=0
        1: a line for each forest; 2: for each tree.
    n_jobs : int, default=None
        Threads, as in joblib. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Attributes
    ----------
    trees_ : list of Tree
        Node values are means of the target.
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    cost_exponent_, prune_ : float
        The exponent and the weight of pruning in use; None without pruning.
    oob_score_ : float
        With `oob_score`: R² on the examples that some tree left out.
    oob_prediction_ : ndarray of shape (n_samples,)
        Their predictions; NaN for an example that no tree left out.
    penalties_ : list of float
        Penalty of the leaf values of each stage; empty where they are not refitted.
    validation_costs_, validation_errors_ : ndarray of shape (n_trees,) or None
        Mean acquisition cost and mean squared error of each prefix of the forest on the
        validation data, the error with the leaves as they grew.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        budget=None,
        n_estimators=40,
        cost_exponent=None,
        reuse_discount=1.0,
        prune=False,
        refit_leaves=False,
        thresholds="all",
        ties="random",
        max_bins=None,
        codes_folder=None,
        bootstrap=True,
        oob_score=False,
        max_depth=None,
        max_features=None,
        validation_fraction=0.3,
        refit=False,
        scoring=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.budget = budget
        self.n_estimators = n_estimators
        self.cost_exponent = cost_exponent
        self.reuse_discount = reuse_discount
        self.prune = prune
        self.refit_leaves = refit_leaves
        self.thresholds = thresholds
        self.ties = ties
        self.max_bins = max_bins
        self.codes_folder = codes_folder
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.max_depth = max_depth
        self.max_features = max_features
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.scoring = scoring
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _judged(self, setting):
        return {"impurity": Variance(), "split": "expected"}

    def _source(self, examples):
        return RegressionTreeSource(
            self._codes(examples.X),
            examples,
            self.feature_costs_,
            lambda seed: self._drawn(examples, seed),
            self.n_jobs,
        )

    def _leaf_refit(self, forest, examples):
        return RidgeRefit(forest.trees, examples, self.n_jobs)

    def _error(self, scores, n_trees, targets):
        return float(np.mean((scores[:, 0] / n_trees - targets) ** 2))
