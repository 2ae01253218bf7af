"""What forests that grow under a budget share, whatever they predict."""

from dataclasses import replace
from itertools import product

import numpy as np

from .._parallel import progress
from .._validation import ParameterError, check_number
from ..base.operating_points import score_outcome
from ..exceptions import BudgetError
from ..tree.binning import bin_features
from .budget_growing import TreeSource
from .budget_loop import Validation, grow_within_budget
from .leaf_refit import PENALTIES, LeafRefit
from .pruning import WEIGHTS
from .refitted import RefittedForest


class GrownOnBudget(RefittedForest):
    """Mixin, named before the forest, of forests that take trees while the budget allows.

    A subclass has the parameters of `BudgetRFClassifier` that are used here, and `_rules`.
    """

    _groups = True

    def __sklearn_tags__(self):
        return replace(super().__sklearn_tags__(), chooses_on_validation=self._chooses())

    def _chooses(self):
        """Return whether validation data have anything to choose."""
        lists = self.alpha, self.cost_exponent, self.prune, self.refit_leaves
        several = any(np.size(values) > 1 or values is True for values in lists)
        return self.budget is not None or several

    def _needs_validation(self):
        return self._chooses()

    def _seeds(self, random):
        return self._tree_seeds(random), random

    def _fit(self, train, valid, seeds):
        rules, penalties = self._rules(train.X.shape[1]), self._penalties()
        validation = None
        if valid is not None:
            validation = Validation(valid.X, valid.y, self.feature_costs_, self.voting, self.n_jobs)
        forests = self._forests(train, rules, seeds, validation)
        for forest in forests:
            if penalties and forest.trees:
                forest.refitted = self._leaf_refit(forest, train).chosen(penalties, valid)
            self._report(forest, level=1)
        best = self._choose(forests, valid)
        self.alpha_, self.cost_exponent_, self.prune_ = best.setting.values()
        self.validation_costs_ = self.validation_errors_ = None
        if validation is not None:
            self.validation_costs_ = np.array(best.costs)
            self.validation_errors_ = np.array(best.errors)
        self._set_trees(best.trees, best.refitted)

    def _refit(self, examples, seeds):
        """Grow as many trees with the chosen setting on all examples, as far as the budget allows.

        The cost of the new trees is that of predicting the examples that they were grown on.
        """
        used = self.alpha_, self.cost_exponent_, self.prune_
        rules = [
            (setting, rule)
            for setting, rule in self._rules(examples.X.shape[1])
            if tuple(setting.values()) == used
        ]
        validation = Validation(
            examples.X, examples.y, self.feature_costs_, self.voting, self.n_jobs
        )
        forests = self._forests(examples, rules, seeds[: len(self.trees_)], validation)
        best = self._choose(forests, examples)
        if self._refitted:
            best.refitted = self._leaf_refit(best, examples).again(self._refitted)
            best.trees = best.trees[: best.refitted[-1].n_trees]
        self._set_trees(best.trees, best.refitted)
        self.operating_points_ = self.operating_points_.head(self.n_stages_)

    def _leaf_refit(self, forest, examples):
        return LeafRefit(forest.trees, examples, self.classes_.size, self.n_jobs)

    def _forests(self, examples, rules, seeds, validation):
        """Return the forest of each rule, grown while the budget allows."""
        source = TreeSource(
            bin_features(examples.X, self.max_bins, self.n_jobs),
            examples,
            self.classes_.size,
            self.feature_costs_,
            lambda seed: self._drawn(examples, seed),
            self.n_jobs,
        )
        return [
            grow_within_budget(
                setting,
                progress(source.trees(rule, seeds, setting["prune"]), "trees", len(seeds)),
                validation,
                self.budget,
                self._report,
            )
            for setting, rule in rules
        ]

    def _settings(self):
        """Return each combination of alpha, cost exponent and weight of pruning to try."""
        exponents = listed(self.cost_exponent, "cost_exponent", high=1)
        weights = self._weights()
        if weights != [None] and not self.bootstrap:
            raise ParameterError(
                "prune judges trees by the examples that they left out: set bootstrap=True."
            )
        return [
            {"alpha": alpha, "cost_exponent": exponent, "prune": weight}
            for alpha, exponent, weight in product(self._alphas(), exponents, weights)
        ]

    def _weights(self):
        """Return the weights of pruning to try, None where trees stay as they grew."""
        if self.prune is False:
            return [None]
        return WEIGHTS if self.prune is True else listed(self.prune, "prune")

    def _penalties(self):
        """Return the penalties of leaf values to try; none: leaves stay as they grew."""
        if self.refit_leaves is False:
            return []
        whole = self.refit_leaves is True
        return PENALTIES if whole else listed(self.refit_leaves, "refit_leaves", low_open=True)

    def _choose(self, forests, valid):
        """Return the forest with the best validation score; of equals the cheaper one."""
        affordable = [forest for forest in forests if forest.trees]
        if not affordable:
            cheapest = min(forest.broke_at for forest in forests)
            raise BudgetError(
                f"no forest fits budget={self.budget:g}: the first tree alone costs "
                f"{cheapest:g} on average on the validation data. Raise the budget to at least "
                "that, or try larger alphas.",
                cheapest,
            )
        if len(affordable) == 1:
            return affordable[0]
        if self.scoring is None:
            return min(affordable, key=lambda forest: (forest.error, forest.costs[-1]))
        return max(affordable, key=lambda forest: (self._scored(forest, valid), -forest.costs[-1]))

    def _scored(self, forest, valid):
        """Return what `scoring` gives a forest on validation data."""
        self._set_trees(forest.trees, forest.refitted)
        last = [self.n_stages_ - 1]
        stage = next(iter(self._stages(valid.X, last, {"output", "probabilities"})))
        return score_outcome(self, self.scoring, stage, valid.targets)

    def _report(self, forest, level=2):
        """Print how far a forest has come, from the given verbosity on."""
        if self.verbose >= level:
            n_trees = f"{len(forest.trees)} of {self.n_estimators} trees"
            used = {name: value for name, value in forest.setting.items() if value is not None}
            setting = ", ".join(f"{name} {value:g}" for name, value in used.items())
            line = f"BudgetRF, {setting.replace('_', ' ')}: {n_trees}"
            if forest.costs:
                line += f", validation cost {forest.costs[-1]:.4g}, error {forest.error:.4f}"
            if forest.broke_at is not None:
                line += f"; one more would cost {forest.broke_at:.4g}"
            print(line, flush=True)


def listed(value, name, high=np.inf, low_open=False):
    """Return a parameter that may be a number or a list of numbers as a list, checked."""
    values = np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    if not values:
        raise ParameterError(f"{name} must be a number or a list of numbers, got an empty list.")
    for each in values:
        check_number(each, name, low=0, high=high, low_open=low_open, high_open=high == np.inf)
    return values
