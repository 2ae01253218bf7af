"""Fitting all leaves of BudgetRF's trees together, by logistic or ridge regression."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from ..forests.base import leaf_values
from ..tree.predictor import ForestPredictor

# Added to each class count of a node before taking shares or their logarithms.
PRIOR = 0.5
# Penalties of the squared changes of the leaves' log-odds, in units of an example's log-loss.
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)
# Ratio of the numbers of trees in consecutive refitted prefixes.
RATIO = np.sqrt(2)
MOST_STEPS = 200


@dataclass
class RefittedPrefix:
    """The first trees of a forest with their own leaf values."""

    penalty: float  # of the leaf values
    # The mean over its trees is the prediction: log-odds of classes, or numbers.
    predictor: ForestPredictor
    loss: float | None = None  # mean loss on the validation data that chose the penalty


def prefix_sizes(n_trees):
    """Return the numbers of trees of the prefixes: 1, 2, 3, 4, 6, 8, 11, 16, ..., n_trees."""
    n_steps = int(np.ceil(np.log(n_trees) / np.log(RATIO)))
    return sorted({min(round(RATIO**step), n_trees) for step in range(n_steps + 1)})


class LeafTable:
    """The leaves that examples reach, numbered consecutively over the trees of a forest."""

    def __init__(self, trees, X, n_jobs):
        self.starts = np.cumsum([0, *(np.count_nonzero(tree.is_leaf) for tree in trees)])
        number = [np.cumsum(tree.is_leaf) - 1 for tree in trees]
        walk = ForestPredictor(trees, X.shape[1]).walk(X, leaves=True, n_jobs=n_jobs)
        # In place, as the array of leaves is the largest of a refit.
        for index, leaves in enumerate(walk.leaves.T):
            leaves[:] = number[index][leaves] + self.starts[index]
        self.leaves = walk.leaves

    def indicator(self, n_trees):
        """Return the 0/1 matrix (n_samples, leaves of the first trees) of reached leaves."""
        n, places = len(self.leaves), np.ascontiguousarray(self.leaves[:, :n_trees]).ravel()
        # Each row reaches one leaf of each tree, so no sorting or counting is needed.
        rows = np.arange(0, n * n_trees + 1, n_trees)
        shape = n, self.starts[n_trees]
        return csr_matrix((np.ones(places.size), places, rows), shape=shape)


class LeafRefit:
    """Fits the values of all leaves of a prefix together, with a penalty on their change.

    A subclass has the `objective` of the sums over leaves, with its gradient, and the mean `loss`
    on other examples, which chooses the penalty.
    """

    scale = 1.0  # losses and penalties are divided by it

    def __init__(self, trees, train, start, n_jobs):
        self.trees, self.n_features, self.n_jobs = trees, train.X.shape[1], n_jobs
        self.table, self.start = LeafTable(trees, train.X, n_jobs), start
        self.weight = train.weights

    def chosen(self, penalties, valid):
        """Return each `RefittedPrefix` with the best penalty on validation data.

        `valid` may be None if there is a single penalty.
        """
        held = None if valid is None else LeafTable(self.trees, valid.X, self.n_jobs)
        prefixes = []
        for n_trees in prefix_sizes(len(self.trees)):
            Z = None if held is None else held.indicator(n_trees)
            least = chosen = None
            for penalty, values in self._path(n_trees, sorted(penalties, reverse=True)):
                loss = None if held is None else self.loss(Z @ values, valid.y)
                if chosen is None or loss < least:
                    least, chosen = loss, (penalty, values)
            prefixes.append(self._prefix(n_trees, *chosen, least))
        return prefixes

    def again(self, prefixes):
        """Return prefixes of the same sizes and penalties, for sizes that the forest has."""
        again = []
        for prefix in prefixes:
            if (n_trees := prefix.predictor.n_trees) <= len(self.trees):
                ((penalty, values),) = self._path(n_trees, [prefix.penalty])
                again.append(self._prefix(n_trees, penalty, values))
        return again

    def _path(self, n_trees, penalties):
        """Yield each penalty, and the values of the leaves, of shape (n_leaves, n_classes)."""
        Z = self.table.indicator(n_trees)
        across = Z.T.tocsr()
        start = self.start[: Z.shape[1]] / n_trees
        change = np.zeros_like(start)
        for penalty in penalties:
            change = self._fitted(Z, across, start, change, penalty)
            yield penalty, start + change

    def _fitted(self, Z, across, start, change, penalty):
        """Return the best change for one penalty, with the given one as starting point."""
        base = Z @ start
        # In these units all leaves have about the same curvature, whatever their size. A quarter is
        # the largest curvature of an example's log-loss.
        unit = self.scale**0.5 / np.sqrt(across @ self.weight[:, None] / 4 + penalty)

        def objective(flat):
            step = unit * flat.reshape(start.shape)
            loss, slope = self.objective(base + Z @ step)
            shrunk = penalty * step / self.scale
            loss += (shrunk * step).sum() / 2
            return loss, (unit * (across @ slope + shrunk)).ravel()

        start_from, options = (change / unit).ravel(), {"maxiter": MOST_STEPS, "ftol": 1e-7}
        found = minimize(objective, start_from, jac=True, method="L-BFGS-B", options=options)
        return unit * found.x.reshape(start.shape)

    def _prefix(self, n_trees, penalty, values, loss=None):
        """Return the prefix with these leaf values times `n_trees`, as it averages its trees."""
        trees, starts = [], self.table.starts
        for index, tree in enumerate(self.trees[:n_trees]):
            value = np.zeros((tree.node_count, values.shape[1]))
            value[tree.is_leaf] = n_trees * values[starts[index] : starts[index + 1]]
            trees.append(replace(tree, value=value))
        return RefittedPrefix(penalty, ForestPredictor(trees, self.n_features), loss)


class LogisticRefit(LeafRefit):
    """Logistic regression of the classes on the leaves, starting from the log-odds of counts."""

    def __init__(self, trees, train, n_jobs):
        logs = np.log(leaf_values(trees) + PRIOR)
        # An infinite penalty gives the geometric mean of the trees' probabilities.
        super().__init__(trees, train, logs - logs.mean(axis=1, keepdims=True), n_jobs)
        self.target = np.eye(logs.shape[1])[train.y]

    def objective(self, scores):
        """Return the log-loss and its gradient."""
        logs = log_softmax(scores, axis=1)
        slope = self.weight[:, None] * (np.exp(logs) - self.target)
        return -self.weight @ (self.target * logs).sum(axis=1), slope

    def loss(self, scores, targets):
        """Return the mean log-loss of the examples of known classes."""
        known = np.flatnonzero(targets >= 0)
        logs = log_softmax(scores[known], axis=1)
        return float(-logs[np.arange(known.size), targets[known]].mean())


class RidgeRefit(LeafRefit):
    """Ridge regression of the targets on the leaves, starting from the trees' values."""

    def __init__(self, trees, train, n_jobs):
        super().__init__(trees, train, leaf_values(trees), n_jobs)
        self.target = train.y[:, None]
        centred = train.y - np.average(train.y, weights=self.weight)
        self.scale = np.average(centred**2, weights=self.weight) or 1.0

    def objective(self, scores):
        """Return half of the squared error and its gradient, in units of the targets' variance."""
        miss = self.weight[:, None] * (scores - self.target) / self.scale
        return (miss * (scores - self.target)).sum() / 2, miss

    def loss(self, scores, targets):
        """Return the mean squared error."""
        return float(((scores[:, 0] - targets) ** 2).mean())
