"""The trees of BudgetRF in order: Algorithm 1, pruned by what their samples left out."""

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from ..costs import affords
from ..fit_counts import count_fit
from ..parallel import threads_ahead
from ..tree.growth import Acquisitions, TreeGrower
from ..tree.predictor import LEAF, ForestPredictor, Tree
from .leaf_refit import PRIOR
from .regrowing import MOST_ROWS


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
        # Dividing by a power of two loses no digit: the forest does not depend on units.
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


def measured(trees, forest, valid):
    """Yield each tree, and the mean cost and error of those so far on validation data, if any."""
    acquired, scores = None if valid is None else np.zeros(valid.X.shape, dtype=bool), 0
    for n_trees, tree in enumerate(trees, start=1):
        if valid is None:
            yield tree, None, None
            continue
        own = {forest._vote_kind: True, "n_jobs": forest.n_jobs}
        walk = ForestPredictor([tree], valid.X.shape[1]).walk(valid.X, acquired=True, **own)
        acquired |= walk.acquired
        scores = scores + getattr(walk, forest._vote_kind)
        cost = float(forest.feature_costs_.total(acquired).mean())
        yield tree, cost, forest._error(scores, n_trees, valid.y)


def grow_within_budget(setting, trees, budget):
    """Take trees, as `measured`, while the mean cost stays within the budget."""
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


# What `prune=True` tries.
WEIGHTS = [0.1, 0.3, 1.0, 3.0, 10.0]


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
