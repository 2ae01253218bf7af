"""Algorithm 1 of BudgetRF: add trees until the average validation cost exceeds the budget."""

from dataclasses import dataclass, field

import numpy as np

from .._counting import count_fit
from ..costs import affords
from ..tree.predictor import ForestPredictor


@dataclass
class BudgetedForest:
    """The trees that fit a budget, and how each prefix of them did on validation data.

    Attributes
    ----------
    setting : dict
        What they were grown with, of what is chosen on validation data.
    trees : list of Tree
        In the order of growth.
    costs : list of float
        Mean acquisition cost on the validation data of the first tree, the first two, ...
    errors : list of float
        Validation errors of the same prefixes.
    broke_at : float or None
        Cost with the tree that broke the budget and was dropped; None if none did.
    refitted : list of RefittedPrefix
        Prefixes whose leaves were fitted together; empty where that was not asked for.
    """

    setting: dict
    trees: list = field(default_factory=list)
    costs: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    broke_at: float | None = None
    refitted: list = field(default_factory=list)

    @property
    def loss(self):
        """Validation error of the whole forest; of refitted leaves what they were fitted by."""
        return self.refitted[-1].loss if self.refitted else self.errors[-1]


class Validation:
    """Running cost and error of a growing forest on validation data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Validation examples.
    feature_costs : FeatureCosts
        Prices.
    ballot : {"votes", "values"}
        What the trees add up to.
    error : callable
        Takes those sums, of shape (n_samples, n_values), and the number of trees; returns the
        error.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, X, feature_costs, ballot, error, n_jobs):
        self.X, self.feature_costs, self.ballot, self.error = X, feature_costs, ballot, error
        self.n_jobs = n_jobs
        self.restart()

    def restart(self):
        """Begin a new forest."""
        self._acquired = np.zeros(self.X.shape, dtype=bool)
        self._scores, self._n_trees = 0, 0

    def add(self, tree):
        """Return mean cost and error of the forest with one more tree."""
        predictor = ForestPredictor([tree], self.X.shape[1])
        walk = predictor.walk(self.X, acquired=True, **{self.ballot: True}, n_jobs=self.n_jobs)
        self._acquired |= walk.acquired
        self._scores, self._n_trees = self._scores + getattr(walk, self.ballot), self._n_trees + 1
        cost = self.feature_costs.total(self._acquired).mean()
        return float(cost), self.error(self._scores, self._n_trees)


def grow_within_budget(setting, trees, validation, budget, report):
    """Take trees while the mean validation cost stays within the budget.

    Parameters
    ----------
    setting : dict
        Noted in the result.
    trees : iterable of Tree
        Grown as they are asked for.
    validation : Validation or None
        None: there is no budget to keep, take all.
    budget : float or None
        Most that predictions may cost on average; None: take all.
    report : callable
        Called with each `BudgetedForest` prefix, for progress.

    Returns
    -------
    BudgetedForest
    """
    count_fit()
    forest = BudgetedForest(setting)
    if validation is not None:
        validation.restart()
    for tree in trees:
        if validation is not None:
            cost, error = validation.add(tree)
            if budget is not None and not affords(budget, cost):
                forest.broke_at = cost
                break
            forest.costs.append(cost)
            forest.errors.append(error)
        forest.trees.append(tree)
        report(forest)
    return forest
