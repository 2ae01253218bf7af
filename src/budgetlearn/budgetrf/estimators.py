"""BudgetRF: random forests whose predictions cost at most a budget on average."""

from typing import Any

import numpy as np

from ..forests.base import ForestClassifier, ForestRegressor
from ..protocol.documenting import documented, estimator_class
from ..tree import impurity as kinds
from ..validation import ParameterError, check_choice
from .forest import GrownOnBudget, Growth, Leaves, listed
from .growing import LogisticRefit, NumberTreeSource, RidgeRefit, TreeSource

IMPURITIES = {
    "powers": kinds.Powers,
    "polynomial": kinds.Polynomial,
    "gini": kinds.Gini,
    "entropy": kinds.Entropy,
}


@estimator_class
class BudgetRFClassifier(GrownOnBudget, ForestClassifier):
    """Random forest under a budget of feature acquisition (Nan, Wang and Saligrama 2015).

    Trees grow greedily by risk = cost of a feature / drop in impurity, and join the forest while
    predictions on validation data cost at most `budget` on average. A prediction pays each feature
    once, however many trees look at it. Missing values (NaN) go to the better side of each split;
    only features that lack some in training may lack them in prediction.

    Parameters
    ----------
    alpha : float or list of float, default=0.0
        Threshold of `"threshold_pairs"`: the larger, the smaller and cheaper the trees. Of a list
        the value with the least validation error within the budget is used (the paper's list is
        0, 2, 4, 6, 8, 10, 15, 25, 35, 45).

    Attributes
    ----------
    alpha_ : float
        The threshold in use.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Class shares of the examples that trees grew on; NaN where no tree left one out.

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

    _source = TreeSource

    @property
    def _voting(self):
        return self._leaves.voting

    @property
    def _in_shares(self):
        return bool(self._replacing and not self.penalties_) or super()._in_shares

    def _judged(self, setting):
        split = check_choice(self._growth.split, "growth.split", ("minimax", "expected"))
        check_choice(self._voting, "leaves.voting", ("majority", "counts"))
        return {"impurity": self._impurity(setting["alpha"], split), "split": split}

    def _leaf_refit(self, forest, examples):
        return LogisticRefit(forest.trees, examples, self.classes_.size, self.n_jobs)

    def _error(self, scores, n_trees, labels):
        # A class that training lacks is -1 here, and so an error whatever is predicted.
        return float((scores.argmax(axis=1) != labels).mean())

    def _lists(self):
        alphas, impurity = listed(self.alpha, "alpha"), self._growth.impurity
        # A list that changes nothing would grow the same forest again and again.
        if impurity != "threshold_pairs" and alphas != [0]:
            raise ParameterError(
                f"alpha belongs to the impurity 'threshold_pairs'; leave it at 0 with {impurity!r}."
            )
        # Settings are tried in this order: of equals the first one is taken.
        return {"alpha": alphas, **super()._lists()}

    def _impurity(self, alpha, split):
        impurity = named = self._growth.impurity
        if not isinstance(named, kinds.ImpurityFunction):
            check_choice(named, "growth.impurity", ("threshold_pairs", *IMPURITIES))
            kind = IMPURITIES.get(named)
            impurity = kinds.ThresholdPairs(alpha) if kind is None else kind()
        # Theorem 2.2, on the greatest cost, needs it, and so do the kernel's bounds of thresholds.
        if split == "minimax" and not impurity.admissible:
            raise ParameterError(
                "split='minimax' needs an admissible impurity (a part is never more impure than "
                f"the whole); use split='expected' with {named!r}."
            )
        return impurity


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
        Predictions of the examples that trees grew on; NaN where no tree left one out.
    """

    _source = NumberTreeSource

    def _judged(self, setting):
        of_classes = (self._growth.impurity, self._growth.split, self._leaves.voting)
        if of_classes != (Growth.impurity, Growth.split, Leaves.voting):
            raise ParameterError(
                "growth.impurity, growth.split and leaves.voting are of classes: leave them as "
                f"they are in regression, got {self._growth!r} and {self._leaves!r}."
            )
        # Variance is not monotone: its worse side has no bound by which to skip thresholds.
        return {"impurity": kinds.Variance(), "split": "expected"}

    def _leaf_refit(self, forest, examples):
        return RidgeRefit(forest.trees, examples, self.n_jobs)

    def _error(self, scores, n_trees, targets):
        return float(np.mean((scores[:, 0] / n_trees - targets) ** 2))
