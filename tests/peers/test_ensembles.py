"""Ensembles at several sizes: each stage is the model of that size, and nodes are counted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.peers import ForestStages
from budgetlearn.testing import expected_failed_checks

from .reference import union_of_paths


@parametrize_with_checks(
    [
        ForestStages(ExtraTreesClassifier(), n_trees=(2, 5)),
        ForestStages(ExtraTreesRegressor(), n_trees=(2, 5)),
        ForestStages(AdaBoostClassifier(), n_trees=(2, 20)),
        ForestStages(GradientBoostingClassifier(max_depth=2), n_trees=(2, 20)),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_stages_of_a_regression_forest_are_forests_of_its_first_trees(numbers):
    X, y = numbers
    model = ForestStages(ExtraTreesRegressor(), n_trees=(1, 4), random_state=3).fit(X, y)
    trees = model.estimator_.estimators_
    few, all_trees = model.staged_predict(X)
    np.testing.assert_allclose(few, trees[0].predict(X))
    np.testing.assert_allclose(all_trees, model.estimator_.predict(X))
    np.testing.assert_array_equal(model.predict(X), all_trees)
    counts = [tree.tree_.node_count for tree in trees]
    assert [stage.nodes for stage in model.stages(X)] == [counts[0], sum(counts)]
    assert model.stage_settings_ == [{"trees": 1}, {"trees": 4}]


def test_stages_of_a_classification_forest_vote_like_it(classes):
    X, y = classes
    model = ForestStages(ExtraTreesClassifier(max_depth=3), n_trees=(1, 9), random_state=3)
    *_, last = model.fit(X, y).staged_predict(X)
    np.testing.assert_array_equal(last, model.estimator_.predict(X))


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("base", [AdaBoostClassifier(), GradientBoostingClassifier(max_depth=2)])
def test_stages_of_boosting_are_its_own(load, base):
    X, y = load(return_X_y=True)
    model = ForestStages(base, n_trees=(1, 7, 25), random_state=0).fit(X, y)
    own = list(model.estimator_.staged_predict(X.astype(np.float32)))
    for n_trees, predicted in zip(model.n_trees, model.staged_predict(X), strict=True):
        np.testing.assert_array_equal(predicted, own[n_trees - 1])


def test_boosted_numbers_start_from_their_mean(numbers):
    X, y = numbers
    model = ForestStages(GradientBoostingRegressor(), n_trees=(1, 9), random_state=0).fit(X, y)
    own = list(model.estimator_.staged_predict(X.astype(np.float32)))
    for n_trees, predicted in zip(model.n_trees, model.staged_predict(X), strict=True):
        np.testing.assert_allclose(predicted, own[n_trees - 1], rtol=1e-12)


def test_boosting_that_ends_early_has_no_more_trees(classes):
    X, y = classes
    base = AdaBoostClassifier(DecisionTreeClassifier())
    model = ForestStages(base, n_trees=(1, 50), random_state=0).fit(X, y)
    (tree,) = model.estimator_.estimators_
    assert [stage.nodes for stage in model.stages(X)] == [tree.tree_.node_count] * 2
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize(
    "base",
    [
        RandomForestClassifier(max_depth=3),
        ExtraTreesClassifier(max_depth=3),
        AdaBoostClassifier(),
        GradientBoostingClassifier(max_depth=2),
    ],
)
def test_all_are_charged_for_the_union_of_their_paths(classes, base):
    X, y = classes
    prices = np.arange(1.0, 14.0)
    model = ForestStages(base, n_trees=(1, 5), feature_costs=prices, random_state=0).fit(X, y)
    slow = union_of_paths(model.estimator_, X)
    np.testing.assert_array_equal(model.acquired_features(X), slow)
    np.testing.assert_allclose(model.acquisition_cost(X), slow @ prices)
    few, many = model.staged_acquired_features(X)
    assert (few <= many).all()
    assert few.sum() < many.sum()


@pytest.mark.parametrize(
    ("base", "load", "columns"),
    [
        (ExtraTreesClassifier(max_depth=3), load_wine, 3),
        (ExtraTreesClassifier(max_depth=3), load_breast_cancer, 1),
        (GradientBoostingClassifier(max_depth=2), load_wine, 1),
        (GradientBoostingClassifier(max_depth=2), load_breast_cancer, 1),
    ],
)
def test_bytes_are_those_that_a_device_stores(base, load, columns):
    X, y = load(return_X_y=True)
    model = ForestStages(base, n_trees=(1, 4), random_state=0).fit(X, y)
    trees = model._models[-1].forest.trees
    splits = np.array([(tree.node_count - 1) // 2 for tree in trees])
    # Header and constants; of a tree its head, its splits (feature, threshold, offset) and leaves.
    head, bytes_of = 28 + 4 * columns, 2 + (1 + 4 + 1) * splits + 4 * columns * (splits + 1)
    first = len(trees) // 4
    stored = [head + bytes_of[:first].sum(), head + bytes_of.sum()]
    assert [model._stored_bytes(stage) for stage in (0, 1)] == stored


def test_threads_change_nothing(classes):
    X, y = classes
    one, two = (
        ForestStages(RandomForestClassifier(), (3, 9), random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    for a, b in zip(one.staged_predict(X), two.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_trees_are_counted_whole(numbers):
    with pytest.raises(BudgetlearnError, match=r"n_trees .* integer"):
        ForestStages(ExtraTreesRegressor(), n_trees=(1.5, 4)).fit(*numbers)
