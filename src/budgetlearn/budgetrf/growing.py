"""The trees of BudgetRF in order, and Algorithm 1: grow until validation data cost the budget."""

from dataclasses import dataclass, field

import numpy as np

from ..costs import affords
from ..counting import count_fit
from ..parallel import thread_map, threads_ahead
from ..tree.growth import Acquisitions, grow_tree
from ..tree.predictor import ForestPredictor
from .pruning import class_losses, pruned

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
