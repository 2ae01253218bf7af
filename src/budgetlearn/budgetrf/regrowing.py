"""Forests that grow without prices on sets of features that budgeted forests find."""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ..counting import count_fit
from ..parallel import thread_map
from ..tree.predictor import LEAF, ForestPredictor
from ..validation import INT32_MAX
from .growing import prefix_sizes

# A set has the features that more than such a share of the training examples acquire.
LEAST_SHARES = (0.02, 0.5)
# The share of its features that each step of the elimination leaves out.
LEFT_OUT = 0.2
# Least examples in a leaf: of two forests on a set the one stays that does better out of bag.
LEAF_SIZES = (1, 5)


@dataclass
class RegrownForest:
    """A forest on a set of features, grown as if they were free."""

    features: np.ndarray  # ascending
    predictor: ForestPredictor
    # (n_judged, n_values): the mean of the trees that left an example out.
    out_of_bag: np.ndarray | None
    loss: float  # mean squared error of that

    @property
    def n_trees(self):
        """Number of trees, which all count in its predictions."""
        return self.predictor.n_trees

    @property
    def n_nodes(self):
        """Number of nodes of all trees."""
        return sum(tree.node_count for tree in self.predictor.trees)


def found_sets(trees, X, n_jobs=None):
    """Yield the features that many of the examples acquire, for each prefix of a forest."""
    sizes = set(prefix_sizes(len(trees)))
    walks = ForestPredictor(trees, X.shape[1]).staged_walk(X, acquired=True, n_jobs=n_jobs)
    for n_trees, walk in enumerate(walks, start=1):
        if n_trees in sizes:
            shares = walk.acquired.mean(axis=0)
            yield from (np.flatnonzero(shares > least) for least in LEAST_SHARES)


def means(tree):
    """Return the means of a tree's nodes: class shares, of numbers the values as they are."""
    counts = tree.value
    return counts / counts.sum(axis=1, keepdims=True) if counts.shape[1] > 1 else counts


def drops(trees, n_features):
    """Return by how much each feature lowers the impurity, summed over trees.

    That is Gini's of class counts, and the variance of numbers, in both the squared distance
    between the means of the sides, times their sizes over the node's.
    """
    total = np.zeros(n_features)
    for tree in trees:
        inner = ~tree.is_leaf
        left, right = tree.children_left[inner], tree.children_right[inner]
        mean, size = means(tree), tree.n_node_samples.astype(np.float64)
        apart = ((mean[left] - mean[right]) ** 2).sum(axis=1)
        drop = apart * size[left] * size[right] / size[inner]
        total += np.bincount(tree.feature[inner], drop, minlength=n_features)
    return total


class Regrowth:
    """Grows forests of `n_trees` on the features of a set as if they were free.

    Trees grow as those of `source` by `rule`, but for prices, depth, the least size of a leaf, and
    √p of the p features drawn at each node. All forests have the same seeds, which follow from
    `seed`, and so leave out the same examples.
    """

    def __init__(self, source, rule, n_trees, seed):
        self.source, self.drops = source, {}
        self.seeds = np.random.RandomState(seed).randint(INT32_MAX, size=n_trees).tolist()
        self.rule = replace(rule, ties="random", max_depth=None, reuse_discount=1, cost_exponent=1)
        self.left_out = np.array([source.draw(seed) == 0 for seed in self.seeds])
        self.judged = self.left_out.any(axis=0)  # the examples that some tree left out
        self.left_out = self.left_out[:, self.judged]
        self.rows, y = source.examples.X[self.judged], source.examples.y[self.judged]
        self.target = np.eye(source.n_classes)[y] if source.n_classes > 1 else y[:, None]

    def forests(self, sets, prices, exponents):
        """Yield a forest for each set that an elimination comes by, and for each of `sets`."""
        for exponent in exponents:
            yield from self._eliminating(prices, exponent)
        for features in sets:
            if features.size and tuple(features.tolist()) not in self.drops:
                yield self.on(features)

    def _eliminating(self, prices, exponent):
        """Yield the forests on fewer and fewer features, the first on all, that are new.

        A fifth of them is left out from one to the next: those with the least drop in impurity over
        price to the power `exponent`. What is free stays.
        """
        features = np.arange(prices.size)
        while True:
            if tuple(features.tolist()) not in self.drops:
                yield self.on(features)
            paid = np.flatnonzero(prices[features] > 0)
            n_left_out = min(max(1, round(LEFT_OUT * features.size)), features.size - 1)
            if not paid.size or not n_left_out:
                return
            left = features[paid]
            worth = self.drops[tuple(features.tolist())][left] / prices[left] ** exponent
            features = np.delete(features, paid[np.argsort(worth, kind="stable")[:n_left_out]])

    def on(self, features):
        """Return the forest on some features, and note what each of them contributes."""
        grown = [self._grown(features, size) for size in LEAF_SIZES]
        best = min(grown, key=lambda forest: forest.loss)
        trees = best.predictor.trees
        self.drops[tuple(features.tolist())] = drops(trees, self.source.data.n_features)
        return best

    def _grown(self, features, leaf_size):
        count_fit()
        source = copy(self.source)
        n_features, source.data = source.data.n_features, source.data.take(features)
        drawn = round(features.size**0.5)
        rule = replace(self.rule, max_features=drawn, min_samples_leaf=leaf_size)

        def grown(seed):
            tree = source._tree(source.draw(seed), rule, np.ones(features.size), seed)
            tested = np.where(tree.is_leaf, LEAF, features[tree.feature])
            return replace(tree, feature=tested)

        trees = thread_map(grown, self.seeds, source.n_jobs)
        # Each tree counts the same in the mean, whatever its leaves weigh.
        predictor = ForestPredictor(trees, n_features, shares=source.n_classes > 1)
        out_of_bag = self._out_of_bag(predictor)
        loss = ((out_of_bag - self.target) ** 2).sum(axis=1).mean()
        return RegrownForest(features, predictor, out_of_bag, loss)

    def _out_of_bag(self, predictor):
        leaves = predictor.walk(self.rows, leaves=True, n_jobs=self.source.n_jobs).leaves
        total = np.zeros(self.target.shape)
        for tree, at, rows in zip(predictor.trees, leaves.T, self.left_out, strict=True):
            total[rows] += means(tree)[at[rows]]
        return total / self.left_out.sum(axis=0)[:, None]
