"""The trees of BudgetRF in order; where the rule asks for it, each knows what others bought."""

import numpy as np

from .._parallel import thread_map, threads_ahead
from ..tree.growth import Purchases, grow_tree
from ..tree.predictor import ForestPredictor

# With ties="reuse" a tree knows the features of the trees of earlier batches, not of its own:
# batches, not threads, set what it knows, so that the forest is the same for any n_jobs. What
# examples have bought counts for more than ties: then each tree knows all before it.
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
        self.data, self.X = data, examples.X
        self.labels, self.n_classes = examples.y.astype(np.int32), n_classes
        self.feature_costs, self.draw, self.n_jobs = feature_costs, draw, n_jobs

    def trees(self, rule, seeds):
        """Yield a tree for each seed; threads grow the next ones while they are asked for."""
        if rule.ties == "reuse" or rule.reuse_discount < 1:
            return self._in_batches(rule, seeds)
        return threads_ahead(lambda seed: self._grown(rule, seed), seeds, self.n_jobs)

    def _grown(self, rule, seed, usage=None, purchases=None):
        prices = self.feature_costs.alone
        if rule.cost_exponent < 1:
            # A free feature stays free where the exponent is 0, too.
            prices = np.where(prices > 0, prices**rule.cost_exponent, 0.0)
        weights = self.draw(seed)
        table = self.data, self.labels, weights, self.n_classes
        return grow_tree(*table, rule, prices.copy(), seed, usage, purchases)

    def _in_batches(self, rule, seeds):
        """Yield trees that know what the forest uses and what each example has bought."""
        usage = np.zeros(self.data.n_features)
        purchases = None
        if rule.reuse_discount < 1:
            purchases = Purchases(self.feature_costs, len(self.labels))

        def grow(seed):
            known = usage.copy()
            tree = self._grown(rule, seed, known, purchases)
            return tree, known - usage, None if purchases is None else self._acquired(tree)

        size = BATCH if purchases is None else 1
        for start in range(0, len(seeds), size):
            batch = thread_map(grow, seeds[start : start + size], self.n_jobs)
            for tree, added, acquired in batch:
                usage += added
                if purchases is not None:
                    purchases.add(acquired)
                yield tree

    def _acquired(self, tree):
        predictor = ForestPredictor([tree], self.data.n_features)
        return predictor.walk(self.X, acquired=True).acquired
