"""Dropping nodes of a grown or imported forest until it meets a budget, with refitted weights."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from ..export.formats import LARGEST
from ..export.serialization import size
from ..tree.predictor import LEAF, ForestPredictor
from .nodes import FOREST_NODE_DTYPE
from .weights import ALPHAS

# Largest share of the nodes that one round drops.
SHARE = 0.25
# Numbers of nodes that `early_stopping` compares, an eighth of an octave apart. They do not depend
# on the budget, so a larger budget chooses among more of them and is never worse.
SIZES = np.unique(np.rint(2 ** (np.arange(31 * 8) / 8)).astype(np.int64))
# In tables of more than `MOST_ROWS` rows a sample chooses the nodes to drop: `MOST_PAIRS` / rows of
# them, at least `LEAST_JUDGES`. So larger tables, which take longer to grow, have smaller samples.
MOST_ROWS, MOST_PAIRS, LEAST_JUDGES = 20_000, 70_000_000, 2000


class Nodes:
    """The nodes of a forest that may be dropped, by rank; `ids` are their places in its records."""

    def __init__(self, records, ids):
        self.records, self.ids, self.tree = records, ids, records["tree"][ids]
        # The places of their parents in the records, and the parents' ranks (-1 for a root).
        self.parent_id = records["parent"][ids]
        self.parent = records["step"][self.parent_id]

    def count(self, kept):
        """Return the number of nodes in a model of the `kept` ranks, including roots."""
        return kept.size + np.unique(self.tree[kept]).size


class AcceptedNodes(Nodes):
    """The accepted nodes of a grown forest, by rank of acceptance."""

    def __init__(self, table):
        self._table = table
        super().__init__(table.records[: table.n_nodes], table.accepted())

    def indicators(self, kept, rows):
        """Return a csc_array of 0 and 1: the `kept` nodes that these training examples reach."""
        place = np.full(self._table.n_samples, -1, dtype=np.int32)
        place[rows] = np.arange(rows.size)
        reached = [place[self._table.samples(node)] for node in self.ids[kept]]
        reached = [column[column >= 0] for column in reached]
        ends = np.cumsum([0, *(column.size for column in reached)])
        data = np.ones(ends[-1], dtype=np.float32), np.concatenate(reached), ends
        matrix = csc_array(data, shape=(rows.size, kept.size))
        matrix.sort_indices()
        return matrix


class ImportedNodes(Nodes):
    """All nodes of an `ImportedForest` except its roots, with the interface of `AcceptedNodes`."""

    def __init__(self, forest, X, targets, weights):
        n_nodes = [tree.node_count for tree in forest.trees]
        self.n_trees, self.n_features = len(n_nodes), X.shape[1]
        records = np.zeros(sum(n_nodes), dtype=FOREST_NODE_DTYPE)
        # The leaf of each example in each tree; below, its place among all nodes.
        self._leaves = ForestPredictor(forest.trees, forest.n_features).walk(X, leaves=True).leaves
        # A feature without missing values in training may have none in prediction, so its splits
        # need no side for them.
        starts, gaps = np.cumsum([0, *n_nodes]), np.isnan(X).any(axis=0)
        for number, (tree, start) in enumerate(zip(forest.trees, starts, strict=False)):
            # Parents come first, and siblings side by side.
            inner, place = np.flatnonzero(~tree.is_leaf), np.full(tree.node_count, start)
            place[tree.children_left[inner]] += 1 + 2 * np.arange(inner.size)
            place[tree.children_right[inner]] += 2 + 2 * np.arange(inner.size)
            parent = tree.parents()
            self._leaves[:, number] = place[self._leaves[:, number]]
            records["tree"][place] = number
            records["feature"][place], records["threshold"][place] = tree.feature, tree.threshold
            records["child"][place] = np.where(tree.is_leaf, LEAF, place[tree.children_left])
            records["parent"][place] = np.where(parent < 0, -1, place[parent])
            if tree.missing_left is not None:
                records["missing_left"][place] = tree.missing_left & gaps[tree.feature]
        ids = np.flatnonzero(records["parent"] >= 0)
        records["step"] = -1
        records["step"][ids] = np.arange(ids.size)
        super().__init__(records, ids)
        # The number of examples of each node, and the sum of squares that its split explains.
        parent, mass = records["parent"].tolist(), weights[:, None]
        centred = mass * (targets - weights @ targets / weights.sum())
        each = np.hstack([np.ones_like(mass), mass, centred])
        sums = np.zeros((len(parent), each.shape[1]))
        for leaves in self._leaves.T:
            np.add.at(sums, leaves, each)
        for node in range(len(parent) - 1, 0, -1):
            if parent[node] >= 0:
                sums[parent[node]] += sums[node]
        records["size"] = sums[:, 0]
        explained = np.square(sums[:, 2:]).sum(axis=1) / np.where(sums[:, 0] > 0, sums[:, 1], 1)
        split = np.flatnonzero(records["child"] >= 0)
        left = records["child"][split]
        decrease = explained[left] + explained[left + 1] - explained[split]
        records["decrease"][split] = np.maximum(decrease, 0.0)

    def indicators(self, kept, rows):
        """Return a csc_array of 0 and 1: the `kept` nodes that these training examples reach."""
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


@dataclass(frozen=True)
class Memory:
    """Limits of a model's memory and time."""

    n_nodes: int  # limit on nodes, including the roots of trees; >= 2
    n_bytes: int | None = None  # limit on bytes in the compact format
    format: str = "float32"
    n_columns: int = 1  # of the values
    n_features: int = 1  # columns of the examples
    n_steps: float | None = None  # limit on the mean number of tests for a training example

    def excess(self, nodes, kept):
        """Return the approximate number of nodes to drop; 0 if the model is within the limits."""
        n_nodes = nodes.count(kept)
        excess = max(0, n_nodes - self.n_nodes)
        # Bytes and tests are roughly proportional to nodes; the next round counts them again.
        share = 0.0 if self.n_bytes is None else 1 - self.n_bytes / self._bytes(nodes, kept)
        if self.n_steps is not None:
            size = nodes.records["size"]
            steps = size[np.unique(nodes.parent_id[kept])].sum() / max(size[0], 1)
            share = max(share, 1 - self.n_steps / max(steps, 1))
        return max(excess, int(np.ceil(share * n_nodes)))

    def _bytes(self, nodes, kept):
        """Return the bytes of a model of these nodes, or slightly more."""
        asked = {"return_index": True, "return_counts": True}
        splits, first, children = np.unique(nodes.parent_id[kept], **asked)
        n_splits = np.unique(nodes.tree[kept[first]], return_counts=True)[1]
        # The side of a root that was not accepted has no value.
        rootless = (nodes.parent[kept[first]] < 0) & (children == 1)
        n_stops = int(splits.size + n_splits.size - rootless.sum())
        split, used = nodes.records[splits], 0
        if self.format == "int8":  # infinite thresholds have a separate grid
            far = split["feature"][split["threshold"] >= LARGEST]
            used = np.unique(split["feature"]).size + np.unique(far).size
        sizes = n_splits, n_splits - 1, n_stops, self.n_columns, self.n_features, used
        return size(self.format, *sizes, missing=split["missing_left"].any())


def prune_and_refit(nodes, regress, n_samples, memory, ridge, validate, best):
    """Fit the weights of all nodes by regression, and drop leaves until a budget is met.

    In large tables a sample chooses the leaves to drop, and all rows fit the remaining nodes. With
    ridge "auto" the penalty is chosen before the first round and after the last one, by `validate`
    (the errors of solutions on validation data) or generalised cross-validation. With `best`,
    pruning goes on to a single node, in steps that do not depend on the budget, and the best model
    on validation data within the budget is returned.
    """
    kept, rows, found = np.arange(nodes.ids.size), np.arange(n_samples), []
    sampled = n_samples > MOST_ROWS and kept.size > 1 and (best or memory.excess(nodes, kept) > 0)
    judges = rows
    if sampled:
        n_judges = max(LEAST_JUDGES, MOST_PAIRS // n_samples)
        judges = np.sort(np.random.default_rng(0).choice(n_samples, n_judges, replace=False))
    regression = regress(kept, judges)
    chosen, solution = _solve(regression, kept, ridge, validate)
    while True:
        excess = memory.excess(nodes, kept)
        if not excess or kept.size == 1:
            penalty, (weights, start) = chosen, solution
            if sampled or (ridge == "auto" and kept.size < nodes.ids.size):
                last = regress(kept, rows) if sampled else regression
                penalty, (weights, start) = _solve(last, kept, ridge, validate)
            found.append((kept, weights, start, penalty))
            if not best:
                return found[0]
            if kept.size == 1:
                errors = [validate(kept, (weights, start))[0] for kept, weights, start, _ in found]
                return found[len(found) - 1 - int(np.argmin(errors[::-1]))]
        if best:
            n_nodes = nodes.count(kept)
            excess = n_nodes - max(SIZES[n_nodes > SIZES])
        # Only leaves are dropped, as the paths of other nodes need the inner ones.
        stays = _without_small_leaves(nodes, kept, solution[0], regression.spread, excess)
        kept = kept[stays]
        regression.keep(stays)
        # The first penalty is used while pruning; the last round may choose another.
        _, solution = _solve(regression, kept, chosen, validate)


def _solve(regression, kept, ridge, validate):
    """Return the penalty and its solution (weights and intercept)."""
    if ridge != "auto":
        return ridge, regression.solve(ridge * regression.scale)
    solutions, scores = regression.path(ALPHAS * regression.scale)
    if validate is not None:
        scores = validate(kept, *solutions)
    best = int(np.argmin(scores))
    return float(ALPHAS[best]), solutions[best]


def _without_small_leaves(nodes, kept, weights, spread, excess):
    """Return a mask of `kept` without the least useful leaves: `excess` nodes, or a share."""
    parents = nodes.parent[kept]
    leaf = np.ones(nodes.ids.size, dtype=bool)
    leaf[parents[parents >= 0]] = False
    # The change of the predictions on training data without a node. Single precision makes nodes of
    # the same examples tie; in double precision the machine's rounding would choose among them.
    use = (np.square(weights).sum(axis=1) * spread).astype(np.float32)
    leaves = np.flatnonzero(leaf[kept])
    leaves = leaves[np.argsort(use[leaves], kind="stable")]
    most = min(max(1, int(SHARE * kept.size)), excess)
    # Dropping the last node of a tree drops its root, too.
    tree = nodes.tree[kept]
    of_tree = pd.Series(tree[leaves])
    place = of_tree.groupby(of_tree).cumcount().to_numpy()
    price = 1 + (place + 1 == np.bincount(tree)[tree[leaves]])
    stays = np.ones(kept.size, dtype=bool)
    stays[leaves[np.cumsum(price) - price < most]] = False
    return stays
