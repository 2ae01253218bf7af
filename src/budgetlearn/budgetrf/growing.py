"""The trees of BudgetRF in order: Algorithm 1."""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..costs import affords
from ..counting import count_fit
from ..parallel import thread_map, threads_ahead
from ..tree.growth import Acquisitions, grow_tree
from ..tree.predictor import ForestPredictor
from .leaves import class_losses, pruned

# With ties="reuse" a tree knows the features of the trees of earlier batches, not of its own:
# batches, not threads, set what it knows, so that the forest is the same for any n_jobs.
BATCH = 4


class TreeSource:
    """Grows trees of classes on one coded table."""

    def __init__(self, forest, examples):
        self.data, self.examples = forest._codes(examples.X), examples
        self.feature_costs, self.n_jobs = forest.feature_costs_, forest.n_jobs
        # The prices of which the risk takes the power, where that is not 1.
        self.counted = forest._counted()
        # How much each example counts for the tree of a seed.
        self.draw = partial(forest._drawn, examples)
        self._set_targets(forest)

    def _set_targets(self, forest):
        self.targets, self.n_classes = self.examples.y.astype(np.int32), forest.classes_.size

    def trees(self, rule, seeds, prune=None, known=()):
        """Yield a tree for each seed, the `known` ones first; `prune` is the weight of `pruned`."""
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
            # The seed gives the same sample as when the tree grew: it need not be kept.
            if prune is not None and (left_out := self.draw(seed) == 0).any():
                losses = self._losses(tree)
                tree = pruned(tree, self.examples, losses, left_out, acquisitions, prune)
            if acquisitions is not None:
                self._acquire(tree, acquisitions)
            yield tree

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
        return grow_tree(self.data, self.targets, weights, self.n_classes, *how)

    def _losses(self, tree):
        """Return the losses by which `pruned` judges: a function of nodes and examples."""
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

    def _acquire(self, tree, acquisitions):
        """Note what the examples acquire from a tree."""
        predictor = ForestPredictor([tree], self.data.n_features)
        acquisitions.add(predictor.walk(self.examples.X, acquired=True).acquired)


class NumberTreeSource(TreeSource):
    """Grows trees whose splits lower the variance of the target."""

    def _set_targets(self, forest):
        # By powers of two targets and weights are divided without losing a digit: so the forest
        # depends on the unit of neither.
        self.unit, self.n_classes = _power_of_two(self.examples.y), 1
        self.targets = np.ascontiguousarray(self.examples.y / self.unit, dtype=np.float64)

    def _tree(self, weights, *how):
        tree = super()._tree(weights / _power_of_two(weights), *how)
        return replace(tree, value=self.unit * tree.value)

    def _losses(self, tree):
        return lambda nodes, rows: (tree.value[nodes, 0] - self.examples.y[rows]) ** 2


def _power_of_two(numbers):
    """Return the largest power of two up to the largest absolute value; 1 where all are 0."""
    largest = np.abs(numbers).max()
    return 2.0 ** (np.frexp(largest)[1] - 1) if largest else 1.0


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
