"""Regrowing forests on sets of features as if these were free, with out-of-bag choices."""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import log_softmax

from ..fit_counts import count_fit
from ..forests.base import gini_importance, variance_importance
from ..parallel import thread_map
from ..protocol.calibration import FLOOR, fit_temperature
from ..protocol.scoring import mean_and_error
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX
from .leaf_refit import prefix_sizes

# A set has the features that more than this share of the training examples acquire.
LEAST_SHARES = (0.02, 0.5)
# The share of features that each step of the elimination removes, in `confirmed_share` as well.
LEFT_OUT, LEFT_OUT_AGAIN = 0.2, 0.5
# Minimum leaf sizes, tried while the out-of-bag loss falls: deep trees on few features fit noise.
LEAF_SIZES = (1, 5, 15, 40)
# Limits on the rows and trees for finding and judging sets.
MOST_ROWS, FIRST_TREES = 1000, 30
# Sets are kept if no set of at most their cost scores better by this many standard errors.
SLACK = 0.5


def judging_rows(n_samples, seed):
    """Return the rows for finding and judging sets of features, ascending; None for all rows."""
    if n_samples <= MOST_ROWS:
        return None
    return np.sort(np.random.RandomState(seed).permutation(n_samples)[:MOST_ROWS])


@dataclass
class RegrownForest:
    """A forest on a set of features, grown as if they were free."""

    features: np.ndarray  # ascending
    leaf_size: int
    n_all: int  # the first trees try all thresholds, the others one random one of each feature
    predictor: ForestPredictor
    # (n_judged, n_values): the sum of each example's predictions over the trees that left it out.
    sums: np.ndarray | None = None
    loss: float = np.inf  # mean squared error of the out-of-bag predictions


def found_sets(trees, examples, n_jobs=None):
    """Yield sets of features that many examples acquire, for each of the `prefix_sizes`."""
    X, sizes = examples.X, set(prefix_sizes(len(trees)))
    walks = ForestPredictor(trees, X.shape[1]).staged_walk(X, acquired=True, n_jobs=n_jobs)
    for n_trees, walk in enumerate(walks, start=1):
        if n_trees in sizes:
            shares = np.average(walk.acquired, axis=0, weights=examples.weight)
            yield from (np.flatnonzero(shares > least) for least in LEAST_SHARES)


def drops(trees, n_features):
    """Return the decrease in impurity by each feature, summed over trees.

    The impurity is Gini's for class counts and the variance for numbers. In both cases the decrease
    is the squared distance between the means of the sides, times their sizes over the node's.
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
    """Return the indices of points that none of at most their cost beats by the slack, by cost."""
    order = np.lexsort((-points["score"], points["cost"]))
    score, error = (np.asarray(points[name])[order] for name in ("score", "score_se"))
    return order[score >= np.maximum.accumulate(score) - SLACK * np.nan_to_num(error)]


class Regrowth:
    """Grows forests of `n_trees` on the features of a set as if they were free.

    Trees grow like those of `source` by `rule`, except for prices, random ties, no limit of depth,
    their own minimum leaf size, and √p of the p features drawn at each node. Each place in a forest
    has its seed, so all forests leave out the same rows.
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
        """Return the forest of the first trees on these features, with the best leaf size."""
        best = None
        for leaf_size in LEAF_SIZES:
            trees = self._trees(features, leaf_size, self.seeds[: self.n_first])
            forest = self._forest(features, leaf_size, trees, len(trees))
            if best is not None and forest.loss >= best.loss:
                break
            best = forest
        return best

    def finished(self, forest):
        """Return the forest of all trees, of which those of `forest` are the first.

        The trees try all thresholds, or one random threshold of each feature like extremely
        randomised trees (Geurts, Ernst and Wehenkel 2006), or half of them each, whichever predicts
        best out of bag.
        """
        features, leaf_size, known = forest.features, forest.leaf_size, forest.predictor.trees
        n_trees = len(self.seeds)
        all_tried = known + self._trees(features, leaf_size, self.seeds[len(known) :])
        one_tried = self._trees(features, leaf_size, self.seeds, "one")
        forests = [
            self._forest(features, leaf_size, all_tried[:n_all] + one_tried[n_all:], n_all)
            for n_all in (n_trees, n_trees // 2, 0)
        ]
        return min(forests, key=self._loss)

    def again(self, forest):
        """Return the forest of the same kind, which another `Regrowth` finished."""
        features, leaf_size, n_all = forest.features, forest.leaf_size, forest.n_all
        trees = self._trees(features, leaf_size, self.seeds[:n_all])
        trees += self._trees(features, leaf_size, self.seeds[n_all:], "one")
        return self._forest(features, leaf_size, trees, n_all)

    def drops(self, forest):
        """Return the decrease in impurity by each feature in a forest."""
        source, how = self.source, drops
        if source.examples.weight is not None:  # node sizes are sums of weights
            how = gini_importance if source.n_classes > 1 else variance_importance
        return how(forest.predictor.trees, source.data.n_features)

    def out_of_bag(self, forest):
        """Return the out-of-bag predictions of the judged examples, (n_judged, n_values)."""
        return forest.sums / self.left_out[: forest.predictor.n_trees].sum(axis=0)[:, None]

    def losses(self, predictions):
        """Return the log loss of each judged example's calibrated shares, or the squared error."""
        if self.source.n_classes == 1:
            return ((predictions - self.target) ** 2)[:, 0]
        # Random thresholds make shares less extreme, but no less telling.
        labels = self.target.argmax(axis=1)
        temperature = fit_temperature(predictions, labels, self.weight)
        logs = log_softmax(np.log(np.maximum(predictions, FLOOR)) / temperature, axis=1)
        return -logs[np.arange(labels.size), labels]

    def of(self, rows):
        """Return a copy whose trees learn from some rows, and are judged by those as before."""
        other = copy(self)
        other.source = copy(self.source)

        def draw(seed):
            drawn = self.source.draw(seed) * rows
            return drawn if drawn.any() else 1.0 * rows  # of few rows, a sample may have none

        other.source.draw = draw
        return other

    def constant(self):
        """Return the class shares or the mean of the judged examples for each, like predictions."""
        mean = np.average(self.target, axis=0, weights=self.weight)
        return np.tile(mean, (len(self.target), 1))

    def _trees(self, features, leaf_size, seeds, thresholds="all"):
        source, drawn = self.source, round(features.size**0.5)
        changes = {"max_features": drawn, "min_samples_leaf": leaf_size, "thresholds": thresholds}
        grower = source.grower(replace(self.rule, **changes), features)
        # Equal prices, so the risk depends on impurity only.
        grown = partial(source.tree, grower, np.ones(features.size))
        return list(thread_map(grown, seeds, source.n_jobs))

    def _forest(self, features, leaf_size, trees, n_all):
        count_fit()
        source, left_out = self.source, self.left_out[: len(trees)]
        # Each tree has the same weight in the mean, whatever the weights of its leaves.
        predictor = ForestPredictor(trees, source.data.n_features, shares=source.n_classes > 1)
        walk = predictor.walk(self.rows, values=True, counts=left_out, n_jobs=source.n_jobs)
        forest = RegrownForest(features, leaf_size, n_all, predictor, walk.values)
        losses = ((self.out_of_bag(forest) - self.target) ** 2).sum(axis=1)
        forest.loss = np.average(losses, weights=self.weight)
        return forest

    def _loss(self, forest):
        """Return the out-of-bag log loss of calibrated class shares, or the squared error."""
        return np.average(self.losses(self.out_of_bag(forest)), weights=self.weight)


def first_forests(regrowth, prices, sets, exponents, left_out=LEFT_OUT):
    """Yield a forest of first trees for each set of the eliminations, and for each of `sets`.

    There is an elimination for each of the `exponents`. It starts from all features, and each step
    removes the share `left_out` with the least drop in impurity over price^exponent. Free features
    stay.
    """
    drops = {}  # by set, so that no set is used twice

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
            n_left_out = min(max(1, round(left_out * features.size)), features.size - 1, paid.size)
            left = features[paid]
            worth = drops[tuple(features.tolist())][left] / prices[left] ** exponent
            features = np.delete(features, paid[np.argsort(worth, kind="stable")[:n_left_out]])
    for features in filter(np.size, sets):
        yield from new(features)


def confirmed_share(regrowth, prices, forest, exponent, seed):
    """Return the share of a forest's gain over the constant that is not a fit to chance.

    Examples that one tree left out have taught others, by which features are chosen, so forests
    that are good by chance look good out of bag, too. Therefore each half of the examples chooses
    again, and its best forest predicts both halves: each example by the same trees as before. What
    it loses more on the other half than on its own is subtracted from the gain.
    """
    half = np.zeros(regrowth.judged.size, dtype=bool)
    half[np.random.RandomState(seed).permutation(half.size)[::2]] = True
    luck = np.zeros(len(regrowth.target))
    for rows in (half, ~half):
        pilot, inside = regrowth.of(rows), rows[regrowth.judged]
        begun = first_forests(pilot, prices, [], [exponent], LEFT_OUT_AGAIN)
        losses = [pilot.losses(pilot.out_of_bag(each)) for each in begun]
        best = min(losses, key=lambda loss: loss[inside].mean())
        luck += np.where(inside, -best, best)
    constant = regrowth.losses(regrowth.constant())
    gain = constant - regrowth.losses(regrowth.out_of_bag(forest)) - luck
    whole = np.average(constant, weights=regrowth.weight) or 1.0
    mean = np.average(gain, weights=regrowth.weight) / whole
    # The error is that of the gain as a part of the constant's loss, which differs by example, but
    # not by luck.
    error = mean_and_error(gain / whole - mean * constant / whole, regrowth.weight)[1]
    # Shrunk like a James-Stein estimate: a gain close to its error is in part luck.
    return max(0.0, 1 - (error / mean) ** 2) if mean > 0 else 0.0
