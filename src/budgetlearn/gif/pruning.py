"""Grow, prune, refit: the nodes of a large forest that a budget is best spent on."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from ..export.serialization import size
from .weights import ALPHAS

# Largest share of the nodes that one round drops.
SHARE = 0.25


class AcceptedNodes:
    """The accepted nodes of a grown forest, by rank of acceptance."""

    def __init__(self, table, n_accepted):
        self._table = table
        records = table.records[: table.n_nodes]
        # Their places in the table's records, and below those of their parents; `parent` is the
        # rank of acceptance of that, -1 where it is a root.
        self.ids = np.empty(n_accepted, dtype=np.intp)
        accepted = np.flatnonzero(records["step"] >= 0)
        self.ids[records["step"][accepted]] = accepted
        self.tree = records["tree"][self.ids]
        self.parent_id = records["parent"][self.ids]
        self.parent = records["step"][self.parent_id]
        self.feature = records["feature"]

    def indicators(self):
        """Return the nodes that training examples reach, a csc_array of 0 and 1."""
        records, samples = self._table.records[self.ids], self._table.samples
        # Each node's samples are a slice of its tree's order, so columns are filled by slices.
        sizes = records["size"].astype(np.int64)
        ends = np.cumsum(sizes)
        first = records["tree"].astype(np.int64) * samples.shape[1] + records["start"]
        places = np.arange(ends[-1] if ends.size else 0) + np.repeat(first - ends + sizes, sizes)
        rows = samples.ravel()[places]
        columns = np.concatenate([[0], ends])
        shape = samples.shape[1], self.ids.size
        matrix = csc_array((np.ones(rows.size, dtype=np.float32), rows, columns), shape=shape)
        matrix.sort_indices()
        return matrix


@dataclass(frozen=True)
class Memory:
    """Limits of a model's memory."""

    n_nodes: int  # most nodes, the roots of trees included; >= 2
    n_bytes: int | None = None  # most bytes in the compact format
    format: str = "float32"
    n_columns: int = 1  # of the values
    n_features: int = 1  # columns of the examples

    def excess(self, nodes, kept):
        """Return about how many nodes are too many, 0 where these fit."""
        n_nodes = kept.size + np.unique(nodes.tree[kept]).size
        excess = max(0, n_nodes - self.n_nodes)
        if self.n_bytes is None:
            return excess
        # Bytes grow about as nodes do; the next round counts them anew.
        share = 1 - self.n_bytes / self._bytes(nodes, kept)
        return max(excess, int(np.ceil(share * n_nodes)))

    def _bytes(self, nodes, kept):
        """Return the bytes of a model of these nodes, or a few more."""
        splits, first, children = np.unique(
            nodes.parent_id[kept], return_index=True, return_counts=True
        )
        n_splits = np.unique(nodes.tree[kept[first]], return_counts=True)[1]
        # The side of a root that was not accepted says nothing, and takes no value.
        rootless = (nodes.parent[kept[first]] < 0) & (children == 1)
        n_stops = int(splits.size + n_splits.size - rootless.sum())
        used = np.unique(nodes.feature[splits]).size if self.format == "int8" else 0
        sizes = n_splits, n_splits - 1, n_stops, self.n_columns, self.n_features, used
        return size(False, self.format, *sizes)


def prune_and_refit(nodes, regression, memory, ridge, validate=None):
    """Fit the weights of all nodes by regression, and drop leaves until a budget is met.

    In each round the leaves that the predictions on the training data change least without go:
    those of small squared weight times the spread of their indicator.
    With ridge "auto" the penalty is chosen before the first round and after the last one, by
    `validate` (the errors of solutions on validation data) or generalised cross-validation.
    """
    kept = np.arange(nodes.ids.size)
    chosen, (weights, intercept) = _solve(regression, kept, ridge, validate)
    while (excess := memory.excess(nodes, kept)) and kept.size > 1:
        # Only leaves go: an inner node carries the paths of those below it.
        stays = _without_small_leaves(nodes, kept, weights, regression.spread, excess)
        regression.keep(stays)
        kept = kept[stays]
        # While pruning goes on the first choice holds; the last round may choose its penalty anew.
        wanted = chosen if memory.excess(nodes, kept) else ridge
        chosen, (weights, intercept) = _solve(regression, kept, wanted, validate)
    return kept, weights, intercept, chosen


def _solve(regression, kept, ridge, validate):
    """Return the penalty in use, and the weights and intercept that it gives."""
    if ridge != "auto":
        return ridge, regression.solve(ridge * regression.scale)
    solutions, scores = regression.path(ALPHAS * regression.scale)
    if validate is not None:
        scores = validate(kept, solutions)
    best = int(np.argmin(scores))
    return float(ALPHAS[best]), solutions[best]


def _without_small_leaves(nodes, kept, weights, spread, excess):
    """Return a mask of `kept` without its least useful leaves, `excess` nodes or a share."""
    parents = nodes.parent[kept]
    leaf = np.ones(nodes.ids.size, dtype=bool)
    leaf[parents[parents >= 0]] = False
    use = np.square(weights).sum(axis=1) * spread
    leaves = np.flatnonzero(leaf[kept])
    leaves = leaves[np.argsort(use[leaves], kind="stable")]
    most = min(max(1, int(SHARE * kept.size)), excess)
    # The last node of a tree takes its root along.
    tree = nodes.tree[kept]
    price = 1 + (_places(tree[leaves]) + 1 == np.bincount(tree)[tree[leaves]])
    stays = np.ones(kept.size, dtype=bool)
    stays[leaves[np.cumsum(price) - price < most]] = False
    return stays


def _places(groups):
    """Return the number of earlier entries of the same group, for each entry."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    places = np.empty(groups.size, dtype=np.intp)
    places[order] = np.arange(groups.size) - np.repeat(starts, np.diff(starts, append=groups.size))
    return places
