"""The trees of BudgetRF in order: Algorithm 1, pruning, joint fits, and forests regrown on sets."""

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from ..costs import affords
from ..fit_counts import count_fit
from ..forests.base import gini_importance, leaf_values, variance_importance
from ..parallel import thread_map, threads_ahead
from ..tree.growth import Acquisitions, TreeGrower
from ..tree.predictor import LEAF, ForestPredictor, Tree
from ..validation import INT32_MAX


class TreeSource:
    """Grows trees of classes on one coded table."""

    def __init__(self, forest, examples, data, draw):
        # `draw` tells how much each example counts for the tree of a seed.
        # Many forests draw the same samples: those of few examples are kept.
        self.draw = lru_cache(draw) if len(examples.y) <= MOST_ROWS else draw
        self.examples, self.data = examples, data
        self.feature_costs, self.n_jobs = forest.feature_costs_, forest.n_jobs
        # The prices of which the risk takes the power.
        self.counted = forest._counted()
        self._set_targets(forest)

    def _set_targets(self, forest):
        self.targets, self.n_classes = self.examples.y.astype(np.int32), forest.classes_.size

    def trees(self, rule, seeds, prune=None, known=()):
        """Yield a tree for each seed, the `known` ones first; `prune` is the weight of `pruned`."""
        yield from known
        seeds, acquisitions = seeds[len(known) :], None
        if rule.reuse_discount < 1 or prune is not None:
            acquisitions = Acquisitions(self.feature_costs, len(self.examples.y))
            for tree in known:
                self._acquire(tree, acquisitions)
        for tree, seed in zip(self._growing(rule, seeds, acquisitions), seeds, strict=False):
            # The seed gives the same sample as when the tree grew: it need not be kept.
            if prune is not None and (left_out := self.draw(seed) == 0).any():
                losses = self._losses(tree)
                tree = pruned(tree, self.examples, losses, left_out, acquisitions, prune)
            if acquisitions is not None:
                self._acquire(tree, acquisitions)
            yield tree

    def _growing(self, rule, seeds, acquisitions):
        """Return trees as they grow; each may know what is acquired when it is asked for."""
        # A free feature stays free where the exponent is 0, too.
        prices = np.where(self.counted > 0, self.counted**rule.cost_exponent, 0.0)
        grown = partial(self.tree, self.grower(rule), prices)
        # Each tree's prices depend on the tree before, as pruned: one after the other.
        if rule.reuse_discount < 1:
            return (grown(seed, acquisitions) for seed in seeds)
        return threads_ahead(grown, seeds, self.n_jobs)

    def grower(self, rule, features=None):
        """Return a grower of trees on all features, or some."""
        return TreeGrower(self.data, self.targets, self.n_classes, rule, features)

    def tree(self, grower, prices, seed, *acquired):
        """Return the tree of a seed."""
        return grower.tree(self.draw(seed), prices, seed, *acquired)

    def _losses(self, tree):
        """Return the losses by which `pruned` judges: a function of nodes and examples."""
        return class_losses(tree, self.examples.y)

    def _acquire(self, tree, acquisitions):
        predictor = ForestPredictor([tree], self.data.n_features)
        acquisitions.add(predictor.walk(self.examples.X, acquired=True).acquired)


class NumberTreeSource(TreeSource):
    """Grows trees whose splits lower the variance of the target."""

    def _set_targets(self, forest):
        # By a power of two targets are divided without losing a digit: so the forest does not
        # depend on their unit.
        self.unit, self.n_classes = 2.0 ** (np.frexp(np.abs(self.examples.y).max())[1] - 1), 1
        self.targets = np.ascontiguousarray(self.examples.y / self.unit, dtype=np.float64)

    def tree(self, grower, prices, seed, *acquired):
        tree = super().tree(grower, prices, seed, *acquired)
        return replace(tree, value=self.unit * tree.value)

    def _losses(self, tree):
        return lambda nodes, rows: (tree.value[nodes, 0] - self.examples.y[rows]) ** 2


@dataclass
class BudgetedForest:
    """The trees that fit a budget, and how each prefix of them did on validation data."""

    setting: dict  # what they were grown with, of what is chosen on validation data
    trees: list = field(default_factory=list)
    # Mean acquisition cost, and error, on validation data of the first tree, the first two, ...
    costs: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    broke_at: float | None = None  # cost with the tree that broke the budget and was dropped
    refitted: list = field(default_factory=list)  # prefixes whose leaves were fitted together

    @property
    def loss(self):
        """Validation error of the whole forest; of refitted leaves what they were fitted by."""
        return self.refitted[-1].loss if self.refitted else self.errors[-1]


class Validation:
    """Running cost and error of a growing forest on validation data."""

    def __init__(self, forest, examples):
        self.forest, self.examples = forest, examples
        self._acquired = np.zeros(examples.X.shape, dtype=bool)
        self._scores, self._n_trees = 0, 0

    def add(self, tree):
        """Return mean cost and error of the forest with one more tree."""
        forest, X = self.forest, self.examples.X
        own = {forest._vote_kind: True, "n_jobs": forest.n_jobs}
        walk = ForestPredictor([tree], X.shape[1]).walk(X, acquired=True, **own)
        self._acquired |= walk.acquired
        self._scores = self._scores + getattr(walk, forest._vote_kind)
        self._n_trees += 1
        cost = forest.feature_costs_.total(self._acquired).mean()
        return float(cost), forest._error(self._scores, self._n_trees, self.examples.y)


def grow_within_budget(setting, trees, validation, budget):
    """Take trees while the mean validation cost stays within the budget."""
    count_fit()
    forest = BudgetedForest(setting)
    for tree in trees:
        if validation is not None:
            cost, error = validation.add(tree)
            # Algorithm 1, lines 3 and 7: the tree that breaks the budget is dropped.
            if budget is not None and not affords(budget, cost):
                forest.broke_at = cost
                break
            forest.costs.append(cost)
            forest.errors.append(error)
        forest.trees.append(tree)
    return forest


# What `prune=True` tries.
WEIGHTS = [0.1, 0.3, 1.0, 3.0, 10.0]
# Added to each class count of a node before its shares, or logarithms of them, are taken.
PRIOR = 0.5


def class_losses(tree, labels):
    """Return the squared errors of class shares (Brier): a function of nodes and examples."""
    shares = tree.value + PRIOR
    shares /= shares.sum(axis=1, keepdims=True)
    # Of an example of class c: |shares − e_c|² = |shares|² − 2 shares[c] + 1.
    squared = (shares**2).sum(axis=1) + 1
    return lambda nodes, rows: squared[nodes] - 2 * shares[nodes, labels[rows]]


def pruned(tree, examples, losses, left_out, acquisitions, weight):
    """Return a tree of which only those splits stay that are worth what they cost.

    Of all subtrees with the same root it is the one with the least loss of the left-out examples,
    as a share of the loss at the root, + weight × mean cost as a share of what all features cost.
    What an example acquired from earlier trees (`acquisitions`), or higher up, is free.
    """
    # Both are sums over nodes: the best subtree follows exactly from the leaves up (Breiman et al.
    # 1984, section 3.3; Nan, Wang and Saligrama 2016 prune all trees at once by the same sum).
    loss, cost = _sums(tree, examples, losses, left_out, acquisitions)
    cost *= weight / (acquisitions.full or 1.0)
    best, stays = loss.copy(), np.zeros(tree.node_count, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # children come after their parents
        below = best[tree.children_left[node]] + best[tree.children_right[node]] + cost[node]
        stays[node] = below < best[node]
        best[node] = min(below, best[node])
    return _cut(tree, stays)


def _sums(tree, examples, losses, left_out, acquisitions):
    """Return the loss of each node as a leaf over that of the root, and the mean cost it adds."""
    weights = examples.weights
    loss, cost = np.zeros(tree.node_count), np.zeros(tree.node_count)
    rows, at = np.arange(len(examples.y)), np.zeros(len(examples.y), dtype=np.intp)
    acquired = acquisitions.acquired.copy()
    while rows.size:
        judged = rows[left_out[rows]]
        nodes = at[left_out[rows]]
        loss += np.bincount(nodes, weights[judged] * losses(nodes, judged), minlength=loss.size)
        going = ~tree.is_leaf[at]
        rows, at = rows[going], at[going]
        paid = weights[rows] * acquisitions.pay(acquired, rows, tree.feature[at])
        cost += np.bincount(at, paid, minlength=cost.size)
        x = examples.X[rows, tree.feature[at]]
        goes_left = x <= tree.threshold[at]
        if tree.missing_left is not None:
            goes_left |= np.isnan(x) & tree.missing_left[at]
        at = np.where(goes_left, tree.children_left[at], tree.children_right[at])
    return loss / (loss[0] or 1.0), cost / weights.sum()


def _cut(tree, stays):
    """Return a tree whose inner nodes are those that stay with all nodes above them."""
    reached = np.zeros(tree.node_count, dtype=bool)
    reached[0] = True
    for node in np.flatnonzero(stays):
        reached[[tree.children_left[node], tree.children_right[node]]] |= reached[node]
    inner, place = (stays & reached)[reached], np.cumsum(reached) - 1
    return Tree(
        feature=np.where(inner, tree.feature[reached], LEAF),
        threshold=np.where(inner, tree.threshold[reached], 0.0),
        children_left=np.where(inner, place[tree.children_left[reached]], LEAF),
        children_right=np.where(inner, place[tree.children_right[reached]], LEAF),
        value=tree.value[reached],
        n_node_samples=tree.n_node_samples[reached],
        missing_left=None if tree.missing_left is None else inner & tree.missing_left[reached],
    )


# Penalties of the squared changes of the leaves' log-odds, in units of an example's log-loss.
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)
# Each refitted prefix has about so many times the trees of the one before.
RATIO = np.sqrt(2)
MOST_STEPS = 200


@dataclass
class RefittedPrefix:
    """The first trees of a forest with leaf values of their own."""

    n_trees: int
    penalty: float  # that their leaves were fitted with
    # The mean of its trees predicts: the log-odds of classes, or numbers.
    predictor: ForestPredictor
    loss: float | None = None  # of the validation data that chose the penalty, on the mean


def prefix_sizes(n_trees):
    """Return the numbers of trees of the prefixes: 1, 2, 3, 4, 6, 8, 11, 16, ..., n_trees."""
    n_steps = int(np.ceil(np.log(n_trees) / np.log(RATIO)))
    return sorted({min(round(RATIO**step), n_trees) for step in range(n_steps + 1)})


class LeafTable:
    """The leaves that examples reach, numbered through the trees of a forest."""

    def __init__(self, trees, X, n_jobs):
        self.starts = np.cumsum([0, *(np.count_nonzero(tree.is_leaf) for tree in trees)])
        number = [np.cumsum(tree.is_leaf) - 1 for tree in trees]
        walk = ForestPredictor(trees, X.shape[1]).walk(X, leaves=True, n_jobs=n_jobs)
        # In place, tree by tree: the array of leaves is the largest that a refit needs.
        for index, leaves in enumerate(walk.leaves.T):
            leaves[:] = number[index][leaves] + self.starts[index]
        self.leaves = walk.leaves

    def indicator(self, n_trees):
        """Return the matrix of (n_samples, leaves of the first trees): 1 where one is reached."""
        n, places = len(self.leaves), np.ascontiguousarray(self.leaves[:, :n_trees]).ravel()
        # Each row reaches one leaf of each tree: the matrix needs no sorting nor counting.
        rows = np.arange(0, n * n_trees + 1, n_trees)
        shape = n, self.starts[n_trees]
        return csr_matrix((np.ones(places.size), places, rows), shape=shape)


class LeafRefit:
    """Fits the values of all leaves of a prefix together; what is penalised is their change.

    A subclass has the `objective` of the leaves' sums, with its slope, and the mean
    `loss` of other examples, to choose by.
    """

    scale = 1.0  # of the losses: what they are divided by, the penalties' with them

    def __init__(self, trees, train, start, n_jobs):
        self.trees, self.n_features, self.n_jobs = trees, train.X.shape[1], n_jobs
        self.table, self.start = LeafTable(trees, train.X, n_jobs), start
        self.weight = train.weights

    def chosen(self, penalties, valid):
        """Return each `RefittedPrefix` with the penalty that is best on validation data.

        Only a single penalty needs no `valid`.
        """
        held = None if valid is None else LeafTable(self.trees, valid.X, self.n_jobs)
        prefixes = []
        for n_trees in prefix_sizes(len(self.trees)):
            Z, best = None if held is None else held.indicator(n_trees), None
            for penalty, values in self._path(n_trees, sorted(penalties, reverse=True)):
                loss = None if held is None else self.loss(Z @ values, valid.y)
                if best is None or loss < best[0]:
                    best = loss, penalty, values
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
        unit = self.scale**0.5 / np.sqrt(across @ self.weight[:, None] / 4 + penalty)

        def objective(flat):
            step = unit * flat.reshape(start.shape)
            loss, slope = self.objective(base + Z @ step)
            shrunk = penalty * step / self.scale
            loss += (shrunk * step).sum() / 2
            return loss, (unit * (across @ slope + shrunk)).ravel()

        how = {"method": "L-BFGS-B", "options": {"maxiter": MOST_STEPS, "ftol": 1e-7}}
        found = minimize(objective, (change / unit).ravel(), jac=True, **how)
        return unit * found.x.reshape(start.shape)

    def _prefix(self, n_trees, penalty, values, loss=None):
        """Return the prefix with such values, times the number of trees: their mean predicts."""
        trees, starts = [], self.table.starts
        for index, tree in enumerate(self.trees[:n_trees]):
            value = np.zeros((tree.node_count, values.shape[1]))
            value[tree.is_leaf] = n_trees * values[starts[index] : starts[index + 1]]
            trees.append(replace(tree, value=value))
        return RefittedPrefix(n_trees, penalty, ForestPredictor(trees, self.n_features), loss)


class LogisticRefit(LeafRefit):
    """Logistic regression of the classes on the leaves, from the log-odds of their counts."""

    def __init__(self, trees, train, n_classes, n_jobs):
        logs = np.log(leaf_values(trees) + PRIOR)
        # With an infinite penalty the trees' probabilities are averaged geometrically.
        super().__init__(trees, train, logs - logs.mean(axis=1, keepdims=True), n_jobs)
        self.target = np.eye(n_classes)[train.y]

    def objective(self, scores):
        """Return the log-loss, and its slope."""
        logs = log_softmax(scores, axis=1)
        slope = self.weight[:, None] * (np.exp(logs) - self.target)
        return -self.weight @ (self.target * logs).sum(axis=1), slope

    def loss(self, scores, targets):
        """Return the mean log-loss of those of known classes."""
        known = np.flatnonzero(targets >= 0)
        logs = log_softmax(scores[known], axis=1)
        return float(-logs[np.arange(known.size), targets[known]].mean())


class RidgeRefit(LeafRefit):
    """Ridge regression of the targets on the leaves, from their means, the values of the trees."""

    def __init__(self, trees, train, n_jobs):
        super().__init__(trees, train, leaf_values(trees), n_jobs)
        self.target = train.y[:, None]
        centred = train.y - np.average(train.y, weights=self.weight)
        self.scale = np.average(centred**2, weights=self.weight) or 1.0

    def objective(self, scores):
        """Return half of the squared error, and its slope, in units of the targets' variance."""
        miss = self.weight[:, None] * (scores - self.target) / self.scale
        return (miss * (scores - self.target)).sum() / 2, miss

    def loss(self, scores, targets):
        """Return the mean squared error."""
        return float(((scores[:, 0] - targets) ** 2).mean())


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

    @property
    def n_trees(self):
        """Number of trees, which all count in its predictions."""
        return self.predictor.n_trees


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
        return forest.sums / self.left_out[: forest.n_trees].sum(axis=0)[:, None]

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


class Candidates:
    """The sets of features that are judged by the first trees on each of them."""

    def __init__(self, regrowth, prices):
        self.regrowth, self.prices, self.drops = regrowth, prices, {}

    def forests(self, sets, exponents):
        """Yield a forest for each set that an elimination comes by, and for each of `sets`."""
        for exponent in exponents:
            yield from self._eliminating(exponent)
        for features in filter(np.size, sets):
            yield from self._new(features)

    def _eliminating(self, exponent):
        """Yield the forests on fewer and fewer features, the first on all, that are new.

        A fifth of them is left out from one to the next: those with the least drop in impurity over
        price to the power `exponent`. What is free stays.
        """
        prices, features = self.prices, np.arange(self.prices.size)
        while True:
            yield from self._new(features)
            paid = np.flatnonzero(prices[features] > 0)
            n_left_out = min(max(1, round(LEFT_OUT * features.size)), features.size - 1)
            if not paid.size or not n_left_out:
                return
            left = features[paid]
            worth = self.drops[tuple(features.tolist())][left] / prices[left] ** exponent
            features = np.delete(features, paid[np.argsort(worth, kind="stable")[:n_left_out]])

    def _new(self, features):
        """Yield the first trees on some features, unless it is known what each contributes."""
        key = tuple(features.tolist())
        if key not in self.drops:
            forest = self.regrowth.begun(features)
            self.drops[key] = self.regrowth.drops(forest)
            yield forest
