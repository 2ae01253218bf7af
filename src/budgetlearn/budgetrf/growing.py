"""The trees of BudgetRF in order: Algorithm 1, and pruning by what left-out examples say.

Growth ends where validation data cost the budget; a pruned split is worth its cost to examples that
have paid for some features already.
"""

from dataclasses import dataclass, field

import numpy as np

from ..costs import affords
from ..counting import count_fit
from ..parallel import thread_map, threads_ahead
from ..tree.growth import Acquisitions, grow_tree
from ..tree.predictor import LEAF, ForestPredictor, Tree

# With ties="reuse" a tree knows the features of the trees of earlier batches, not of its own:
# batches, not threads, set what it knows, so that the forest is the same for any n_jobs.
BATCH = 4


class TreeSource:
    """Grows trees on one coded table.

    `draw` takes a seed and returns how much each example counts for its tree; `counted` are the
    prices of which the risk takes the power, where that is not 1.
    """

    def __init__(self, data, examples, n_classes, feature_costs, draw, n_jobs):
        self.data, self.examples = data, examples
        self.n_classes = n_classes
        self.feature_costs, self.draw, self.n_jobs = feature_costs, draw, n_jobs
        self.counted = feature_costs.alone

    def trees(self, rule, seeds, prune=None, known=()):
        """Yield a tree for each seed; threads grow the next ones while they are asked for.

        `prune` is the weight of the cost in `pruned`, None: trees stay as they grew; `known` are
        the trees of the first seeds, which exist already.
        """
        if rule.ties == "reuse":
            # A batch begun before is grown again: its trees then know what they would have known.
            known = known[: len(known) // BATCH * BATCH]
        yield from known
        seeds, acquisitions = seeds[len(known) :], None
        if rule.reuse_discount < 1 or prune is not None:
            acquisitions = Acquisitions(self.feature_costs, len(self.examples.y))
            for tree in known:
                self._acquire(tree, acquisitions)
        for tree, seed in zip(self._growing(rule, seeds, known, acquisitions), seeds, strict=False):
            kept = tree if prune is None else self._pruned(tree, seed, acquisitions, prune)
            if acquisitions is not None:
                self._acquire(kept, acquisitions)
            yield kept

    def _growing(self, rule, seeds, known, acquisitions):
        """Return trees as they grow; each may know what is acquired when it is asked for."""
        usage = np.zeros(self.data.n_features)
        for tree in known:
            inner = ~tree.is_leaf
            np.add.at(usage, tree.feature[inner], tree.n_node_samples[inner])
        # Each tree's prices depend on the tree before, as pruned: one after the other.
        if rule.reuse_discount < 1:
            return (self._grown(rule, seed, usage, acquisitions) for seed in seeds)
        if rule.ties == "reuse":
            return self._in_batches(rule, seeds, usage)
        return threads_ahead(lambda seed: self._grown(rule, seed), seeds, self.n_jobs)

    def _grown(self, rule, seed, usage=None, acquisitions=None):
        prices = self.feature_costs.alone
        if rule.cost_exponent < 1:
            # A free feature stays free where the exponent is 0, too.
            prices = np.where(self.counted > 0, self.counted**rule.cost_exponent, 0.0)
        return self._tree(self.draw(seed), rule, prices.copy(), seed, usage, acquisitions)

    def _tree(self, weights, *how):
        """Return the tree of examples that count so much."""
        labels = self.examples.y.astype(np.int32)
        return grow_tree(self.data, labels, weights, self.n_classes, *how)

    def _losses(self, tree):
        """Return the losses by which `pruned` judges."""
        return class_losses(tree, self.examples.y)

    def _in_batches(self, rule, seeds, usage):
        """Yield trees that know how much earlier batches use each feature."""

        def grow(seed):
            known = usage.copy()
            return self._grown(rule, seed, known), known - usage

        for start in range(0, len(seeds), BATCH):
            for tree, added in thread_map(grow, seeds[start : start + BATCH], self.n_jobs):
                usage += added
                yield tree

    def _pruned(self, tree, seed, acquisitions, weight):
        # The seed gives the same sample as when the tree grew: it need not be kept.
        left_out = self.draw(seed) == 0
        if not left_out.any():
            return tree
        return pruned(tree, self.examples, self._losses(tree), left_out, acquisitions, weight)

    def _acquire(self, tree, acquisitions):
        """Note what the examples acquire from a tree."""
        predictor = ForestPredictor([tree], self.data.n_features)
        acquisitions.add(predictor.walk(self.examples.X, acquired=True).acquired)


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
    """Running cost and error of a growing forest on validation data.

    Trees add up to their `vote_kind`, "votes" or "values"; `error` takes those sums and the number
    of trees.
    """

    def __init__(self, X, feature_costs, vote_kind, error, n_jobs):
        self.X, self.feature_costs, self.vote_kind, self.error = X, feature_costs, vote_kind, error
        self.n_jobs = n_jobs
        self.restart()

    def restart(self):
        """Begin a new forest."""
        self._acquired = np.zeros(self.X.shape, dtype=bool)
        self._scores, self._n_trees = 0, 0

    def add(self, tree):
        """Return mean cost and error of the forest with one more tree."""
        predictor = ForestPredictor([tree], self.X.shape[1])
        walk = predictor.walk(self.X, acquired=True, **{self.vote_kind: True}, n_jobs=self.n_jobs)
        self._acquired |= walk.acquired
        self._scores = self._scores + getattr(walk, self.vote_kind)
        self._n_trees += 1
        cost = self.feature_costs.total(self._acquired).mean()
        return float(cost), self.error(self._scores, self._n_trees)


def grow_within_budget(setting, trees, validation, budget):
    """Take trees while the mean validation cost stays within the budget."""
    count_fit()
    forest = BudgetedForest(setting)
    if validation is not None:
        validation.restart()
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
# Added to each class count of a node before its shares are judged.
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
    The cost is what the tree adds: what an example acquired from earlier trees (`acquisitions`,
    which are not changed), or higher up on its path, is free. Both are sums over nodes, so the best
    subtree follows exactly from the leaves up (Breiman et al. 1984, section 3.3; Nan, Wang and
    Saligrama 2016 prune all trees at once by the same sum).
    """
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
    weights = np.ones(len(examples.y)) if examples.weight is None else examples.weight
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
