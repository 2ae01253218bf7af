"""BudgetRF's classifier and regressor: parameters, settings, and the fit."""

import warnings
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state

from ..costs import too_small
from ..curves import pareto_indices
from ..forests.base import ForestClassifier, ForestRegressor
from ..parallel import progress
from ..protocol import Stage
from ..protocol.checked_data import learned_together, stage_of
from ..protocol.documenting import check_flags, documented, estimator_class
from ..protocol.operating_points import measures, refuse_unscored
from ..protocol.scoring import score_outcome
from ..tree import impurity as kinds
from ..validation import ParameterError, check_choice, check_number, check_numbers, is_flag
from .feature_sets import (
    Regrowth,
    confirmed_share,
    first_forests,
    found_sets,
    judging_rows,
    near_front,
)
from .growing import WEIGHTS, NumberTreeSource, TreeSource, grow_within_budget, measured
from .leaf_refit import PENALTIES, LogisticRefit, RidgeRefit

# Ratios of the highest to the lowest price in the risk, if no exponent is given. At 1.001 prices
# settle ties, as in small nodes. At 4/3 minimax pairs still prefer a perfect feature to noise.
RATIOS = (1.001, 1.15, 4 / 3, 1.8, 3)
# Price of a free feature in the risk, as a share of the lowest price: at risk 0 free noise would
# win.
FREE_SHARE = 0.01


@dataclass(frozen=True, kw_only=True, repr=False)
class ParameterGroup:
    """Base of groups of parameters, which are immutable, as estimators may share one."""

    def __repr__(self):
        # Like scikit-learn, show only parameters that differ from the defaults.
        changed = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if repr(getattr(self, each.name)) != repr(each.default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Growth(ParameterGroup):
    """Rules of the growth of BudgetRF's trees: the parameter `growth` of its estimators.

    Parameters
    ----------
    impurity : {"threshold_pairs", "powers", "polynomial", "gini", "entropy"} or \
            ImpurityFunction, default="threshold_pairs"
        The impurity F in classification; in regression it is the variance. Gini and entropy are not
        admissible and need `split="expected"`.
    split : {"minimax", "expected"}, default="minimax"
        In classification, judge a split by its worse side or by the mean of both sides; regression
        uses the mean.
    reuse_discount : float, default=1.0
        Share f of a price that remains in the risk if all examples of a node have already acquired
        the feature: price × (f + (1 − f) × share of the node that has not). The charge of a group
        falls in the same way. 1: the paper's risk. Set `cost_exponent`, too, as its default gives
        prices little influence.
    thresholds : {"all", "random"}, default="all"
        Every midpoint, or the paper's random 80, 40 or 20 (at nodes of more than 2000, more than
        500, or fewer examples).
    ties : {"random", "first"}, default="random"
        Among splits of least risk take one at random, or the first feature and threshold (as in the
        authors' code).
    max_depth : int, default=None
        Maximum depth of a tree.
    min_samples_leaf : int, default=1
        Minimum number of examples on each side of a split, each counted as often as its tree drew
        it, times its weight.
    max_features : {"sqrt"}, int, float or None, default=None
        Number of features drawn at each node among those that vary there; None: all. Half of them
        often improve the forest at equal cost.
    max_bins : int, default=None
        Number of quantile bins for each feature, of which 255 are fast; None: exact values.
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        1 if the prediction, or the probability of the second of two classes, must not fall as the
        feature rises, -1 if it must not rise, 0 otherwise; a dict names some features.
    codes_folder : str or Path, default=None
        Folder of a temporary file for the codes of the table during growth; None: in memory.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree.
    regrow : int, default=None
        Number of trees of each forest that is regrown without prices on a set of features. One kind
        of set has the features that more than 2 % or 50 % of the examples acquire from the first 1,
        2, 3, 4, 6, ... trees of the forest, for all settings in lists. The other kind comes from an
        elimination, which removes a fifth of the features at a time, those with the least drop in
        impurity over price^`cost_exponent`. The first 30 trees, on at most 1,000 examples drawn at
        random, select the sets, and 1, 5, 15 or 40 examples in a leaf, by out-of-bag scores. All
        trees of a set, half of them or none try only one random threshold of each feature,
        whichever predicts best out of bag. The stages are the forests that no cheaper one equals
        out of bag. All examples are used for learning, including validation data, and none are held
        out. None: stages are prefixes.
    """

    impurity: str | kinds.ImpurityFunction = "threshold_pairs"
    split: str = "minimax"
    reuse_discount: float = 1.0
    thresholds: str = "all"
    ties: str = "random"
    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_features: str | float | None = None
    max_bins: int | None = None
    monotonic_cst: Any = None
    codes_folder: str | Path | None = None
    bootstrap: bool = True
    regrow: int | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Leaves(ParameterGroup):
    """Pruning, refitting and voting of BudgetRF's leaves: the parameter `leaves` of its estimators.

    Parameters
    ----------
    prune : bool, float or list of float, default=False
        Whether each tree keeps only the splits that are worth their cost on the examples left out
        of its bootstrap sample. A number is the weight of the tree's additional mean cost, as a
        share of the cost of all features, against its squared error, as a share of the error
        without a split. Validation data choose from a list, or from 0.1, 0.3, 1, 3, 10 with True.
    joint_fit : bool, float or list of float, default=False
        Whether the values of all leaves are fitted together after growing, by logistic or ridge
        regression on the leaves, shrunk to the log-odds of their class counts or to their means. A
        number is the penalty of the squared change, in units of the loss of one example. For each
        stage, validation data choose the best value of a list, or of 100, 30, 10, 3, 1 with True.
        The stages are then the first 1, 2, 3, 4, 6, 8, 11, 16, ... trees, each with its own values.
    voting : {"majority", "counts"}, default="majority"
        A tree's vote: the majority class of its leaf, or the class counts; in regression, the mean.
    """

    prune: bool | float | list = False
    joint_fit: bool | float | list = False
    voting: str = "majority"


# The parameters of an estimator that are groups; None means the defaults.
KINDS = {"growth": Growth, "leaves": Leaves}


@estimator_class
class GrownOnBudget:
    """Mixin of forests that add trees while the budget allows, named before the forest's base.

    A subclass has the parts that depend on the targets: `_judged` (how splits are judged),
    `_error`, and two classes, `_source` for growing trees and `_leaf_refit`. `_replacing` holds the
    forests, with refitted leaves or regrown, that replace prefixes as stages.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. In the risk of a split a member of a group costs its
        own price plus the group's charge.
    budget : float, default=None
        Maximum mean cost of a prediction, in the unit of `feature_costs`. None: no limit.
    n_estimators : int, default=40
        Maximum number of trees.
    cost_exponent : float or list of float, default=None
        Power of the prices in the risk, in [0, 1]. 1 is the paper's risk, and 0 ignores prices.
        Validation data choose the best value of a list. None scales it to the prices: without a
        budget the most expensive feature counts 1.001 times as much as the cheapest; with a budget,
        validation data choose among 1.001, 1.15, 4/3, 1.8, 3 and the actual ratio of prices. Free
        features then count as a hundredth of the cheapest; with a given exponent they stay free.
    growth : Growth, default=None
        Growth of the trees; None: `Growth()`. Grids name its parameters like `growth__max_depth`.
    leaves : Leaves, default=None
        Pruning, refitting and voting of the leaves; None: `Leaves()`.
    oob_score : bool, default=False
        Whether to estimate the accuracy, or R² in regression, on the examples that each tree left
        out, with the leaves before refitting. The estimate is slightly optimistic after pruning,
        which uses these examples.
    validation_fraction : float, default=0.3
        Share of the training data held out if a budget or lists need validation data.
    refit : bool, default=False
        Whether the forest is grown again on training and validation data together, with the chosen
        settings and as many trees as the budget allows. `operating_points_` stays as measured.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which validation data choose among settings and operating
        points; None: accuracy, or R² in regression.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit, on the same rows, and adds more up to
        `n_estimators`. Not available if settings are chosen on validation data.

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree, which also determines its bootstrap sample.
    cost_exponent_, prune_ : float
        The exponent and the weight of pruning in use. None without pruning, or if forests are
        regrown on the sets from several settings.
    oob_score_ : float
        With `oob_score`: accuracy, or R² in regression, on the examples that some tree left out.
    penalties_ : list of float
        Penalty of the leaf values of each stage; empty if they are not refitted.
    validation_costs_, validation_errors_ : ndarray of shape (n_trees,) or None
        Mean acquisition cost and error (mean squared error in regression) of each prefix of the
        forest on the validation data; the error is that before refitting leaves.
    """

    _groups = _takes_missing = True
    _replacing = ()

    feature_costs: Any = None
    budget: float | None = None
    n_estimators: int = 40
    cost_exponent: Any = None
    growth: Growth | None = None
    leaves: Leaves | None = None
    oob_score: bool = False
    validation_fraction: float = 0.3
    refit: bool = False
    scoring: Any = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None

    def _group(self, name, value):
        kind = KINDS[name]
        if value is None:
            return kind()
        if not isinstance(value, kind):
            raise ParameterError(f"{name} must be a {kind.__name__} or None, got {value!r}.")
        check_flags(value)
        return value

    @property
    def _growth(self):
        return self._group("growth", self.growth)

    @property
    def _leaves(self):
        return self._group("leaves", self.leaves)

    def get_params(self, deep=True):
        """Return the parameters by name, with `deep` including those of the groups."""
        params = super().get_params(deep)
        for name, kind in KINDS.items() if deep else ():
            if isinstance(params[name], kind | None):
                group = self._group(name, params[name])
                params |= {f"{name}__{f.name}": getattr(group, f.name) for f in fields(kind)}
        return params

    def set_params(self, **params):
        """Set parameters, including those of the frozen groups, for example `growth__max_depth`.

        Returns
        -------
        self
        """
        for name, kind in KINDS.items():
            nested = [key for key in params if key.startswith(f"{name}__")]
            changes = {key.removeprefix(f"{name}__"): params.pop(key) for key in nested}
            known = {each.name for each in fields(kind)}
            if unknown := sorted(changes.keys() - known):
                wrong, right = ", ".join(unknown), ", ".join(sorted(known))
                raise ParameterError(f"{name} has no parameter {wrong}; it has {right}.")
            if changes:
                before = self._group(name, params.get(name, getattr(self, name)))
                params[name] = replace(before, **changes)
        return super().set_params(**params)

    @property
    def trains_on_validation(self):
        """True if validation data are used for training, with points measured out of bag."""
        return self._growth.regrow is not None

    @property
    def _needs_validation(self):
        if self.trains_on_validation:
            return False
        values = getattr(self, "alpha", 0), self.cost_exponent
        values += self._leaves.prune, self._leaves.joint_fit
        # True means a list.
        several = (np.size(value) > 1 or (is_flag(value) and value) for value in values)
        return self.budget is not None or any(several)

    def _seeds(self, random):
        return self._tree_seeds(random), random

    def _learn_from(self, train, valid):
        if not self.trains_on_validation:
            super()._learn_from(train, valid)
            return
        train = learned_together(self, train, valid)
        seeds, _ = self._seeds(check_random_state(self.random_state))
        self._fit_regrown(train.weighed_for(self), seeds)

    def _fit_regrown(self, train, seeds):
        """Grow forests on the sets of features found by forests of all settings."""
        self._check_regrowth()
        self._replacing = ()
        rules, rows = self._rules(train.X.shape[1]), judging_rows(len(train.y), seeds[0])
        sample = train if rows is None else train.take(rows)
        # Rules differ only in the cost exponent, which regrown trees do not use.
        first_setting, first_rule = rules[0]
        regrowing = first_rule, self._growth.regrow, seeds[0]
        judging = Regrowth(self._grower(sample), *regrowing)
        forests = self._forests(judging.source, rules, seeds, None)
        sets = (s for each in forests for s in found_sets(each.trees, sample, self.n_jobs))
        exponents = sorted({setting["cost_exponent"] for setting, _ in rules})
        begun = first_forests(judging, self.feature_costs_.alone, sets, exponents)
        begun, _ = self._staying(judging, begun, sample, near_front)
        first = min(begun, key=lambda forest: forest.loss)
        best = judging.finished(first)
        share = confirmed_share(judging, self.feature_costs_.alone, best, exponents[-1], seeds[0])
        whole = judging
        finished = (best if each is first else judging.finished(each) for each in begun)
        if rows is not None:
            whole = Regrowth(self._grower(train), *regrowing)
            finished = map(whole.again, finished)
        front, points = self._staying(
            whole, finished, train, lambda points: pareto_indices(points["cost"], points["score"])
        )
        # Only the rows that chose the sets flatter them.
        share = 1 - (1 - share) * len(sample.y) / len(train.y)
        points = self._with_share(points, share, whole, train)
        front = [replace(front[place], sums=None) for place in points.index]
        for name in first_setting:
            tried = {setting[name] for setting, _ in rules}
            setattr(self, f"{name}_", tried.pop() if len(tried) == 1 else None)
        self.validation_costs_ = self.validation_errors_ = None
        self._unmeasured = self._grown_on = None
        self.operating_points_ = points.reset_index(drop=True)
        self._set_trees(front[-1].predictor.trees)
        self._replacing, self._incremental = front, False
        self._predictor = front[-1].predictor
        self.tree_seeds_ = whole.seeds[: len(self.trees_)]
        if self.oob_score:
            self._set_oob(self.trees_, self.tree_seeds_, train)

    def _check_regrowth(self):
        """Raise an error for parameters that have no meaning for regrown forests."""
        check_number(self._growth.regrow, "growth.regrow", low=1, integer=True)
        others = {
            "budget": self.budget is not None,
            "refit": self.refit,
            "warm_start": self.warm_start,
            "leaves.joint_fit": self._leaves.joint_fit,
            "growth.bootstrap": not self._growth.bootstrap,
            "a list of alpha": np.size(getattr(self, "alpha", 0)) > 1,
        }
        if wrong := ", ".join(name for name, is_set in others.items() if is_set):
            raise ParameterError(
                "growth.regrow grows forests anew, chooses among them out of bag, and learns from "
                f"all examples: leave out {wrong}. Give the budget to predictions."
            )

    def _staying(self, regrowth, forests, examples, kept):
        """Return the forests kept by out-of-bag costs and scores, and their operating points."""
        targets, points, staying = examples.targets[regrowth.judged], [], []
        for forest in forests:
            predictor, n_trees = forest.predictor, forest.predictor.n_trees
            walk = predictor.walk(regrowth.rows, acquired=True, n_jobs=self.n_jobs)
            stage = Stage({"trees": n_trees}, nodes=predictor.node_count(n_trees))
            stage.output, stage.probabilities = self._answer(regrowth.out_of_bag(forest), 1)
            stage.acquired = walk.acquired
            points.append(refuse_unscored(measures(self, stage, targets), len(targets)))
            staying.append(forest)
            # Filtered immediately, as all forests would take several times the memory.
            names = "cost", "score", "score_se"
            places = kept({name: np.array([point[name] for point in points]) for name in names})
            points, staying = [points[k] for k in places], [staying[k] for k in places]
        return staying, pd.DataFrame(points)

    def _with_share(self, points, share, regrowth, train):
        """Return the points whose score still rises if their gain over the constant shrinks."""
        stage = Stage({})
        stage.output, stage.probabilities = self._answer(regrowth.constant(), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # such as its precision
            least = score_outcome(self, self.scoring, stage, train.targets[regrowth.judged])
        gain = points["score"] - least
        points = points.assign(score=least + gain * np.where(gain > 0, share, 1.0))
        return points.iloc[pareto_indices(points["cost"], points["score"])]

    def _fit(self, train, valid, seeds):
        self._replacing = ()
        rules = self._rules(train.X.shape[1])
        penalties = self._tried("joint_fit", PENALTIES, low_open=True)
        several = self.refit or self._needs_validation or len(rules) > 1
        known = self._known_trees(train, several)
        # Kept trees keep their seeds, which determine their bootstrap samples.
        seeds[: len(known)] = self.tree_seeds_ if known else []
        forests = self._forests(self._grower(train), rules, seeds, valid, known)
        for forest in forests:
            if penalties and forest.trees:
                refit = self._leaf_refit(forest.trees, train, self.n_jobs)
                forest.refitted = refit.chosen(penalties, valid)
        best = self._choose(forests, valid)
        for name, value in best.setting.items():
            setattr(self, f"{name}_", value)
        # Set even without validation data, to replace those of an earlier fit.
        self.validation_costs_ = None if valid is None else np.array(best.costs)
        self.validation_errors_ = None if valid is None else np.array(best.errors)
        self._set_forest(best.trees, best.refitted, seeds, train)

    def _set_forest(self, trees, prefixes, seeds, examples):
        self.tree_seeds_ = seeds[: len(trees)]
        if self.oob_score:
            self._replacing = ()  # out-of-bag scores are those before refitting leaves
            self._set_oob(trees, self.tree_seeds_, examples)
        self._set_trees(trees, prefixes)

    def _refit(self, examples, seeds):
        """Grow as many trees on all examples with the chosen setting as the budget allows."""
        # The attributes with the chosen values are named like the settings.
        rules = [
            (setting, rule)
            for setting, rule in self._rules(examples.X.shape[1])
            if all(getattr(self, f"{name}_") == value for name, value in setting.items())
        ]
        prefixes, self._replacing = self._replacing, ()
        trees = seeds[: len(self.trees_)]
        # No examples are left for validation, so the budget is kept on the training examples.
        forests = self._forests(self._grower(examples), rules, trees, examples)
        best = self._choose(forests, examples)
        if prefixes:
            best.refitted = self._leaf_refit(best.trees, examples, self.n_jobs).again(prefixes)
            best.trees = best.trees[: best.refitted[-1].predictor.n_trees]
        self._set_forest(best.trees, best.refitted, seeds, examples)
        self.operating_points_ = self.operating_points_.head(self.n_stages_)

    def _grower(self, examples):
        """Return the source of trees grown on these examples."""
        return self._source(self, examples, self._codes(examples.X), partial(self._drawn, examples))

    def _forests(self, source, rules, seeds, valid, known=()):
        """Return the forest of each rule, grown while the budget allows."""
        forests = []
        for setting, rule in rules:
            grown = source.trees(rule, seeds, setting["prune"], known)
            trees = measured(progress(grown, "trees", len(seeds)), self, valid)
            forests.append(grow_within_budget(setting, trees, self.budget))
        return forests

    def _rules(self, n_features):
        """Return (setting, growth rule) for each setting to try, after checking the parameters."""
        check_number(self.budget, "budget", low=0, none=True)
        growth = self._growth
        ties = check_choice(growth.ties, "growth.ties", ("first", "random"))
        discount = check_number(growth.reuse_discount, "growth.reuse_discount", low=0, high=1)
        rule = self._rule(
            n_features, score="risk", ties=ties, reuse_discount=discount, count_constants=False
        )
        adds_counts = str(self._leaves.voting) == "counts" and growth.regrow is None
        if rule.directions is not None and (adds_counts or self._leaves.joint_fit):
            raise ParameterError(
                "growth.monotonic_cst is kept by votes and means of trees as they grew: leave "
                "leaves.voting and leaves.joint_fit as they are by default."
            )
        lists = self._lists()
        rules = []
        for values in product(*lists.values()):
            setting = dict(zip(lists, values, strict=True))
            exponent, judged = setting["cost_exponent"], self._judged(setting)
            rules.append((setting, replace(rule, cost_exponent=exponent, **judged)))
        return rules

    def _lists(self):
        """Return the values to try for each parameter of a setting."""
        weights = self._tried("prune", WEIGHTS)
        # On the rows that a tree grew on, pruning would keep every split.
        if weights and not self._growth.bootstrap:
            message = "prune judges trees by the examples that they left out: set bootstrap=True."
            raise ParameterError(message)
        return {"cost_exponent": self._exponents(), "prune": weights or [None]}

    def _tried(self, name, default, low_open=False):
        """Return the values of a parameter of `leaves` to try; none if it is off."""
        value = getattr(self._leaves, name)
        if is_flag(value):
            return default if value else ()
        how = {"low": 0, "low_open": low_open, "high": np.inf, "high_open": True}
        return check_numbers(value, f"leaves.{name}", alone=True, **how)

    def _exponents(self):
        if self.cost_exponent is not None:
            return check_numbers(self.cost_exponent, "cost_exponent", alone=True, low=0, high=1)
        prices = self._counted()
        # prices**e span a ratio r if e = log r / log(highest / lowest price).
        spread = np.log(prices.max() / prices.min()) if prices.any() else 0.0
        milder = [np.log(ratio) / spread for ratio in RATIOS if np.log(ratio) < spread]
        if self.budget is None:
            return milder[:1] or [1.0]
        # The paper's risk comes first, so that it wins ties.
        return [1.0, *milder[::-1]]

    def _counted(self):
        prices = self.feature_costs_.alone
        if self.cost_exponent is not None or not prices.any():
            return prices
        return np.where(prices > 0, prices, FREE_SHARE * prices[prices > 0].min())

    def _choose(self, forests, valid):
        """Return the forest with the best validation score, the cheaper one among equals."""
        affordable = [forest for forest in forests if forest.trees]
        if not affordable:
            cheapest = min(forest.broke_at for forest in forests)
            raise too_small(self.budget, cheapest, "first tree")
        if len(affordable) == 1:
            return affordable[0]
        if self.scoring is None:
            return min(affordable, key=lambda forest: (forest.loss, forest.costs[-1]))
        return max(affordable, key=lambda forest: (self._scored(forest, valid), -forest.costs[-1]))

    def _scored(self, forest, valid):
        """Return the `scoring` of a forest on validation data."""
        self._set_trees(forest.trees, forest.refitted)
        stage = stage_of(self, valid.X, self.n_stages_ - 1, {"output", "probabilities"})
        return score_outcome(self, self.scoring, stage, valid.targets)

    def _set_trees(self, trees, prefixes=()):
        super()._set_trees(trees)
        self._replacing = prefixes
        self._incremental = not prefixes  # each prefix has its own leaf values
        if prefixes:
            self._predictor = prefixes[-1].predictor
        self.penalties_ = [prefix.penalty for prefix in prefixes]

    @property
    def n_stages_(self):
        """Number of operating points: prefixes of the forest, or regrown forests."""
        return len(self._replacing) or super().n_stages_

    @property
    def _vote_kind(self):
        return "values" if self._replacing else super()._vote_kind

    def _model(self, index):
        if not self._replacing:
            return super()._model(index)
        predictor = self._replacing[index].predictor
        return predictor, predictor.n_trees

    def _shares(self, scores, n_trees):
        if not (self._replacing and self.penalties_):
            return super()._shares(scores, n_trees)
        return softmax(scores / n_trees, axis=1)


NAMED = (kinds.Powers, kinds.Polynomial, kinds.Gini, kinds.Entropy)
IMPURITIES = {kind.__name__.lower(): kind for kind in NAMED}


@estimator_class
class BudgetRFClassifier(GrownOnBudget, ForestClassifier):
    """Random forest under a budget of feature acquisition (Nan, Wang and Saligrama 2015).

    Trees grow greedily by risk = cost of a feature / drop in impurity, and join the forest while
    predictions on validation data cost at most `budget` on average. A prediction pays for each
    feature once, even if several trees use it. Missing values (NaN) go to the better side of each
    split. Only features with missing values in training may have them in prediction.

    Parameters
    ----------
    alpha : float or list of float, default=0.0
        Threshold of `"threshold_pairs"`. Larger values give smaller and cheaper trees. With a list,
        the value with the least validation error within the budget is used (the paper's list is
        0, 2, 4, 6, 8, 10, 15, 25, 35, 45).

    Attributes
    ----------
    alpha_ : float
        The threshold in use.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag class shares of the training examples; NaN if no tree left one out.

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

    alpha: Any = 0.0
    class_weight: Any = None

    _source, _leaf_refit = TreeSource, LogisticRefit

    @property
    def _voting(self):
        return self._leaves.voting

    @property
    def _in_shares(self):
        return bool(self._replacing and not self.penalties_) or super()._in_shares

    def _judged(self, setting):
        split = check_choice(self._growth.split, "growth.split", ("minimax", "expected"))
        check_choice(self._voting, "leaves.voting", ("majority", "counts"))
        impurity = named = self._growth.impurity
        if not isinstance(named, kinds.ImpurityFunction):
            check_choice(named, "growth.impurity", ("threshold_pairs", *IMPURITIES))
            impurity = IMPURITIES.get(named, lambda: kinds.ThresholdPairs(setting["alpha"]))()
        # Theorem 2.2 on the maximum cost and the kernel's bounds on thresholds need it.
        if split == "minimax" and not impurity.admissible:
            raise ParameterError(
                "split='minimax' needs an admissible impurity (a part is never more impure than "
                f"the whole); use split='expected' with {named!r}."
            )
        return {"impurity": impurity, "split": split}

    def _error(self, scores, n_trees, labels):
        # A class absent from training is -1 here, and so always an error.
        return float((scores.argmax(axis=1) != labels).mean())

    def _lists(self):
        alphas = check_numbers(self.alpha, "alpha", alone=True, low=0, high=np.inf, high_open=True)
        impurity = self._growth.impurity
        # A list without effect would grow the same forest repeatedly.
        if alphas != [0] and impurity != "threshold_pairs":
            raise ParameterError(
                f"alpha belongs to the impurity 'threshold_pairs'; leave it at 0 with {impurity!r}."
            )
        # Settings are tried in this order, and the first one wins ties.
        return {"alpha": alphas, **super()._lists()}


@documented
class BudgetRFRegressor(GrownOnBudget, ForestRegressor):
    """Forest of regression trees under a budget of feature acquisition.

    This is `BudgetRFClassifier` for numbers. Trees grow by risk = cost of a feature / drop in
    variance, and join the forest while predictions on validation data cost at most `budget` on
    average. Missing values (NaN) are treated as in `BudgetRFClassifier`.

    Attributes
    ----------
    trees_ : list of Tree
        Node values are means of the target.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions of the training examples; NaN if no tree left one out.
    """

    _source, _leaf_refit = NumberTreeSource, RidgeRefit

    def _judged(self, setting):
        of_classes = (self._growth.impurity, self._growth.split, self._leaves.voting)
        if of_classes != (Growth.impurity, Growth.split, Leaves.voting):
            raise ParameterError(
                "growth.impurity, growth.split and leaves.voting are for classification: leave "
                f"them at their defaults, got {self._growth!r} and {self._leaves!r}."
            )
        # Variance is not monotone, so the worse side gives no bound for skipping thresholds.
        return {"impurity": kinds.Variance(), "split": "expected"}

    def _error(self, scores, n_trees, targets):
        return float(np.mean((scores[:, 0] / n_trees - targets) ** 2))
