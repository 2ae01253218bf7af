"""BudgetRF: a random forest whose predictions cost at most a budget on average."""

from ..forests.base import ForestClassifier
from ..forests.leaf_refit import LogisticRefit
from ..forests.out_of_bag import OutOfBagClasses
from ..tree.impurity import Entropy, Gini, ImpurityFunction, Polynomial, Powers, ThresholdPairs
from ..validation import ParameterError, check_choice
from .forest import GrownOnBudget, listed
from .growing import TreeSource

IMPURITIES = {"powers": Powers, "polynomial": Polynomial, "gini": Gini, "entropy": Entropy}


class BudgetRFClassifier(GrownOnBudget, OutOfBagClasses, ForestClassifier):
    """Random forest under a budget of feature acquisition (Nan, Wang and Saligrama 2015).

    Trees grow greedily by risk = cost of a feature / drop in impurity, and join the forest while
    predictions on validation data cost at most `budget` on average. A prediction pays each feature
    once, however many trees look at it. Missing values (NaN) go to the better side of each split;
    only features that lack some in training may lack them in prediction.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. In the risk of a split a member of a group costs its
        own price plus the group's charge.
    budget : float, default=None
        Most that a prediction may cost on average, in the unit of `feature_costs`. None: no limit.
    n_estimators : int, default=40
        Most trees.
    alpha : float or list of float, default=0.0
        Threshold of `"threshold_pairs"`: the larger, the smaller and cheaper the trees. Of a list
        the value with the least validation error within the budget is used (the paper's list is
        0, 2, 4, 6, 8, 10, 15, 25, 35, 45).
    cost_exponent : float or list of float, default=None
        Power of the prices in the risk, in [0, 1]: 1 is the paper's risk, 0 looks at the drop in
        impurity alone. Of a list the best value is chosen together with alpha. None scales it to
        the prices: without a budget the dearest feature counts as 1.001 times the cheapest; with
        one the best of 1.001, 1.15, 4/3, 1.8, 3 and as many times as it costs; what is free counts
        as a hundredth of the cheapest. Where an exponent is named, free features stay free.
    reuse_discount : float, default=1.0
        Share f of a price that stays in the risk where all examples of a node have acquired the
        feature before, on the path or in earlier trees: price × (f + (1 − f) × share of the node
        that has not). The charge of a group falls alike with the share that acquired no member.
        1: the paper's risk. Name a cost_exponent with it: the default makes little of prices.
    prune : bool, float or list of float, default=False
        Whether each tree keeps only the splits that examples left out of its bootstrap sample find
        worth their cost. A number is the weight of what the tree adds to the mean cost, as a share
        of the cost of all features, against its squared error, as a share of that without a
        split; what an example acquired from earlier trees is free. 0 prunes by the error alone. Of
        a list, or of 0.1, 0.3, 1, 3, 10 with True, the best is chosen together with alpha.
    refit_leaves : bool, float or list of float, default=False
        Whether the values of all leaves are fitted together when the trees are grown: logistic
        regression of the classes on the leaves, shrunk to the log-odds of the leaves' class counts.
        A number is the penalty of the squared difference, in units of the loss of one example; of
        a list, or of 100, 30, 10, 3, 1 with True, each stage uses the one with the least log-loss
        on validation data, and so is chosen among alphas.
        Stages are then the first 1, 2, 3, 4, 6, 8, 11, 16, ... trees, each with values of its own.
    impurity : {"threshold_pairs", "powers", "polynomial", "gini", "entropy"} or \
            ImpurityFunction, default="threshold_pairs"
        F. Gini and entropy are not admissible and need `split="expected"`.
    split : {"minimax", "expected"}, default="minimax"
        Judge a split by its worse side, or by the mean of both.
    thresholds : {"all", "random"}, default="all"
        Every midpoint of neighbouring values, or the paper's random 80, 40 or 20 (at nodes of more
        than 2000, more than 500, fewer examples).
    ties : {"random", "first", "reuse"}, default="random"
        Which of several splits of least risk to take: one at random; the first feature and
        threshold (the authors' code); or a feature that the path already acquired, else the one
        that the forest uses most.
    max_bins : int, default=None
        Quantile bins for each feature, 255 is fast; None: exact.
    codes_folder : str or Path, default=None
        Where a temporary file holds the codes of the table, mapped into memory, while the forest
        grows: for tables whose codes do not fit. None: in memory.
    voting : {"majority", "counts"}, default="majority"
        Each tree votes for the majority class of its leaf, or with the class counts there.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree.
    oob_score : bool, default=False
        Whether to estimate the accuracy of the forest, with the leaves as they grew, on the
        examples that each tree left out. Pruning has seen them: then it is a little too good.
    max_depth : int, default=None
        Greatest depth of a tree.
    max_features : {"sqrt"}, int, float or None, default=None
        Features drawn at each node among those that vary there; None: all. About half of them
        make the trees less alike, and often the forest better at equal cost.
    validation_fraction : float, default=0.3
        Share of the training data held out when validation data are needed (with a budget or
        lists to choose from) and none are given.
    refit : bool, default=False
        Whether the forest is grown again on training and validation data together, with what was
        chosen on validation data and as many trees, as far as the budget allows.
        `operating_points_` stays what was measured before.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which validation data choose among alphas and operating
        points; None: accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
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
        Node values are class counts.
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    alpha_, cost_exponent_, prune_ : float
        The threshold, the exponent and the weight of pruning in use; None without pruning.
    oob_score_ : float
        With `oob_score`: accuracy on the examples that some tree left out.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Their class shares; NaN for an example that no tree left out.
    penalties_ : list of float
        Penalty of the leaf values of each stage; empty where they are not refitted.
    validation_costs_, validation_errors_ : ndarray of shape (n_trees,) or None
        Mean acquisition cost and error of each prefix of the forest on the validation data, the
        error with the votes of the leaves as they grew.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = BudgetRFClassifier(budget=6, random_state=0).fit(X[:400], y[:400])
    >>> forest.acquisition_cost(X[400:]).mean() < 7
    np.True_
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        budget=None,
        n_estimators=40,
        alpha=0.0,
        cost_exponent=None,
        reuse_discount=1.0,
        prune=False,
        refit_leaves=False,
        impurity="threshold_pairs",
        split="minimax",
        thresholds="all",
        ties="random",
        max_bins=None,
        codes_folder=None,
        voting="majority",
        bootstrap=True,
        oob_score=False,
        max_depth=None,
        max_features=None,
        validation_fraction=0.3,
        refit=False,
        scoring=None,
        class_weight=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.budget = budget
        self.n_estimators = n_estimators
        self.alpha = alpha
        self.cost_exponent = cost_exponent
        self.reuse_discount = reuse_discount
        self.prune = prune
        self.refit_leaves = refit_leaves
        self.impurity = impurity
        self.split = split
        self.thresholds = thresholds
        self.ties = ties
        self.max_bins = max_bins
        self.codes_folder = codes_folder
        self.voting = voting
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.max_depth = max_depth
        self.max_features = max_features
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.scoring = scoring
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    _tried = ("alpha", "cost_exponent", "prune")

    def _judged(self, setting):
        check_choice(self.split, "split", ("minimax", "expected"))
        check_choice(self.voting, "voting", ("majority", "counts"))
        return {"impurity": self._impurity(setting["alpha"]), "split": self.split}

    def _source(self, examples):
        return TreeSource(
            self._codes(examples.X),
            examples,
            self.classes_.size,
            self.feature_costs_,
            lambda seed: self._drawn(examples, seed),
            self.n_jobs,
        )

    def _leaf_refit(self, forest, examples):
        return LogisticRefit(forest.trees, examples, self.classes_.size, self.n_jobs)

    def _error(self, scores, n_trees, labels):
        return float((scores.argmax(axis=1) != labels).mean())

    def _further_lists(self):
        alphas = listed(self.alpha, "alpha")
        if self.impurity != "threshold_pairs" and alphas != [0]:
            raise ParameterError(
                "alpha belongs to impurity='threshold_pairs'; leave it at 0 with "
                f"{self.impurity!r}."
            )
        return (alphas,)

    def _impurity(self, alpha):
        if isinstance(self.impurity, ImpurityFunction):
            impurity = self.impurity
        else:
            check_choice(self.impurity, "impurity", ("threshold_pairs", *IMPURITIES))
            kind = IMPURITIES.get(self.impurity)
            impurity = ThresholdPairs(alpha) if kind is None else kind()
        if self.split == "minimax" and not impurity.admissible:
            raise ParameterError(
                "split='minimax' needs an admissible impurity (a part is never more impure than "
                f"the whole); use split='expected' with {self.impurity!r}."
            )
        return impurity
