"""Ensembles at several sizes: each stage is the model of that size, and nodes are counted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.peers import ForestStages
from tests.looping import check_conventions
from tests.peers.reference import union_of_paths


@pytest.mark.parametrize(
    "estimator",
    [
        ForestStages(ExtraTreesClassifier(), n_trees=(2, 5)),
        ForestStages(ExtraTreesRegressor(), n_trees=(2, 5)),
        ForestStages(AdaBoostClassifier(), n_trees=(2, 5)),
        ForestStages(GradientBoostingClassifier(max_depth=2), n_trees=(2, 5)),
    ],
    ids=type,
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


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
    assert [model.stored_bytes(stage) for stage in (0, 1)] == stored


def test_threads_change_nothing(classes):
    X, y = classes
    one, two = (
        ForestStages(RandomForestClassifier(), (3, 9), random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    for a, b in zip(one.staged_predict(X), two.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
    # Boosting has no threads of its own.
    model = ForestStages(GradientBoostingClassifier(), (1, 2), n_jobs=2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), model.estimator_.predict_proba(X))


SHALLOW = {"max_depth": [3], "max_features": [None, "sqrt", 0.5], "min_samples_leaf": [1, 9]}
FOREST = SHALLOW | {"bootstrap": [True, False], "warm_start": [True, False]}
BAGGING = {
    "max_features": [1.0, 0.5, 2],
    "bootstrap_features": [True, False],
    "bootstrap": [True, False],
    "max_samples": [1.0, 0.3],
    "warm_start": [True, False],
}
BOOSTING = {
    "init": [None, "zero"],
    "max_depth": [1, 3],
    "subsample": [1.0, 0.5],
    "max_features": [None, 0.5],
    "warm_start": [True, False],
}
OF_CLASSES = [
    (RandomForestClassifier, FOREST | {"criterion": ["gini", "entropy", "log_loss"]}),
    (ExtraTreesClassifier, FOREST | {"warm_start": [False], "class_weight": [None, "balanced"]}),
    (
        BaggingClassifier,
        BAGGING | {"estimator": [None, DecisionTreeClassifier(max_depth=2), ExtraTreeClassifier()]},
    ),
    (GradientBoostingClassifier, BOOSTING),
    (GradientBoostingClassifier, BOOSTING | {"n_iter_no_change": [1]}),
    (
        AdaBoostClassifier,
        {
            "estimator": [None, DecisionTreeClassifier(max_depth=2), ExtraTreeClassifier()],
            "learning_rate": [1.0, 0.1],
        },
    ),
]
OF_NUMBERS = [
    (RandomForestRegressor, FOREST | {"criterion": ["squared_error", "absolute_error"]}),
    (ExtraTreesRegressor, FOREST | {"criterion": ["poisson", "squared_error"]}),
    (BaggingRegressor, BAGGING | {"estimator": [None, DecisionTreeRegressor(max_depth=2)]}),
    (
        GradientBoostingRegressor,
        BOOSTING | {"loss": ["squared_error", "absolute_error", "huber", "quantile"]},
    ),
]


def some_of(grid, most=24):
    """Return all combinations of options, or so many drawn ones."""
    every = list(ParameterGrid(grid))
    drawn = np.random.default_rng(0).permutation(len(every))[:most]
    return [every[k] for k in np.sort(drawn)]


def assert_its_own(base, X, y):
    model = ForestStages(base, n_trees=(1, 6), random_state=0).fit(X, y)
    own, X = model.estimator_, X.astype(np.float32)
    predicted, expected = model.predict(X), own.predict(X)
    if predicted.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, rtol=1e-9)
    else:
        np.testing.assert_array_equal(predicted, expected)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), atol=1e-12)


def labelled(load, kind):
    """Return some rows of a data set of classes, with labels of a kind."""
    X, y = load(return_X_y=True)
    labels = {"text": np.array(["no", "yes", "maybe"]), "numbers": np.array([7, -2, 30])}
    rows = np.random.default_rng(0).permutation(len(X))[:120]
    return X[rows, :8], labels[kind][y[rows]]


@pytest.mark.parametrize("kind", ["text", "numbers"])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize(("base", "grid"), OF_CLASSES)
def test_the_last_stage_predicts_the_classes_of_the_ensemble(base, grid, load, kind):
    X, y = labelled(load, kind)
    # Each data set sees all options: every other one with labels of this kind.
    for options in some_of(grid)[kind == "text" :: 2]:
        assert_its_own(base(**options), X, y)


@pytest.mark.parametrize("options", list(ParameterGrid(BOOSTING)))
def test_exponential_loss_has_half_the_log_odds(options):
    X, y = labelled(load_breast_cancer, "text")
    assert_its_own(GradientBoostingClassifier(loss="exponential", **options), X, y)


@pytest.mark.parametrize(("base", "grid"), OF_NUMBERS)
def test_the_last_stage_predicts_the_numbers_of_the_ensemble(numbers, base, grid):
    X, y = numbers
    for options in some_of(grid):
        assert_its_own(base(**options), X[:120], np.abs(y[:120]))


def test_an_even_score_is_the_second_class_as_in_boosting():
    X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.tile([0, 1], 20)
    base = GradientBoostingClassifier(init="zero")
    model = ForestStages(base, n_trees=(1,), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))


def test_bagging_is_charged_for_the_features_it_drew(classes):
    X, y = classes
    base = BaggingClassifier(DecisionTreeClassifier(max_depth=1), max_features=1)
    model = ForestStages(base, n_trees=(1, 3), random_state=0).fit(X, y)
    drawn = [features[0] for features in model.estimator_.estimators_features_]
    assert set(np.flatnonzero(model.acquired_features(X).any(axis=0))) == set(drawn)


@pytest.mark.parametrize(
    "base",
    [
        AdaBoostRegressor(),
        AdaBoostClassifier(LogisticRegression()),
        BaggingClassifier(LogisticRegression()),
        BaggingClassifier(RandomForestClassifier(2)),
        GradientBoostingClassifier(init=LogisticRegression()),
        HistGradientBoostingClassifier(),
        IsolationForest(),
        RandomTreesEmbedding(),
        DecisionTreeClassifier(),
        StackingClassifier([("tree", DecisionTreeClassifier())]),
        VotingClassifier([("tree", DecisionTreeClassifier())]),
    ],
    ids=lambda base: type(base).__name__,
)
def test_what_is_no_sum_of_trees_is_refused(classes, base):
    with pytest.raises(BudgetlearnError, match=r"must (be an ensemble|start from a constant)"):
        ForestStages(base, n_trees=(1, 3)).fit(*classes)


def test_trees_are_counted_whole(numbers):
    with pytest.raises(BudgetlearnError, match=r"n_trees .* integer"):
        ForestStages(ExtraTreesRegressor(), n_trees=(1.5, 4)).fit(*numbers)
