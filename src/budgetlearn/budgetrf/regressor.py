"""BudgetRF for numbers: a forest of regression trees under a feature budget."""

from dataclasses import replace

import numpy as np

from ..forests.base import ForestRegressor
from ..forests.leaf_refit import RidgeRefit
from ..protocol.documenting import documented
from ..tree.growth import grow_tree
from ..tree.impurity import Variance
from ..validation import ParameterError
from .forest import GrownOnBudget
from .growing import TreeSource
from .parameters import Growth, Leaves


class RegressionTreeSource(TreeSource):
    """Grows trees whose splits lower the variance of the target.

    Targets and weights are divided by powers of two, which changes no digit: so the forest depends
    on the unit of neither.
    """

    def __init__(self, data, examples, feature_costs, draw, n_jobs):
        super().__init__(data, examples, 1, feature_costs=feature_costs, draw=draw, n_jobs=n_jobs)
        # Powers of two: division changes the exponent alone, so that no digit is lost.
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


@documented
class BudgetRFRegressor(GrownOnBudget, ForestRegressor):
    """Forest of regression trees under a budget of feature acquisition.

    `BudgetRFClassifier` for numbers: trees grow by risk = cost of a feature / drop in variance, and
    join the forest while predictions on validation data cost at most `budget` on average. Missing
    values (NaN) are taken as in `BudgetRFClassifier`.

    Attributes
    ----------
    trees_ : list of Tree
        Node values are means of the target.
    oob_prediction_ : ndarray of shape (n_samples,)
        Their predictions; NaN for an example that no tree left out.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.
    """

    def _judged(self, setting):
        of_classes = (self._growth.impurity, self._growth.split, self._leaves.voting)
        if of_classes != (Growth.impurity, Growth.split, Leaves.voting):
            raise ParameterError(
                "growth.impurity, growth.split and leaves.voting are of classes: leave them as "
                f"they are in regression, got {self._growth!r} and {self._leaves!r}."
            )
        # Variance is not monotone: its worse side has no bound by which to skip thresholds.
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
