"""Leaves, importances and single trees of a forest."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import export_text, plot_tree

from budgetlearn.budgetrf import BudgetRFClassifier, Growth
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


def test_a_tree_is_one_of_scikit_learn(forest):
    fitted = forest.decision_tree(2)
    np.testing.assert_array_equal(fitted.apply(X), forest.apply(X)[:, 2])
    counts = forest.trees_[2].value[forest.apply(X)[:, 2]]
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(X), shares)


def test_a_tree_can_be_printed_and_drawn():
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "pulse", "fever"])
    forest = BudgetRFClassifier(n_estimators=1, growth=Growth(max_depth=2), random_state=0).fit(
        frame, Y
    )
    fitted = forest.decision_tree(0)
    name = frame.columns[forest.trees_[0].feature[0]]
    assert f"{name} <=" in export_text(fitted, feature_names=list(frame.columns))
    assert name in plot_tree(fitted, feature_names=list(frame.columns))[0].get_text()


def test_importances_are_those_of_scikit_learn(forest):
    trees = [forest.decision_tree(i).tree_ for i in range(4)]
    expected = np.mean([tree.compute_feature_importances(normalize=False) for tree in trees], 0)
    np.testing.assert_allclose(forest.feature_importances_, expected / expected.sum())


def test_a_forest_of_leaves_has_no_importances():
    forest = BudgetRFClassifier(n_estimators=1, alpha=1e6, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(forest.feature_importances_, np.zeros(5))


def test_a_missing_cell_that_is_looked_at_is_told(forest):
    missing = X.copy()
    missing[7] = np.nan
    with pytest.raises(MissingValueError, match="row 8"):
        forest.apply(missing)
