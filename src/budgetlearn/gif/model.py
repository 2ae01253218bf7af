"""`GIFModel`: what growing a globally induced forest leaves behind, and its predictions."""

from functools import cached_property

import numpy as np

from ..tree.predictor import ForestPredictor
from ..tree.structure import LEAF, Tree
from .nodes import compact, path_sums


class GIFModel:
    """The accepted nodes of a globally induced forest, with the order of their acceptance.

    A split is kept when at least one of its sides was accepted. The other side is then there too,
    a leaf without a weight of its own, which the node budget does not count.
    """

    def __init__(self, records, weights, nodes_after, n_trees, n_features):
        self._records = compact(records, n_trees)
        self._weights, self._nodes_after = weights, nodes_after
        self.n_trees, self.n_features = n_trees, n_features
        accepted = self._records["tree"][self._records["step"] >= 0]
        self.nodes_per_tree = np.bincount(accepted, minlength=n_trees)
        # The root of a tree counts once one of its nodes was accepted.
        self.nodes_per_tree += self.nodes_per_tree > 0

    def __getstate__(self):
        # Pickles hold what the rest follows from.
        derived = ("_values", "trees", "predictor")
        return {name: value for name, value in vars(self).items() if name not in derived}

    @property
    def n_nodes(self):
        """Nodes in the model: the accepted ones, and the roots of their trees."""
        return int(self.nodes_per_tree.sum())

    @property
    def entropy(self):
        """Entropy of the nodes' distribution over the trees, by log n_trees: in [0, 1]."""
        share = self.nodes_per_tree[self.nodes_per_tree > 0] / max(self.n_nodes, 1)
        if share.size < 2:
            return 0.0
        return float(-(share * np.log(share)).sum() / np.log(self.n_trees))

    def within(self, node_budget):
        """Return the model as it was when the next node would have broken `node_budget`."""
        # Acceptances are in order of budget, so a smaller model is a prefix of them.
        n_steps = np.searchsorted(self._nodes_after, node_budget, side="right")
        records = self._records.copy()
        records["step"][records["step"] >= n_steps] = -1
        return GIFModel(
            records,
            self._weights[:n_steps],
            self._nodes_after[:n_steps],
            self.n_trees,
            self.n_features,
        )

    def importances(self):
        """Return the impurity decrease of each feature's splits, weighted by samples; sum 1."""
        split = self._records[self._records["child"] >= 0]
        total = np.bincount(split["feature"], split["decrease"], minlength=self.n_features)
        return total / total.sum() if total.sum() > 0 else total

    @cached_property
    def _values(self):
        """Sum of the weights on the path to each node; the trees and the predictor share it."""
        records = self._records
        return path_sums(
            records["parent"].copy(), records["step"].copy(), self._weights, len(self._weights)
        )

    @cached_property
    def trees(self):
        """List of `Tree`; a node's value is the sum of the weights on its path from the root."""
        records = self._records
        starts = np.flatnonzero(records["parent"] < 0)
        stops = np.append(starts[1:], len(records))
        inner = records["child"] >= 0
        feature = np.where(inner, records["feature"], LEAF)
        threshold = np.where(inner, records["threshold"], 0.0)
        # Records count children through the whole forest, a tree from its own root.
        left = np.where(inner, records["child"] - np.repeat(starts, stops - starts), LEAF)
        right = np.where(inner, left + 1, LEAF)
        arrays = feature, threshold, left, right, self._values, records["size"]
        return [
            Tree(*(array[start:stop] for array in arrays))
            for start, stop in zip(starts, stops, strict=True)
        ]

    @cached_property
    def predictor(self):
        """The trees as `ForestPredictor`."""
        return ForestPredictor(self.trees, self.n_features, values=self._values)
