"""Pruning of a tree by what its left-out examples say, and by what others have paid already."""

import numpy as np

from ..tree.structure import LEAF, Tree

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
