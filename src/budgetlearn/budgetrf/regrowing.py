"""Forests regrown on sets of features as if these were free, chosen out of bag."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..fit_counts import count_fit
from ..forests.base import gini_importance, variance_importance
from ..parallel import thread_map
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX
from .leaf_refit import prefix_sizes

# A set has the features that more than such a share of the training examples acquire.
LEAST_SHARES = (0.02, 0.5)
# The share of its features that each step of the elimination leaves out.
LEFT_OUT = 0.2
# Least examples in a leaf, tried in this order for as long as the loss out of bag falls: on one or
# two features deep trees are noise.
LEAF_SIZES = (1, 5, 15, 40)
# Sets are found and judged on so many rows, and by so many trees, at most.
MOST_ROWS, FIRST_TREES = 1000, 30
# All trees grow on the sets whose first ones score no worse than those of any set that costs as
# little, less so many standard errors of the score.
SLACK = 0.5


def judging_rows(n_samples, seed):
    """Return the rows that sets of features are found and judged on, ascending; None: all."""
    if n_samples <= MOST_ROWS:
        return None
    return np.sort(np.random.RandomState(seed).permutation(n_samples)[:MOST_ROWS])


@dataclass
class RegrownForest:
    """A forest on a set of features, grown as if they were free."""

    features: np.ndarray  # ascending
    leaf_size: int
    predictor: ForestPredictor
    # (n_judged, n_values): for each example the sum over the trees that left it out.
    sums: np.ndarray | None = None
    loss: float = np.inf  # mean squared error of the means of these


def found_sets(trees, examples, n_jobs=None):
    """Yield the features that many of the examples acquire, for each prefix of a forest."""
    X, sizes = examples.X, set(prefix_sizes(len(trees)))
    walks = ForestPredictor(trees, X.shape[1]).staged_walk(X, acquired=True, n_jobs=n_jobs)
    for n_trees, walk in enumerate(walks, start=1):
        if n_trees in sizes:
            shares = np.average(walk.acquired, axis=0, weights=examples.weight)
            yield from (np.flatnonzero(shares > least) for least in LEAST_SHARES)


def drops(trees, n_features):
    """Return by how much each feature lowers the impurity, summed over trees.

    That is Gini's of class counts, and the variance of numbers, in both the squared distance
    between the means of the sides, times their sizes over the node's.
    """
    total = np.zeros(n_features)
    for tree in trees:
        inner = ~tree.is_leaf
        left, right = tree.children_left[inner], tree.children_right[inner]
        mean, size = tree.value, tree.n_node_samples.astype(np.float64)
        mean = mean / (mean.sum(axis=1, keepdims=True) if mean.shape[1] > 1 else 1.0)
        apart = ((mean[left] - mean[right]) ** 2).sum(axis=1)
        drop = apart * size[left] * size[right] / size[inner]
        total += np.bincount(tree.feature[inner], drop, minlength=n_features)
    return total


def near_front(points):
    """Return the points that none of as little cost beats by the slack, cheap to expensive."""
    order = np.lexsort((-points["score"], points["cost"]))
    score, error = (np.asarray(points[name])[order] for name in ("score", "score_se"))
    return order[score >= np.maximum.accumulate(score) - SLACK * np.nan_to_num(error)]


class Regrowth:
    """Grows forests of `n_trees` on the features of a set as if they were free.

    Trees grow as those of `source` by `rule`, but for prices, depth, the least size of a leaf, and
    √p of the p features drawn at each node. All forests have the same seeds, which follow from
    `seed`, and so leave out the same examples.
    """

    def __init__(self, source, rule, n_trees, seed):
        self.source, self.n_first = source, min(FIRST_TREES, n_trees)
        self.seeds = np.random.RandomState(seed).randint(INT32_MAX, size=n_trees).tolist()
        self.rule = replace(rule, ties="random", max_depth=None, reuse_discount=1, cost_exponent=1)
        self.left_out = np.array([source.draw(seed) == 0 for seed in self.seeds])
        # The examples that some of the first trees left out.
        self.judged = self.left_out[: self.n_first].any(axis=0)
        self.left_out = self.left_out[:, self.judged]
        examples = source.examples.take(self.judged)
        self.rows, self.weight, y = examples.X, examples.weight, examples.y
        self.target = np.eye(source.n_classes)[y] if source.n_classes > 1 else y[:, None]

    def begun(self, features):
        """Return the forest of the first trees on some features, with leaves of the best size."""
        best = None
        for leaf_size in LEAF_SIZES:
            forest = self._grown(features, leaf_size, self.n_first)
            if best is not None and forest.loss >= best.loss:
                break
            best = forest
        return best

    def finished(self, forest, goes_on):
        """Return the forest of all trees; if it `goes_on`, the trees that it has are the first."""
        known = forest if goes_on else None
        return self._grown(forest.features, forest.leaf_size, len(self.seeds), known)

    def drops(self, forest):
        """Return by how much each feature lowers the impurity in a forest."""
        source, how = self.source, drops
        if source.examples.weight is not None:  # nodes are as large as their rows weigh
            how = gini_importance if source.n_classes > 1 else variance_importance
        return how(forest.predictor.trees, source.data.n_features)

    def out_of_bag(self, forest):
        """Return the out-of-bag predictions of the judged examples, (n_judged, n_values)."""
        return forest.sums / self.left_out[: forest.predictor.n_trees].sum(axis=0)[:, None]

    def _grown(self, features, leaf_size, n_trees, known=None):
        count_fit()
        trees = [] if known is None else list(known.predictor.trees)
        n_known, source = len(trees), self.source
        drawn = round(features.size**0.5)
        rule = replace(self.rule, max_features=drawn, min_samples_leaf=leaf_size)
        # Prices by a risk, which changes none.
        grown = partial(source.tree, source.grower(rule, features), np.ones(features.size))
        trees += thread_map(grown, self.seeds[n_known:n_trees], source.n_jobs)
        # Each tree counts the same in the mean, whatever its leaves weigh.
        predictor = ForestPredictor(trees, source.data.n_features, shares=source.n_classes > 1)
        forest = RegrownForest(features, leaf_size, predictor)
        # Each example adds up the trees that left it out.
        new = {"trees": (n_known, n_trees), "counts": self.left_out[n_known:n_trees]}
        walk = predictor.walk(self.rows, values=True, n_jobs=source.n_jobs, **new)
        forest.sums = walk.values + (0 if known is None else known.sums)
        losses = ((self.out_of_bag(forest) - self.target) ** 2).sum(axis=1)
        forest.loss = np.average(losses, weights=self.weight)
        return forest


def first_forests(regrowth, prices, sets, exponents):
    """Yield the first trees on each set of features that an elimination comes by, and of `sets`.

    An elimination starts from all features. A fifth is left out from one set to the next: those
    with the least drop in impurity over price to one of the powers `exponents`. Free ones stay.
    """
    drops = {}  # of the sets so far: none is grown on twice

    def new(features):
        key = tuple(features.tolist())
        if key not in drops:
            forest = regrowth.begun(features)
            drops[key] = regrowth.drops(forest)
            yield forest

    for exponent in exponents:
        features, n_left_out = np.arange(prices.size), 1
        while n_left_out:
            yield from new(features)
            paid = np.flatnonzero(prices[features] > 0)
            n_left_out = min(max(1, round(LEFT_OUT * features.size)), features.size - 1, paid.size)
            left = features[paid]
            worth = drops[tuple(features.tolist())][left] / prices[left] ** exponent
            features = np.delete(features, paid[np.argsort(worth, kind="stable")[:n_left_out]])
    for features in filter(np.size, sets):
        yield from new(features)
