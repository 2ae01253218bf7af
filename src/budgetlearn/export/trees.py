"""`StoredTrees`: what a device has to keep of a forest, splits in preorder and values of stops.

The trees of a globally induced forest hold sides of splits that were not accepted. Such a side
says what its parent says, and is a stop like a leaf: a value is stored for it, not a node. A tree
of s splits has s + 1 stops. In preorder, the stops left of a split are one more than the splits
left of it, so one number for each split leads both to its right side and to the values there.
"""

from dataclasses import dataclass

import numpy as np

from ..tree.predictor import LEAF, Tree
from . import serialization
from .preorder import preorder

FULL, LEFT_IS_ZERO, RIGHT_IS_ZERO = 0, 1, 2  # what a tree's head says of its root


@dataclass
class StoredTrees:
    """The splits and stops of a forest, tree after tree."""

    n_splits: np.ndarray  # of each tree, 1 at least
    empty: np.ndarray  # the side of each root that is a stop of value zero, not stored; or `FULL`
    feature: np.ndarray  # of each split, in preorder
    threshold: np.ndarray  # x[feature] <= threshold goes left
    n_left: np.ndarray  # splits in the left side of each split
    value: np.ndarray  # (n_stops, n_values), left to right
    # Of trees without a split: the sum of their values, and the class of the largest value of each.
    constant: np.ndarray
    labels: np.ndarray


def stored(trees, zero_stops=True):
    """Return the splits and stops that have to be stored of `Tree` objects.

    With `zero_stops` a root's stop of value zero is left out.
    """
    constant = np.zeros(trees[0].value.shape[1])
    heads, parts, stops, labels = [], [], [], []
    for tree in trees:
        splits, n_left, ends = preorder(tree.children_left, tree.children_right)
        # A tree without a split says the same of all examples: the constant takes it over.
        if not splits.size:
            constant += tree.value[0]
            labels.append(tree.value[0].argmax())
            continue
        empty = _empty_side(tree, ends) if zero_stops else FULL
        if empty == LEFT_IS_ZERO:
            ends = ends[1:]
        elif empty == RIGHT_IS_ZERO:
            ends = ends[:-1]
        heads.append((splits.size, empty))
        parts.append((tree.feature[splits], tree.threshold[splits], n_left))
        stops.append(tree.value[ends])
    n_splits, empty = np.array(heads, dtype=np.int64).reshape(-1, 2).T
    feature, threshold, n_left = (
        np.concatenate([np.empty(0), *(own[place] for own in parts)]) for place in range(3)
    )
    return StoredTrees(
        n_splits,
        empty,
        feature.astype(np.int64),
        threshold,
        n_left.astype(np.int64),
        np.concatenate([np.empty((0, constant.size)), *stops]),
        constant,
        np.array(labels, dtype=np.int64),
    )


def stored_bytes(trees, n_features, n_columns):
    """Return the bytes that sums of at least one tree take in the compact format "float32".

    `n_columns` are the numbers that a stop holds: 1 for two classes, and for the trees of boosting
    that gives each class its own.
    """
    forest = stored(trees)
    shape = forest.n_splits, forest.n_left, len(forest.value), n_columns, n_features
    return serialization.size(False, "float32", *shape, 0)


def _empty_side(tree, ends):
    """Return the code of the root's side that is a stop of value zero, or `FULL`."""
    if ends[0] == tree.children_left[0] and not tree.value[ends[0]].any():
        return LEFT_IS_ZERO
    if ends[-1] == tree.children_right[0] and not tree.value[ends[-1]].any():
        return RIGHT_IS_ZERO
    return FULL


def rebuilt(n_splits, feature, threshold, n_left):
    """Return `Tree` objects of these splits; the value of a leaf is its place among the stops."""
    ends = np.cumsum(n_splits)
    return [
        _rebuilt(feature[start:end], threshold[start:end], n_left[start:end])
        for start, end in zip(ends - n_splits, ends, strict=True)
    ]


def _rebuilt(feature, threshold, n_left):
    """Return one tree; splits keep their order, and nodes are in preorder with their stops."""
    n_nodes = 2 * feature.size + 1
    node_feature, node_threshold = np.full(n_nodes, LEAF), np.zeros(n_nodes)
    left, right, value = (np.full(n_nodes, LEAF) for _ in range(3))
    # (node, first split of its side, splits of its side, first stop of its side)
    waiting = [(0, 0, feature.size, 0)]
    while waiting:
        node, split, n, stop = waiting.pop()
        if n == 0:
            value[node] = stop
            continue
        # n splits and n + 1 stops make 2 n + 1 nodes: the right side starts behind those.
        before = int(n_left[split])
        node_feature[node], node_threshold[node] = feature[split], threshold[split]
        left[node], right[node] = node + 1, node + 2 * before + 2
        waiting.append((node + 1, split + 1, before, stop))
        waiting.append((right[node], split + 1 + before, n - 1 - before, stop + 1 + before))
    samples = np.zeros(n_nodes)
    return Tree(node_feature, node_threshold, left, right, value[:, None], samples)
