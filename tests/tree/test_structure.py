"""`Tree`: frozen arrays, through a pickle too."""

import pickle

import numpy as np
import pytest

from budgetlearn.tree.predictor import Tree

STUMP = Tree(
    feature=[2, -1, -1],
    threshold=[0.5, 0, 0],
    children_left=[1, -1, -1],
    children_right=[2, -1, -1],
    value=[[3, 2], [3, 0], [0, 2]],
    n_node_samples=[5, 3, 2],
)


@pytest.mark.parametrize("tree", [STUMP, pickle.loads(pickle.dumps(STUMP))])
def test_arrays_are_typed_and_read_only(tree):
    assert tree.threshold.dtype == tree.value.dtype == np.float64
    assert tree.feature.dtype == tree.children_left.dtype == tree.n_node_samples.dtype == np.int32
    assert tree.node_count == 3
    np.testing.assert_array_equal(tree.is_leaf, [False, True, True])
    for name in ("feature", "threshold", "children_left", "children_right", "value"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 1
