"""Converted trees predict what their library predicts, and are charged by a walk."""

import lightgbm
import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.tree.convert import from_lightgbm, from_sklearn, sklearn_intercept
from budgetlearn.tree.predictor import ForestPredictor
from tests.tree.reference import walk


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(500, 8, n_informative=5, n_classes=3, random_state=0)
    return X.astype(np.float32), y


def raw(trees, X):
    return ForestPredictor(trees, X.shape[1]).walk(X, values=True).values


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(5)])
def test_sklearn_classifiers(table, model):
    X, y = table
    trees = from_sklearn(model.set_params(random_state=0).fit(X, y))
    np.testing.assert_allclose(raw(trees, X) / len(trees), model.predict_proba(X), atol=1e-12)


def test_sklearn_leaf_ids(table):
    X, y = table
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    leaves = ForestPredictor(from_sklearn(model), 8).walk(X, leaves=True).leaves
    np.testing.assert_array_equal(leaves, model.apply(X))


def test_sklearn_regression():
    X, y = make_regression(300, 6, random_state=0)
    X = X.astype(np.float32)
    model = ExtraTreesRegressor(6, random_state=0).fit(X, y)
    np.testing.assert_allclose(raw(from_sklearn(model), X)[:, 0] / 6, model.predict(X))
    boosted = GradientBoostingRegressor(n_estimators=9, init="zero").fit(X, y)
    np.testing.assert_allclose(raw(from_sklearn(boosted), X)[:, 0], boosted.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sklearn_boosted_classes(table, n_classes):
    X, y = table
    rows = y < n_classes
    model = GradientBoostingClassifier(n_estimators=9, init="zero").fit(X[rows], y[rows])
    expected = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(raw(from_sklearn(model), X), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_starts_from_its_intercept(table, n_classes):
    X, y = table
    rows = y < n_classes
    model = GradientBoostingClassifier(n_estimators=4).fit(X[rows], y[rows])
    expected = model.decision_function(X).reshape(len(X), -1)
    scores = raw(from_sklearn(model), X) + sklearn_intercept(model)
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_ensembles_without_a_start_have_intercept_zero(table):
    assert sklearn_intercept(RandomForestClassifier(2).fit(*table)) == 0


@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_adaboost_votes(table, n_classes, max_depth):
    X, y = table
    rows = y < n_classes
    base = DecisionTreeClassifier(max_depth=max_depth)
    model = AdaBoostClassifier(base, n_estimators=9).fit(X[rows], y[rows])
    scores = raw(from_sklearn(model), X)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
    expected = model.decision_function(X) * model.estimator_weights_.sum()
    scores = scores if n_classes > 2 else scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(scores, expected, atol=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "binary"},
        {"objective": "multiclass", "num_class": 3},
        {"objective": "regression"},
        {"objective": "binary", "boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
        {"objective": "regression", "boosting": "dart"},
    ],
)
def test_lightgbm_raw_scores(table, parameters):
    X, y = table
    target = (y == 1) if parameters["objective"] == "binary" else y
    parameters = {"verbose": -1, "min_data_in_leaf": 3, "num_threads": 1, **parameters}
    data = lightgbm.Dataset(X.astype(np.float64), target.astype(float))
    booster = lightgbm.train(parameters, data, 12)
    # LightGBM takes numbers up to the size of float32's 1e-35 for 0, and splits there.
    tiny = np.float32(1e-35) * np.sign(X)
    fresh = np.vstack([X, X[::-1] * 1.01, np.where(X > 0.5, X, tiny)]).astype(np.float64)
    expected = booster.predict(fresh, raw_score=True).reshape(len(fresh), -1)
    np.testing.assert_allclose(raw(from_lightgbm(booster), fresh), expected, rtol=1e-9, atol=1e-12)


def test_lightgbm_sends_missing_values_where_training_did(table):
    X, y = table
    X = X.astype(np.float64)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    parameters = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 3, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y == 1), 12)
    trees = from_lightgbm(booster)
    left = np.concatenate([t.missing_left[~t.is_leaf] for t in trees if t.missing_left is not None])
    assert 0 < left.mean() < 1
    expected = booster.predict(X, raw_score=True)
    np.testing.assert_allclose(raw(trees, X)[:, 0], expected, rtol=1e-9, atol=1e-12)


def test_lightgbm_leaves_and_features_of_paths(table):
    X, y = table
    X = X.astype(np.float64)
    X[:, 3] = X[:, 3].round()  # zeros and ties
    parameters = {"objective": "binary", "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y == 1), 4)
    trees = from_lightgbm(booster)
    acquired = ForestPredictor(trees, 8).walk(X, acquired=True).acquired
    for x, mask in zip(X, acquired, strict=True):
        assert set(np.flatnonzero(mask)) == set().union(*(walk(tree, x)[1] for tree in trees))
    used = booster.feature_importance() > 0
    np.testing.assert_array_equal(acquired.any(axis=0), used)


def test_lightgbm_constant_target_is_a_lone_leaf():
    X = np.arange(20.0)[:, None]
    parameters = {"objective": "regression", "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, np.ones(20)), 1)
    np.testing.assert_allclose(raw(from_lightgbm(booster), X)[:, 0], booster.predict(X))


def test_what_cannot_be_represented_is_refused(table):
    X, y = table
    with pytest.raises(TypeError, match="got AdaBoostRegressor"):
        from_sklearn(AdaBoostRegressor().fit(X, y))
    with pytest.raises(TypeError, match="one target, got 2"):
        from_sklearn(DecisionTreeClassifier().fit(X, np.c_[y, y]))
    base = {"objective": "regression", "verbose": -1, "num_threads": 1}
    codes = (np.arange(500.0) % 7)[:, None]
    target = np.isin(codes[:, 0], (1, 4, 6)).astype(float)
    for extra, columns, message in [
        ({"categorical_feature": [0], "min_data_per_group": 1}, codes, "categorical"),
        ({"zero_as_missing": True}, codes, "zero_as_missing"),
        ({"linear_tree": True}, X.astype(np.float64), "linear trees"),
    ]:
        parameters = {**base, **extra}
        columns_of = parameters.pop("categorical_feature", "auto")
        data = lightgbm.Dataset(
            columns, target, categorical_feature=columns_of, params=dict(parameters)
        )
        booster = lightgbm.train(parameters, data, 3)
        with pytest.raises(TypeError, match=message):
            from_lightgbm(booster)
