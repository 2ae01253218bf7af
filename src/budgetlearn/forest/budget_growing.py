"""The trees of BudgetRF in order; where the rule asks for it, each knows what others bought."""

import numpy as np

from .._parallel import thread_map, threads_ahead
from ..tree.growth import Purchases, grow_tree
from ..tree.predictor import ForestPredictor
from .pruning import class_losses, pruned

# With ties="reuse" a tree knows the features of the trees of earlier batches, not of its own:
# batches, not threads, set what it knows, so that the forest is the same for any n_jobs.
BATCH = 4


class TreeSource:
    """Grows trees on one coded table.

    Parameters
    ----------
    data : BinnedData
        Coded table.
    examples : Examples
        The same table, and its classes.
    n_classes : int
        Number of classes.
    feature_costs : FeatureCosts
        Prices.
    draw : callable
        Takes a seed and returns how much each example counts for its tree.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, data, examples, n_classes, feature_costs, draw, n_jobs):
        self.data, self.examples = data, examples
        self.n_classes = n_classes
        self.feature_costs, self.draw, self.n_jobs = feature_costs, draw, n_jobs

    def trees(self, rule, seeds, prune=None):
        """Yield a tree for each seed; threads grow the next ones while they are asked for.

        Parameters
        ----------
        rule : GrowthRule
            How they grow.
        seeds : list of int
            One for each.
        prune : float, default=None
            Weight of the cost in `pruned`; None: trees stay as they grew.

        Yields
        ------
        Tree
        """
        if rule.reuse_discount < 1:
            yield from self._knowing_purchases(rule, seeds, prune)
            return
        grown = self._in_batches(rule, seeds) if rule.ties == "reuse" else self._ahead(rule, seeds)
        if prune is None:
            yield from grown
            return
        purchases = self._no_purchases()
        for tree, seed in zip(grown, seeds, strict=False):
            yield self._bought(tree, seed, purchases, prune)

    def _ahead(self, rule, seeds):
        return threads_ahead(lambda seed: self._grown(rule, seed), seeds, self.n_jobs)

    def _grown(self, rule, seed, usage=None, purchases=None):
        prices = self.feature_costs.alone
        if rule.cost_exponent < 1:
            # A free feature stays free where the exponent is 0, too.
            prices = np.where(prices > 0, prices**rule.cost_exponent, 0.0)
        return self._tree(self.draw(seed), rule, prices.copy(), seed, usage, purchases)

    def _tree(self, weights, *how):
        """Return the tree of examples that count so much."""
        labels = self.examples.y.astype(np.int32)
        return grow_tree(self.data, labels, weights, self.n_classes, *how)

    def _losses(self, tree):
        """Return what `pruned` judges by."""
        return class_losses(tree, self.examples.y)

    def _in_batches(self, rule, seeds):
        """Yield trees that know how much earlier batches use each feature."""
        usage = np.zeros(self.data.n_features)

        def grow(seed):
            known = usage.copy()
            return self._grown(rule, seed, known), known - usage

        for start in range(0, len(seeds), BATCH):
            for tree, added in thread_map(grow, seeds[start : start + BATCH], self.n_jobs):
                usage += added
                yield tree

    def _knowing_purchases(self, rule, seeds, prune):
        """Yield trees that know what each example has bought from all before them."""
        usage, purchases = np.zeros(self.data.n_features), self._no_purchases()
        for seed in seeds:
            tree = self._grown(rule, seed, usage, purchases)
            yield self._bought(tree, seed, purchases, prune)

    def _no_purchases(self):
        return Purchases(self.feature_costs, len(self.examples.y))

    def _bought(self, tree, seed, purchases, prune):
        """Return the tree, pruned if it is to be, and note what the examples buy from it."""
        if prune is not None:
            left_out = self.draw(seed) == 0
            if left_out.any():
                losses = self._losses(tree)
                tree = pruned(tree, self.examples, losses, left_out, purchases, prune)
        predictor = ForestPredictor([tree], self.data.n_features)
        purchases.add(predictor.walk(self.examples.X, acquired=True).acquired)
        return tree
