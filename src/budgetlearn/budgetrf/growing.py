"""Growing the trees of BudgetRF (Algorithm 1), and pruning them on out-of-bag examples."""

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from ..costs import affords
from ..fit_counts import count_fit
from ..parallel import threads_ahead
from ..tree.growth import Acquisitions, TreeGrower
from ..tree.predictor import LEAF, ForestPredictor, Tree
from .feature_sets import MOST_ROWS
from .leaf_refit import PRIOR


class TreeSource:
    """Grows trees of classes on one coded table."""

    def __init__(self, forest, examples, data, draw):
        # `draw` returns the weight of each example for the tree of a seed.
        # Many forests draw the same samples, so those of small tables are cached.
        self.draw = lru_cache(draw) if len(examples.y) <= MOST_ROWS else draw
        self.examples, self.data = examples, data
        self.feature_costs, self.n_jobs = forest.feature_costs_, forest.n_jobs
        # The prices in the risk, before taking the power.
        self.counted = forest._counted()
        self._set_targets(forest)

    def _set_targets(self, forest):
        self.targets, self.n_classes = self.examples.y.astype(np.int32), forest.classes_.size

    def trees(self, rule, seeds, prune=None, known=()):
        """Yield a tree for each seed, `known` trees first; `prune` is the weight in `pruned`."""
        yield from known
        seeds, acquisitions = seeds[len(known) :], None
        if rule.reuse_discount < 1 or prune is not None:
            acquisitions = Acquisitions(self.feature_costs, len(self.examples.y), self.counted)
            for tree in known:
                self._acquire(tree, acquisitions)
        for tree, seed in zip(self._growing(rule, seeds, acquisitions), seeds, strict=False):
            # The seed reproduces the sample of the tree, which need not be kept.
            if prune is not None and (left_out := self.draw(seed) == 0).any():
                losses = self._losses(tree)
                tree = pruned(tree, self.examples, losses, left_out, acquisitions, prune)
            if acquisitions is not None:
                self._acquire(tree, acquisitions)
            yield tree

    def _growing(self, rule, seeds, acquisitions):
        """Return an iterator of trees, which grow when requested if acquisitions matter."""
        # A free feature stays free even with exponent 0.
        prices = np.where(self.counted > 0, self.counted**rule.cost_exponent, 0.0)
        grown = partial(self.tree, self.grower(rule), prices)
        # Prices depend on the previous trees, as pruned, so trees grow one after another.
        if rule.reuse_discount < 1:
            return (grown(seed, acquisitions) for seed in seeds)
        return threads_ahead(grown, seeds, self.n_jobs)

    def grower(self, rule, features=None):
        """Return a grower of trees on all features, or on the given ones."""
        return TreeGrower(self.data, self.targets, self.n_classes, rule, features)

    def tree(self, grower, prices, seed, *acquired):
        """Return the tree of a seed."""
        return grower.tree(self.draw(seed), prices, seed, *acquired)

    def _losses(self, tree):
        """Return the losses for `pruned`, as a function of nodes and examples."""
        return class_losses(tree, self.examples.y)

    def _acquire(self, tree, acquisitions):
        predictor = ForestPredictor([tree], self.data.n_features)
        acquisitions.add(predictor.walk(self.examples.X, acquired=True).acquired)


class NumberTreeSource(TreeSource):
    """Grows trees whose splits lower the variance of the target."""

    def _set_targets(self, forest):
        # Dividing by a power of two is exact, and makes the forest independent of units.
        self.unit, self.n_classes = 2.0 ** (np.frexp(np.abs(self.examples.y).max())[1] - 1), 1
        self.targets = np.ascontiguousarray(self.examples.y / self.unit, dtype=np.float64)

    def tree(self, grower, prices, seed, *acquired):
        tree = super().tree(grower, prices, seed, *acquired)
        return replace(tree, value=self.unit * tree.value)

    def _losses(self, tree):
        return lambda nodes, rows: (tree.value[nodes, 0] - self.examples.y[rows]) ** 2


@dataclass
class BudgetedForest:
    """The trees that fit a budget, and the results of each prefix on validation data."""

    setting: dict  # the values of the parameters that are chosen on validation data
    trees: list = field(default_factory=list)
    # Mean acquisition cost and error of the first tree, the first two, ... on validation data.
    costs: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    broke_at: float | None = None  # cost with the tree that broke the budget and was dropped
    refitted: list = field(default_factory=list)  # prefixes whose leaves were fitted together

    @property
    def loss(self):
        """Validation error of the whole forest, or validation loss of the refitted leaves."""
        return self.refitted[-1].loss if self.refitted else self.errors[-1]


def measured(trees, forest, valid):
    """Yield each tree with the mean cost and error of the trees so far on validation data."""
    if valid is None:
        yield from ((tree, None, None) for tree in trees)
        return
    acquired, scores = np.zeros(valid.X.shape, dtype=bool), 0
    for n_trees, tree in enumerate(trees, start=1):
        predictor, wanted = ForestPredictor([tree], valid.X.shape[1]), {forest._vote_kind: True}
        walk = predictor.walk(valid.X, acquired=True, n_jobs=forest.n_jobs, **wanted)
        acquired |= walk.acquired
        scores = scores + getattr(walk, forest._vote_kind)
        cost = float(forest.feature_costs_.total(acquired).mean())
        yield tree, cost, forest._error(scores, n_trees, valid.y)


def grow_within_budget(setting, trees, budget):
    """Return the forest of `measured` trees whose mean cost stays within the budget."""
    count_fit()
    forest = BudgetedForest(setting)
    for tree, cost, error in trees:
        # Algorithm 1, lines 3 and 7: the tree that breaks the budget is dropped.
        if budget is not None and not affords(budget, cost):
            forest.broke_at = cost
            break
        forest.trees.append(tree)
        forest.costs.append(cost)
        forest.errors.append(error)
    return forest


# The weights that `prune=True` tries.
WEIGHTS = [0.1, 0.3, 1.0, 3.0, 10.0]


def class_losses(tree, labels):
    """Return the squared errors of class shares (Brier), as a function of nodes and examples."""
    shares = tree.value + PRIOR
    shares /= shares.sum(axis=1, keepdims=True)
    # For an example of class c: |shares − e_c|² = |shares|² − 2 shares[c] + 1.
    squared = (shares**2).sum(axis=1) + 1
    return lambda nodes, rows: squared[nodes] - 2 * shares[nodes, labels[rows]]


def pruned(tree, examples, losses, left_out, acquisitions, weight):
    """Return the tree with only the splits that are worth their cost.

    Among all subtrees with the same root, this one minimises the loss of the left-out examples (as
    a share of the loss at the root) + weight × mean cost (as a share of the cost of all features).
    Features that an example acquired from earlier trees (`acquisitions`) or higher up are free.
    """
    # Both are sums over nodes, so the best subtree is found exactly from the leaves up (Breiman et
    # al. 1984, section 3.3; Nan, Wang and Saligrama 2016 prune all trees at once by the same sum).
    loss, cost = _sums(tree, examples, losses, left_out, acquisitions)
    cost *= weight / (acquisitions.full or 1.0)
    best, stays = loss.copy(), np.zeros(tree.node_count, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # children come after their parents
        below = best[tree.children_left[node]] + best[tree.children_right[node]] + cost[node]
        stays[node] = below < best[node]
        best[node] = min(below, best[node])
    return _cut(tree, stays)


def _sums(tree, examples, losses, left_out, acquisitions):
    """Return each node's loss as a leaf, as a share of the root's, and its additional mean cost."""
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
    """Return a tree whose inner nodes are those that stay together with all nodes above them."""
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
