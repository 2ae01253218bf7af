"""Grow, prune, refit: the nodes of a large forest that a budget is best spent on."""

import numpy as np
from scipy.sparse import csc_array

from .ridge import ALPHAS, NodeRidge

# Largest share of the nodes that one round drops.
SHARE = 0.25


class AcceptedNodes:
    """The accepted nodes of a grown forest, by rank of acceptance.

    Parameters
    ----------
    table : NodeTable
        The grown forest.
    n_accepted : int
        How many nodes it accepted.

    Attributes
    ----------
    ids : ndarray of int
        Place of each in the table's records.
    tree : ndarray of int
        Tree of each.
    parent : ndarray of int
        Rank of each one's parent, -1 where that is a root.
    """

    def __init__(self, table, n_accepted):
        self._table = table
        records = table.records[: table.n_nodes]
        self.ids = np.empty(n_accepted, dtype=np.intp)
        accepted = np.flatnonzero(records["step"] >= 0)
        self.ids[records["step"][accepted]] = accepted
        self.tree = records["tree"][self.ids]
        self.parent = records["step"][records["parent"][self.ids]]

    def indicators(self):
        """Return which training examples reach which node, a csc_array of 0 and 1."""
        records, samples = self._table.records[self.ids], self._table.samples
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


def prune_and_refit(nodes, targets, node_budget, alpha, validate=None, sample_weight=None):
    """Fit the weights of all nodes by ridge regression, and drop leaves until a budget is met.

    In each round the leaves that the predictions on the training data change least without go:
    those of small squared weight times the spread of their indicator.

    Parameters
    ----------
    nodes : AcceptedNodes
        At least one.
    targets : ndarray of float64 of shape (n_samples, n_outputs)
        What to fit.
    node_budget : int
        Most nodes to keep, the roots of their trees included; >= 2.
    alpha : float or "auto"
        Penalty of the squared weights, in mean numbers of nodes that an example reaches. "auto":
        chosen before the first round and after the last one.
    validate : callable, default=None
        Takes ranks of nodes and a list of (weights, intercept), returns the error of each on
        validation data, by which alpha is chosen. None: by generalised cross-validation.
    sample_weight : ndarray of shape (n_samples,), default=None
        None: 1 each.

    Returns
    -------
    kept : ndarray of int
        Ranks of the nodes that stay, ascending.
    weights : ndarray of shape (n_kept, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    alpha : float
        The penalty in use.
    """
    ridge = NodeRidge(nodes.indicators(), targets, sample_weight)
    kept = np.arange(nodes.ids.size)
    chosen, (weights, intercept) = _solve(ridge, kept, alpha, validate)
    while _n_nodes(nodes, kept) > node_budget:
        stays = _without_small_leaves(nodes, kept, weights, ridge.spread, node_budget)
        ridge.keep(stays)
        kept = kept[stays]
        last = _n_nodes(nodes, kept) <= node_budget
        wanted = alpha if last else chosen
        chosen, (weights, intercept) = _solve(ridge, kept, wanted, validate)
    return kept, weights, intercept, chosen


def _solve(ridge, kept, alpha, validate):
    """Return the penalty in use, and the weights and intercept that it gives."""
    if alpha != "auto":
        return alpha, ridge.solve(alpha * ridge.scale)
    solutions, scores = ridge.path(ALPHAS * ridge.scale)
    if validate is not None:
        scores = validate(kept, solutions)
    best = int(np.argmin(scores))
    return float(ALPHAS[best]), solutions[best]


def _n_nodes(nodes, kept):
    """Return how many nodes these are with their roots."""
    return kept.size + np.unique(nodes.tree[kept]).size


def _without_small_leaves(nodes, kept, weights, spread, node_budget):
    """Return a mask of `kept` without its least useful leaves."""
    parents = nodes.parent[kept]
    leaf = np.ones(nodes.ids.size, dtype=bool)
    leaf[parents[parents >= 0]] = False
    use = np.square(weights).sum(axis=1) * spread
    leaves = np.flatnonzero(leaf[kept])
    ranked = leaves[np.argsort(use[leaves], kind="stable")]
    n_nodes = _n_nodes(nodes, kept)
    most = min(max(1, int(SHARE * n_nodes)), ranked.size)
    in_tree = np.bincount(nodes.tree[kept])
    stays = np.ones(kept.size, dtype=bool)
    for place in ranked[:most]:
        if n_nodes <= node_budget:
            break
        tree = nodes.tree[kept[place]]
        stays[place] = False
        in_tree[tree] -= 1
        # The last node of a tree takes its root along.
        n_nodes -= 1 + (in_tree[tree] == 0)
    return stays
