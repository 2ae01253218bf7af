"""Leaves and importances of a forest."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.exceptions import MissingValueError
from budgetlearn.forests import RandomForestClassifier
from tests.tree.reference import walk

X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
# What scikit-learn's trees read is float32.
X = X.astype(np.float32).astype(np.float64)


@pytest.fixture(params=[BudgetRFClassifier, RandomForestClassifier])
def forest(request):
    forest = request.param(n_estimators=4, random_state=0)
    depth = "max_depth" if request.param is RandomForestClassifier else "growth__max_depth"
    return forest.set_params(**{depth: 5}).fit(X, Y)


def test_leaves_are_those_of_a_slow_walk(forest):
    slow = [[walk(tree, x)[0] for tree in forest.trees_] for x in X]
    np.testing.assert_array_equal(forest.apply(X), slow)


def test_importances_are_mean_decreases_of_impurity(forest):
    """The mean of the trees, of each the sum over a feature's splits, weighted by examples."""
    expected = np.zeros(5)
    for tree in forest.trees_:
        size = tree.value.sum(axis=1)
        lost = size - (tree.value**2).sum(axis=1) / size  # Gini's impurity times the examples
        inner = ~tree.is_leaf
        sides = tree.children_left[inner], tree.children_right[inner]
        drops = lost[inner] - lost[sides[0]] - lost[sides[1]]
        np.add.at(expected, tree.feature[inner], drops / size[0])
    np.testing.assert_allclose(forest.feature_importances_, expected / expected.sum())


def test_a_forest_of_leaves_has_no_importances():
    forest = BudgetRFClassifier(n_estimators=1, alpha=1e6, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(forest.feature_importances_, np.zeros(5))


def test_a_missing_cell_that_is_looked_at_is_told(forest):
    missing = X.copy()
    missing[7] = np.nan
    with pytest.raises(MissingValueError, match="row 8"):
        forest.apply(missing)
