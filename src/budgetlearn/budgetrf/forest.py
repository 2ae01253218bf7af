"""The base of BudgetRF's classifier and regressor: parameters, settings, and the fit."""

from dataclasses import fields, replace
from itertools import product

import numpy as np
from scipy.special import softmax

from ..exceptions import BudgetError
from ..forests.leaf_refit import PENALTIES
from ..forests.out_of_bag import check_oob, set_oob
from ..parallel import progress
from ..protocol.examples import refuse_unlearned
from ..protocol.scoring import score_outcome
from ..tree.growth import TIES, GrowthRule
from ..validation import ParameterError, check_choice, check_max_features, check_number
from .growing import WEIGHTS, Validation, grow_within_budget
from .parameters import KINDS

# How many times as much as the cheapest feature the most expensive one counts in the risk where no
# exponent is named. At 1.001 prices settle ties, of which small nodes have many; at 4/3 minimax
# pairs just take a perfect feature rather than noise.
RATIOS = (1.001, 1.15, 4 / 3, 1.8, 3)
# What a free feature counts as there, of the cheapest price: at risk 0 free noise would beat all.
FREE_SHARE = 0.01


class GrownOnBudget:
    """Mixin, named before the forest, of forests that take trees while the budget allows.

    A subclass has what depends on the targets: `_judged` (how splits are), `_source` (of trees),
    `_leaf_refit` and `_error`. Where leaves were refitted, `_refitted` holds prefixes of the forest
    with values of their own; stages are those prefixes then, not every number of trees.

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
        Power of the prices in the risk, in [0, 1]: 1 is the paper's risk, 0 looks at the drop in
        impurity alone. Of a list the best value is chosen on validation data. None scales it to
        the prices: without a budget the most expensive feature counts as 1.001 times the cheapest;
        with one the best of 1.001, 1.15, 4/3, 1.8, 3 and as many times as it costs; what is free
        counts as a hundredth of the cheapest. Where an exponent is named, free features stay free.
    growth : Growth, default=None
        How trees grow; None: `Growth()`. `growth__max_depth` and the like name its parameters in
        `set_params` and in grids.
    leaves : Leaves, default=None
        What becomes of their leaves: pruning, refitting, voting; None: `Leaves()`.
    oob_score : bool, default=False
        Whether to estimate the accuracy of the forest, R² in regression, with the leaves as they
        grew, on the examples that each tree left out. Pruning has seen them: then it is a little
        too good.
    validation_fraction : float, default=0.3
        Share of the training data held out when validation data are needed (with a budget or
        lists to choose from) and none are given.
    refit : bool, default=False
        Whether the forest is grown again on training and validation data together, with what was
        chosen on validation data and as many trees, as far as the budget allows.
        `operating_points_` stays what was measured before.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which validation data choose among settings and operating
        points; None: accuracy, R² in regression.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit, on the same rows, and adds more up to
        `n_estimators`. Only where nothing is chosen on validation data.

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    cost_exponent_, prune_ : float
        The exponent and the weight of pruning in use; None without pruning.
    oob_score_ : float
        With `oob_score`: accuracy, R² in regression, on the examples that some tree left out.
    penalties_ : list of float
        Penalty of the leaf values of each stage; empty where they are not refitted.
    validation_costs_, validation_errors_ : ndarray of shape (n_trees,) or None
        Mean acquisition cost and error, the mean squared one in regression, of each prefix of the
        forest on the validation data, the error with the leaves as they grew.
    """

    _groups = True
    _tried = ("cost_exponent", "prune")  # parameters that may be lists
    _refitted = ()

    def __init__(
        self,
        *,
        feature_costs=None,
        budget=None,
        n_estimators=40,
        cost_exponent=None,
        growth=None,
        leaves=None,
        oob_score=False,
        validation_fraction=0.3,
        refit=False,
        scoring=None,
        warm_start=False,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.budget = budget
        self.n_estimators = n_estimators
        self.cost_exponent = cost_exponent
        self.growth = growth
        self.leaves = leaves
        self.oob_score = oob_score
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.scoring = scoring
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _group(self, name, value):
        kind = KINDS[name]
        if value is None:
            return kind()
        if not isinstance(value, kind):
            raise ParameterError(f"{name} must be a {kind.__name__} or None, got {value!r}.")
        return value

    @property
    def _growth(self):
        return self._group("growth", self.growth)

    @property
    def _leaves(self):
        return self._group("leaves", self.leaves)

    def get_params(self, deep=True):
        """Return the parameters by name; with `deep` those of the groups too."""
        params = super().get_params(deep)
        for name, kind in KINDS.items() if deep else ():
            if isinstance(params[name], kind | None):
                group = self._group(name, params[name])
                params |= {f"{name}__{f.name}": getattr(group, f.name) for f in fields(kind)}
        return params

    def set_params(self, **params):
        """Set parameters; one of a group as `growth__max_depth`, although groups are frozen.

        Returns
        -------
        self
        """
        for name, kind in KINDS.items():
            mark = f"{name}__"
            nested = [key for key in params if key.startswith(mark)]
            changes = {key.removeprefix(mark): params.pop(key) for key in nested}
            known = {each.name for each in fields(kind)}
            if unknown := sorted(changes.keys() - known):
                raise ParameterError(
                    f"{name} has no parameter {', '.join(unknown)}; it has "
                    f"{', '.join(sorted(known))}."
                )
            if changes:
                before = self._group(name, params.get(name, getattr(self, name)))
                params[name] = replace(before, **changes)
        return super().set_params(**params)

    def __sklearn_tags__(self):
        return replace(super().__sklearn_tags__(), chooses_on_validation=self._chooses())

    def _takes_missing(self):
        return True

    def _chooses(self):
        """Say if validation data have anything to choose."""
        leaves = self._leaves
        lists = [getattr(self, name) for name in self._tried if name != "prune"]
        several = (np.size(v) > 1 or v is True for v in (*lists, leaves.prune, leaves.joint_fit))
        return self.budget is not None or any(several)

    def _needs_validation(self):
        return self._chooses()

    def _seeds(self, random):
        return self._tree_seeds(random), random

    def _fit(self, train, valid, seeds):
        self._refitted = ()
        check_oob(self)
        if valid is not None:
            refuse_unlearned(self, valid.X)
        rules, penalties = self._rules(train.X.shape[1]), self._penalties()
        several = self.refit or self._needs_validation() or len(rules) > 1
        known = self._known_trees(train, several)
        # Kept trees keep their seeds: their bootstrap samples follow from these.
        seeds[: len(known)] = self.tree_seeds_ if known else []
        validation = None if valid is None else self._validation(valid)
        forests = self._forests(train, rules, seeds, validation, known)
        for forest in forests:
            if penalties and forest.trees:
                forest.refitted = self._leaf_refit(forest, train).chosen(penalties, valid)
        best = self._choose(forests, valid)
        for name, value in best.setting.items():
            setattr(self, f"{name}_", value)
        # Set without validation data, too: those of an earlier fit would be wrong.
        self.validation_costs_ = self.validation_errors_ = None
        if validation is not None:
            self.validation_costs_ = np.array(best.costs)
            self.validation_errors_ = np.array(best.errors)
        self._set_forest(best, seeds, train)

    def _set_forest(self, forest, seeds, examples):
        """Make a grown forest the fitted one."""
        self.tree_seeds_ = seeds[: len(forest.trees)]
        if self.oob_score:
            self._refitted = ()  # left-out examples judge the leaves as they grew
            set_oob(self, forest.trees, self.tree_seeds_, examples)
        self._set_trees(forest.trees, forest.refitted)

    def _refit(self, examples, seeds):
        """Grow as many trees with the chosen setting on all examples, as far as the budget allows.

        The cost of the new trees is that of predicting the examples that they were grown on.
        """
        # Names of settings are those of the attributes that hold what was chosen.
        used = {name: getattr(self, f"{name}_") for name in self._tried}
        rules = [rule for rule in self._rules(examples.X.shape[1]) if rule[0] == used]
        prefixes, self._refitted = self._refitted, ()
        trees = seeds[: len(self.trees_)]
        # On all examples nothing is left to validate on: the budget is kept on what trees grew on.
        forests = self._forests(examples, rules, trees, self._validation(examples))
        best = self._choose(forests, examples)
        if prefixes:
            best.refitted = self._leaf_refit(best, examples).again(prefixes)
            best.trees = best.trees[: best.refitted[-1].n_trees]
        self._set_forest(best, seeds, examples)
        self.operating_points_ = self.operating_points_.head(self.n_stages_)

    def _validation(self, examples):
        return Validation(
            examples.X,
            self.feature_costs_,
            self._vote_kind,
            lambda scores, n_trees: self._error(scores, n_trees, examples.y),
            self.n_jobs,
        )

    def _forests(self, examples, rules, seeds, validation, known=()):
        """Return the forest of each rule, grown while the budget allows."""
        source = self._source(examples)
        source.counted = self._counted()
        return [
            grow_within_budget(
                setting,
                progress(source.trees(rule, seeds, setting["prune"], known), "trees", len(seeds)),
                validation,
                self.budget,
            )
            for setting, rule in rules
        ]

    def _rules(self, n_features):
        """Return (setting, growth rule) for each setting to try, after checking the parameters."""
        if self.budget is not None:
            check_number(self.budget, "budget", low=0)
        growth = self._growth
        if growth.max_depth is not None:
            check_number(growth.max_depth, "growth.max_depth", low=1, integer=True)
        least = check_number(
            growth.min_samples_leaf, "growth.min_samples_leaf", low=1, integer=True
        )
        check_choice(growth.thresholds, "growth.thresholds", ("all", "random"))
        check_choice(growth.ties, "growth.ties", TIES)
        check_number(growth.reuse_discount, "growth.reuse_discount", low=0, high=1)
        return [
            (
                setting,
                GrowthRule(
                    **self._judged(setting),
                    score="risk",
                    thresholds=growth.thresholds,
                    ties=growth.ties,
                    max_features=check_max_features(growth.max_features, n_features),
                    count_constants=False,
                    max_depth=growth.max_depth,
                    min_samples_leaf=least,
                    reuse_discount=growth.reuse_discount,
                    cost_exponent=setting["cost_exponent"],
                ),
            )
            for setting in self._settings()
        ]

    def _settings(self):
        """Return each combination of the parameters that may be lists."""
        weights = self._weights()
        # Pruning by the rows a tree grew on would keep every split.
        if weights != [None] and not self._growth.bootstrap:
            raise ParameterError(
                "prune judges trees by the examples that they left out: set bootstrap=True."
            )
        lists = *self._further_lists(), self._exponents(), weights
        return [dict(zip(self._tried, values, strict=True)) for values in product(*lists)]

    def _further_lists(self):
        """Return the values of the parameters that a subclass names first in `_tried`."""
        return ()

    def _exponents(self):
        """Return the powers of the prices to try."""
        if self.cost_exponent is not None:
            return listed(self.cost_exponent, "cost_exponent", high=1)
        prices = self._counted()
        # prices**e span a ratio r where e = log r / log(highest / lowest price).
        spread = np.log(prices.max() / prices.min()) if prices.any() else 0.0
        milder = [np.log(ratio) / spread for ratio in RATIOS if np.log(ratio) < spread]
        if self.budget is None:
            return milder[:1] or [1.0]
        # The paper's risk first: of equals it is taken.
        return [1.0, *milder[::-1]]

    def _counted(self):
        """Return the prices that powers are taken of."""
        prices = self.feature_costs_.alone
        if self.cost_exponent is not None or not prices.any():
            return prices
        return np.where(prices > 0, prices, FREE_SHARE * prices[prices > 0].min())

    def _weights(self):
        """Return the weights of pruning to try, None where trees stay as they grew."""
        prune = self._leaves.prune
        if prune is False:
            return [None]
        return WEIGHTS if prune is True else listed(prune, "leaves.prune")

    def _penalties(self):
        """Return the penalties of leaf values to try; none: leaves stay as they grew."""
        penalties = self._leaves.joint_fit
        if penalties is False:
            return []
        if penalties is True:
            return PENALTIES
        return listed(penalties, "leaves.joint_fit", low_open=True)

    def _choose(self, forests, valid):
        """Return the forest with the best validation score; of equals the cheaper one."""
        affordable = [forest for forest in forests if forest.trees]
        if not affordable:
            # The error names the least budget that would do.
            cheapest = min(forest.broke_at for forest in forests)
            raise BudgetError(
                f"no forest fits budget={self.budget:g}: the first tree alone costs "
                f"{cheapest:g} on average on the validation data. Raise the budget to at least "
                "that, or try larger alphas.",
                cheapest,
            )
        # With a `scoring` to call, and one forest, there is nothing to compare.
        if len(affordable) == 1:
            return affordable[0]
        if self.scoring is None:
            return min(affordable, key=lambda forest: (forest.loss, forest.costs[-1]))
        return max(affordable, key=lambda forest: (self._scored(forest, valid), -forest.costs[-1]))

    def _scored(self, forest, valid):
        """Return the `scoring` of a forest on validation data."""
        self._set_trees(forest.trees, forest.refitted)
        last = [self.n_stages_ - 1]
        stage = next(iter(self._stages(valid.X, last, {"output", "probabilities"})))
        return score_outcome(self, self.scoring, stage, valid.targets)

    def _set_trees(self, trees, prefixes=()):
        super()._set_trees(trees)
        self._refitted = prefixes
        if prefixes:
            self._predictor = prefixes[-1].predictor
        self.penalties_ = [prefix.penalty for prefix in prefixes]

    @property
    def n_stages_(self):
        """Number of operating points: prefixes of the forest."""
        return len(self._refitted) or super().n_stages_

    @property
    def _vote_kind(self):
        return "values" if self._refitted else super()._vote_kind

    @property
    def _incremental(self):
        return not self._refitted

    def _model(self, index):
        if not self._refitted:
            return super()._model(index)
        return self._refitted[index].predictor, self._refitted[index].n_trees

    def _walks(self, X, which, parts):
        if not self._refitted:
            yield from super()._walks(X, which, parts)
            return
        # Each stage has leaf values of its own: no walk goes on from the one before.
        for index in which:
            yield index, self._model(index)[0].walk(X, **parts)

    def _shares(self, scores, n_trees):
        if not self._refitted:
            return super()._shares(scores, n_trees)
        return softmax(scores / n_trees, axis=1)


def listed(value, name, high=np.inf, low_open=False):
    """Return a parameter that may be a number or a list of numbers as a list, checked."""
    values = np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    if not values:
        raise ParameterError(f"{name} must be a number or a list of numbers, got an empty list.")
    for each in values:
        check_number(each, name, low=0, high=high, low_open=low_open, high_open=high == np.inf)
    return values
