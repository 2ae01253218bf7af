"""Leaf values of a forest fitted together, for prefixes of it that grow geometrically."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from ..tree.predictor import ForestPredictor

# Penalties of the squared changes of the leaves' log-odds, in units of an example's log-loss.
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)
# Added to each class count of a leaf before its logarithm is taken.
PRIOR = 0.5
# Each refitted prefix has about so many times the trees of the one before.
RATIO = np.sqrt(2)
MOST_STEPS = 200


@dataclass
class RefittedPrefix:
    """The first trees of a forest with leaf values of their own.

    Attributes
    ----------
    n_trees : int
        How many trees.
    penalty : float
        That their leaves were fitted with.
    predictor : ForestPredictor
        Their values add up to the log-odds of the classes.
    error : float or None
        On the validation data that chose the penalty.
    """

    n_trees: int
    penalty: float
    predictor: ForestPredictor
    error: float | None = None


def prefix_sizes(n_trees):
    """Return the numbers of trees of the prefixes: 1, 2, 3, 4, 6, 8, 11, 16, ..., n_trees."""
    n_steps = int(np.ceil(np.log(n_trees) / np.log(RATIO)))
    sizes = {min(round(RATIO**step), n_trees) for step in range(n_steps + 1)}
    return sorted(sizes)


class LeafTable:
    """Which leaves examples reach, numbered through the trees of a forest.

    Parameters
    ----------
    trees : list of Tree
        The forest; values are class counts.
    X : ndarray of shape (n_samples, n_features)
        Examples.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, trees, X, n_jobs):
        self.starts = np.cumsum([0, *(np.count_nonzero(tree.is_leaf) for tree in trees)])
        number = [np.cumsum(tree.is_leaf) - 1 for tree in trees]
        walk = ForestPredictor(trees, X.shape[1]).walk(X, leaves=True, n_jobs=n_jobs)
        for index, leaves in enumerate(walk.leaves.T):
            leaves[:] = number[index][leaves] + self.starts[index]
        self.leaves = walk.leaves

    def indicator(self, n_trees):
        """Return the matrix of (n_samples, leaves of the first trees): 1 where one is reached."""
        n, places = len(self.leaves), np.ascontiguousarray(self.leaves[:, :n_trees]).ravel()
        rows = np.arange(0, n * n_trees + 1, n_trees)
        shape = n, self.starts[n_trees]
        return csr_matrix((np.ones(places.size), places, rows), shape=shape)


class LeafRefit:
    """Fits the values of all leaves of a prefix together, by penalised logistic regression.

    What is penalised is the change from the log-odds of the leaf's class counts over the number of
    trees: with an infinite penalty the trees' probabilities are averaged geometrically.

    Parameters
    ----------
    trees : list of Tree
        The forest; values are class counts.
    train : Examples
        What to fit by.
    n_classes : int
        Number of classes.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, trees, train, n_classes, n_jobs):
        self.trees, self.n_features, self.n_jobs = trees, train.X.shape[1], n_jobs
        self.table = LeafTable(trees, train.X, n_jobs)
        weight = np.ones(len(train.y)) if train.weight is None else train.weight
        self.weight = weight / weight.mean()
        self.target = np.eye(n_classes)[train.y]
        counts = np.concatenate([tree.value[tree.is_leaf] for tree in trees]) / weight.mean()
        logs = np.log(counts + PRIOR)
        self.start = logs - logs.mean(axis=1, keepdims=True)

    def chosen(self, penalties, valid):
        """Return each prefix with the penalty that is best on validation data.

        Parameters
        ----------
        penalties : sequence of float
            To choose from.
        valid : Examples or None
            Needed for a choice.

        Returns
        -------
        list of RefittedPrefix
        """
        held = None if valid is None else LeafTable(self.trees, valid.X, self.n_jobs)
        prefixes = []
        for n_trees in prefix_sizes(len(self.trees)):
            path = self._path(n_trees, sorted(penalties, reverse=True))
            if held is None:
                prefixes.append(self._prefix(n_trees, *next(path)))
                continue
            Z, best = held.indicator(n_trees), None
            for penalty, values in path:
                error = float(((Z @ values).argmax(axis=1) != valid.y).mean())
                if best is None or error < best[0]:
                    best = error, penalty, values
            prefixes.append(self._prefix(n_trees, *best[1:], best[0]))
        return prefixes

    def again(self, prefixes):
        """Return prefixes of the same sizes and penalties, as far as there are trees."""
        return [
            self._prefix(prefix.n_trees, *next(self._path(prefix.n_trees, [prefix.penalty])))
            for prefix in prefixes
            if prefix.n_trees <= len(self.trees)
        ]

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
        """Return the change that is best for one penalty, searched from the given one."""
        base = Z @ start
        # Leaves differ in size: in these units all have about the same curvature.
        unit = 1 / np.sqrt(across @ self.weight[:, None] / 4 + penalty)

        def objective(flat):
            step = unit * flat.reshape(start.shape)
            logs = log_softmax(base + Z @ step, axis=1)
            loss = -self.weight @ (self.target * logs).sum(axis=1)
            slope = across @ (self.weight[:, None] * (np.exp(logs) - self.target))
            loss += penalty / 2 * (step**2).sum()
            return loss, (unit * (slope + penalty * step)).ravel()

        options = {"maxiter": MOST_STEPS, "ftol": 1e-7}
        found = minimize(
            objective, (change / unit).ravel(), jac=True, method="L-BFGS-B", options=options
        )
        return unit * found.x.reshape(start.shape)

    def _prefix(self, n_trees, penalty, values, error=None):
        trees, starts = [], self.table.starts
        for index, tree in enumerate(self.trees[:n_trees]):
            value = np.zeros(tree.value.shape)
            value[tree.is_leaf] = values[starts[index] : starts[index + 1]]
            trees.append(replace(tree, value=value))
        return RefittedPrefix(n_trees, penalty, ForestPredictor(trees, self.n_features), error)
