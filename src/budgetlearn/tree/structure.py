"""`Tree`: one decision tree as frozen arrays, whatever grew it."""

from dataclasses import dataclass, fields

import numpy as np

LEAF = -1  # scikit-learn's TREE_LEAF: no child


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree; an example with x[feature] <= threshold goes left.

    All arrays but `value` are of shape (node_count,).
    """

    feature: np.ndarray  # int32: tested at each node; -1 at a leaf
    threshold: np.ndarray  # float64, in the feature's own unit
    # int32: node ids, always larger than the parent's; -1 at a leaf.
    children_left: np.ndarray
    children_right: np.ndarray
    # float64 (node_count, n_values): class counts in classification, outputs in regression, weights
    # in a GIF.
    value: np.ndarray
    n_node_samples: np.ndarray  # int32: training examples that reached each node
    # bool: whether an example whose feature has no value (NaN) goes left; None: nowhere.
    missing_left: np.ndarray | None = None

    def __post_init__(self):
        dtypes = {
            "feature": np.int32,
            "threshold": np.float64,
            "children_left": np.int32,
            "children_right": np.int32,
            "value": np.float64,
            "n_node_samples": np.int32,
        }
        if self.missing_left is not None:
            dtypes["missing_left"] = bool
        for name, dtype in dtypes.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of_nodes(cls, nodes, value):
        """Return a tree that a kernel grew: records of `GrownNode`, and the value of each."""
        names = ("feature", "threshold", "left", "right")
        missing_left = nodes["missing_left"] if nodes["missing_left"].any() else None
        return cls(*(nodes[name] for name in names), value, nodes["n_samples"], missing_left)

    def __reduce__(self):
        # Through the constructor: arrays come out of a pickle writeable.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def node_count(self):
        """Number of nodes, internal and leaf."""
        return self.feature.size

    @property
    def is_leaf(self):
        """Boolean array of shape (node_count,)."""
        return self.children_left == LEAF

    def parents(self):
        """Return the parent of each node, int32; -1 at the root."""
        parent = np.full(self.node_count, LEAF, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.children_left[inner]] = parent[self.children_right[inner]] = inner
        return parent
