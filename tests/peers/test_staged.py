"""Forests at several sizes: each stage is the model of that size, and nodes are counted."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.forest import GIFClassifier, GIFRegressor
from budgetlearn.peers import ForestStages, GIFNodeShares


@parametrize_with_checks(
    [
        ForestStages(ExtraTreesClassifier(), n_trees=(2, 5)),
        ForestStages(ExtraTreesRegressor(), n_trees=(2, 5)),
        GIFNodeShares(GIFClassifier(n_estimators=50, learning_rate=0.3), (5, 50), n_trees=50),
        GIFNodeShares(GIFRegressor(n_estimators=50, learning_rate=0.3), (5, 50), n_trees=50),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def numbers():
    return make_friedman1(200, random_state=0)


@pytest.fixture
def classes():
    return load_wine(return_X_y=True)


def test_stages_of_a_regression_forest_are_forests_of_its_first_trees(numbers):
    X, y = numbers
    model = ForestStages(ExtraTreesRegressor(), n_trees=(1, 4), random_state=3).fit(X, y)
    trees = model.estimator_.estimators_
    few, all_trees = model.staged_predict(X)
    np.testing.assert_allclose(few, trees[0].predict(X))
    np.testing.assert_allclose(all_trees, model.estimator_.predict(X))
    np.testing.assert_array_equal(model.predict(X), all_trees)
    counts = [tree.tree_.node_count for tree in trees]
    assert list(model.staged_n_nodes()) == [counts[0], sum(counts)]
    assert model.stage_settings_ == [{"trees": 1}, {"trees": 4}]


def test_stages_of_a_classification_forest_vote_like_it(classes):
    X, y = classes
    model = ForestStages(ExtraTreesClassifier(max_depth=3), n_trees=(1, 9), random_state=3)
    *_, last = model.fit(X, y).staged_predict(X)
    np.testing.assert_array_equal(last, model.estimator_.predict(X))


def test_smaller_stages_look_at_no_more_features(numbers):
    X, y = numbers
    for model in (
        ForestStages(ExtraTreesRegressor(max_depth=1), n_trees=(1, 5), random_state=0),
        GIFNodeShares(GIFRegressor(n_estimators=30), (1, 20), n_trees=30, random_state=0),
    ):
        few, many = model.fit(X, y).staged_acquired_features(X)
        assert (few <= many).all()
        assert few.sum() < many.sum()
        np.testing.assert_array_equal(model.acquired_features(X), many)


@pytest.mark.parametrize("n_estimators", [50, 100, 200])
def test_budgets_are_shares_of_fully_grown_trees(numbers, n_estimators):
    X, y = numbers
    forest = GIFRegressor(n_estimators=n_estimators)
    model = GIFNodeShares(forest, percents=(1, 10), n_trees=100, random_state=0)
    model.fit(X, y)
    # A tree on 200 distinct targets has 399 nodes.
    assert model.n_full_ == 39_900
    assert model.node_budgets_ == [399, 3990]
    for n_nodes, node_budget in zip(model.staged_n_nodes(), model.node_budgets_, strict=True):
        assert node_budget - 1 <= n_nodes <= node_budget
    assert model.estimator_.n_nodes_ == list(model.staged_n_nodes())[-1]


def test_the_small_budget_is_the_forest_that_this_budget_grows(classes):
    X, y = classes
    model = GIFNodeShares(GIFClassifier(n_estimators=50), (2, 20), n_trees=50, random_state=1)
    model.fit(X, y)
    seed = model.estimator_.random_state
    small = GIFClassifier(model.node_budgets_[0], n_estimators=50, random_state=seed).fit(X, y)
    np.testing.assert_array_equal(next(model.staged_predict(X)), small.predict(X))
    assert next(model.staged_node_entropy()) == small.node_entropy_


@pytest.mark.parametrize("sizes", [(), (10, 10), (0, 5), (5, 101)])
def test_wrong_shares_are_refused(numbers, sizes):
    with pytest.raises(BudgetlearnError, match="percents"):
        GIFNodeShares(GIFRegressor(), percents=sizes).fit(*numbers)


def test_trees_are_counted_whole(numbers):
    with pytest.raises(BudgetlearnError, match=r"n_trees .* integer"):
        ForestStages(ExtraTreesRegressor(), n_trees=(1.5, 4)).fit(*numbers)
