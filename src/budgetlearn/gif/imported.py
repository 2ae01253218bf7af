"""The nodes of a forest that another library has grown, to be weighed and pruned like our own."""

import numpy as np
from scipy.sparse import csc_array

from ..tree.predictor import LEAF, ForestPredictor
from .nodes import FOREST_NODE_DTYPE


class ImportedNodes:
    """All nodes of an `ImportedForest` but its roots; the same to pruning as `AcceptedNodes`."""

    def __init__(self, forest, X, targets):
        n_nodes = [tree.node_count for tree in forest.trees]
        self.n_trees, self.n_features = len(n_nodes), X.shape[1]
        self.records = records = np.zeros(sum(n_nodes), dtype=FOREST_NODE_DTYPE)
        # Of each example the leaf in each tree, by its place among all nodes.
        self._leaves = ForestPredictor(forest.trees, forest.n_features).walk(X, leaves=True).leaves
        # Features without missing values here may have none later: they need no side.
        starts, gaps = np.cumsum([0, *n_nodes]), np.isnan(X).any(axis=0)
        for number, (tree, start) in enumerate(zip(forest.trees, starts, strict=False)):
            place = start + _side_by_side(tree)
            parent = tree.parents()
            self._leaves[:, number] = place[self._leaves[:, number]]
            records["tree"][place] = number
            records["feature"][place], records["threshold"][place] = tree.feature, tree.threshold
            records["child"][place] = np.where(tree.is_leaf, LEAF, place[tree.children_left])
            records["parent"][place] = np.where(parent < 0, -1, place[parent])
            if tree.missing_left is not None:
                records["missing_left"][place] = tree.missing_left & gaps[tree.feature]
        self._count(targets)
        self.ids = np.flatnonzero(records["parent"] >= 0)
        records["step"] = -1
        records["step"][self.ids] = np.arange(self.ids.size)
        self.tree, self.parent_id = records["tree"][self.ids], records["parent"][self.ids]
        self.parent = records["step"][self.parent_id]

    def _count(self, targets):
        """Count the examples of each node, and what its split explains of the targets."""
        records, parent = self.records, self.records["parent"].tolist()
        sums, each = np.zeros((len(parent), 1 + targets.shape[1])), np.insert(targets, 0, 1, axis=1)
        for leaves in self._leaves.T:
            np.add.at(sums, leaves, each)
        for node in range(len(parent) - 1, 0, -1):
            if parent[node] >= 0:
                sums[parent[node]] += sums[node]
        records["size"] = sums[:, 0]
        explained = np.square(sums[:, 1:]).sum(axis=1) / np.maximum(sums[:, 0], 1)
        split = np.flatnonzero(records["child"] >= 0)
        left = records["child"][split]
        decrease = explained[left] + explained[left + 1] - explained[split]
        records["decrease"][split] = np.maximum(decrease, 0.0)

    def indicators(self, kept, rows):
        """As of `AcceptedNodes`."""
        place = np.full(len(self.records) + 1, -1, dtype=np.int32)
        place[self.ids[kept]] = np.arange(kept.size)
        above = np.append(self.records["parent"], -1)  # the last entry is that of no node
        node, row, column = self._leaves[rows], [], []
        while (node >= 0).any():
            reached = place[node]
            found, tree = np.nonzero(reached >= 0)
            row.append(found)
            column.append(reached[found, tree])
            node = above[node]
        row, column = np.concatenate(row), np.concatenate(column)
        data = np.ones(row.size, dtype=np.float32), (row, column)
        return csc_array(data, shape=(rows.size, kept.size))


def _side_by_side(tree):
    """Return a new number for each node: parents come first, siblings side by side."""
    inner = np.flatnonzero(~tree.is_leaf)
    number = np.zeros(tree.node_count, dtype=np.int32)
    number[tree.children_left[inner]] = 1 + 2 * np.arange(inner.size)
    number[tree.children_right[inner]] = 2 + 2 * np.arange(inner.size)
    return number
