"""Globally induced forests as estimators."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1

from budgetlearn.exceptions import BudgetError, BudgetlearnWarning, CostError
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions


@pytest.mark.parametrize(
    "estimator",
    [
        GIFRegressor(2000, n_estimators=40, learning_rate=0.3, random_state=0),
        GIFClassifier(2000, n_estimators=40, learning_rate=0.3, random_state=0),
        GIFClassifier(
            2000, n_estimators=40, learning_rate=0.3, loss="trimmed_exponential", random_state=0
        ),
    ],
    ids=type,
)
def test_scikit_learn_contract(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(240, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=1)


def reached(tree, X):
    """Return the rows of X that reach each node of a tree."""
    rows = {0: np.arange(len(X))}
    for node in range(tree.node_count):
        if tree.children_left[node] >= 0:
            left = X[rows[node], tree.feature[node]] <= tree.threshold[node]
            rows[tree.children_left[node]] = rows[node][left]
            rows[tree.children_right[node]] = rows[node][~left]
    return rows


@pytest.mark.parametrize("window", [1, None])
def test_one_tree_with_full_steps_is_the_plain_tree_in_regression(friedman, window):
    X, y = friedman
    Y = np.column_stack([y, np.cos(y)])
    model = GIFRegressor(
        10**6, n_estimators=1, learning_rate=1, candidate_window=window, random_state=0
    ).fit(X, Y)
    (tree,) = model.trees_
    assert tree.node_count == model.n_nodes_ > 300
    for node, rows in reached(tree, X).items():
        assert len(rows) == tree.n_node_samples[node]
        np.testing.assert_allclose(model.intercept_ + tree.value[node], Y[rows].mean(axis=0))
    np.testing.assert_allclose(model.predict(X), Y)


@pytest.mark.parametrize("loss", ["squared", "exponential"])
@pytest.mark.parametrize("window", [1, None])
@pytest.mark.parametrize("node_budget", [30, 10**6])
def test_one_tree_with_full_steps_is_the_plain_tree_in_classification(
    three_classes, loss, window, node_budget
):
    X, y = three_classes
    model = GIFClassifier(
        node_budget,
        n_estimators=1,
        learning_rate=1,
        candidate_window=window,
        loss=loss,
        random_state=0,
    ).fit(X, y)
    (tree,) = model.trees_
    accepted = tree.value[1:] != tree.value[[_parent(tree, j) for j in range(1, tree.node_count)]]
    nodes = [0, *(1 + np.flatnonzero(accepted.any(axis=1)))]
    assert len(nodes) > 20
    rows = reached(tree, X)
    for node in nodes:
        scores = model.intercept_ + tree.value[[node]]
        shares = np.bincount(y[rows[node]], minlength=3) / len(rows[node])
        np.testing.assert_allclose(model._loss().probabilities(scores)[0], shares, atol=1e-9)


def _parent(tree, node):
    return np.flatnonzero((tree.children_left == node) | (tree.children_right == node))[0]


@settings(max_examples=15, deadline=None)
@given(
    rate=st.floats(0.01, 1.0),
    window=st.sampled_from([1, 5, None]),
    seed=st.integers(0, 1000),
)
def test_training_loss_never_increases_with_squared_loss(friedman, rate, window, seed):
    X, y = friedman[0][:60], friedman[1][:60]
    model = GIFRegressor(
        80, n_estimators=10, learning_rate=rate, candidate_window=window, random_state=seed
    ).fit(X, y)
    stages = (model.within(budget).predict(X) for budget in range(model.n_nodes_ + 1))
    losses = np.array([np.square(y - prediction).sum() for prediction in stages])
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0] == pytest.approx(np.square(y - y.mean()).sum())


@pytest.mark.parametrize("loss", ["squared", "trimmed_exponential"])
def test_stages_are_the_models_of_smaller_budgets(three_classes, loss):
    X, y = three_classes
    model = GIFClassifier(600, n_estimators=20, loss=loss, random_state=0).fit(X, y)
    budgets = [0, 1, 57, 300, 600]
    stages = zip(
        budgets,
        (model.within(budget).predict(X) for budget in budgets),
        (model.within(budget).acquired_features(X) for budget in budgets),
        strict=True,
    )
    for budget, prediction, acquired in stages:
        if budget == 0:
            assert len(set(prediction)) == 1
            assert not acquired.any()
        elif model._model.within(budget).n_nodes == budget:
            smaller = clone(model).set_params(node_budget=budget).fit(X, y)
            np.testing.assert_array_equal(prediction, smaller.predict(X))
            np.testing.assert_array_equal(acquired, smaller.acquired_features(X))
    np.testing.assert_array_equal(prediction, model.predict(X))
    assert len(list(model.staged_predict(X))) == 10


@pytest.mark.parametrize("options", [{}, {"joint_fit": 2}, {"split_on": "residuals"}])
def test_two_classes_are_regression_of_the_second(options):
    X, y = make_classification(150, 6, n_informative=4, flip_y=0.2, random_state=0)
    options = {"n_estimators": 15, "learning_rate": 0.3, "max_features": 1} | options
    classifier = GIFClassifier(200, random_state=0, **options).fit(X, y)
    regressor = GIFRegressor(200, random_state=0, **options).fit(X, y.astype(float))
    expected = regressor.predict(X)
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(classifier.decision_function(X), 2 * expected - 1, atol=1e-9)
    assert classifier.intercept_.shape == (2,)
    assert all(tree.value.shape[1] == 2 for tree in classifier.trees_)
    inside = (expected > 0.01) & (expected < 0.99)
    shares = classifier.predict_proba(X)[inside]
    np.testing.assert_allclose(shares[:, 1], expected[inside], atol=1e-9)


@pytest.mark.parametrize("n_estimators", [50, "auto"])
def test_the_forest_within_a_smaller_budget_is_a_fitted_forest(three_classes, n_estimators):
    X, y = three_classes
    forest = GIFClassifier(500, n_estimators=n_estimators, loss="squared", random_state=0).fit(X, y)
    small = forest.within(200)
    # "auto" starts with a tree for five nodes: of the larger budget, with which the forest grew.
    assert small.n_estimators == len(forest.node_distribution_)
    assert forest.n_nodes_ == 500
    assert small.n_nodes_ == small.get_params()["node_budget"] == 200
    grown = clone(small).fit(X, y)
    np.testing.assert_array_equal(small.predict_proba(X), grown.predict_proba(X))
    np.testing.assert_array_equal(small.feature_importances_, grown.feature_importances_)
    np.testing.assert_array_equal(small.node_distribution_, grown.node_distribution_)
    np.testing.assert_array_equal(small.within(60).predict(X), forest.within(60).predict(X))


def test_a_smaller_forest_does_not_take_its_points_from_the_larger_one(three_classes):
    X, y = three_classes
    forest = GIFClassifier(500, n_estimators=50, random_state=0).fit(X, y, X, y)
    whole = forest.operating_points_["cost"].iloc[-1]
    small = forest.within(6)
    assert small.acquisition_cost(X).mean() < whole
    with pytest.raises(BudgetError, match="does not know what its operating points cost"):
        small.predict(X, budget=whole)
    assert forest.operating_points_["cost"].iloc[-1] == whole


def test_refitting_goes_on_lowering_the_training_loss(friedman):
    X, y = friedman
    options = {"node_budget": 60, "n_estimators": 12, "learning_rate": 0.2, "random_state": 1}
    models = [GIFRegressor(joint_fit=refit, **options).fit(X, y) for refit in (0, 1, 5, 50)]
    losses = [np.square(model.predict(X) - y).sum() for model in models]
    assert (np.diff(losses) < 0).all()
    assert {model.n_nodes_ for model in models} == {60}
    # The end of refitting: least squares on the indicators of the accepted nodes.
    indicators = np.column_stack(
        [
            np.isin(np.arange(len(X)), rows).astype(float)
            for tree in models[0].trees_
            for node, rows in reached(tree, X).items()
            if node > 0 and (tree.value[node] != tree.value[_parent(tree, node)]).any()
        ]
    )
    centred = y - y.mean()
    best, *_ = np.linalg.lstsq(indicators, centred, rcond=None)
    rest = np.square(indicators @ best - centred).sum()
    longest = GIFRegressor(joint_fit=10_000, **options).fit(X, y)
    assert np.square(longest.predict(X) - y).sum() == pytest.approx(rest, rel=1e-3)
    with pytest.raises(ParameterError, match="only with joint_fit=0"):
        models[1].within(30)


def test_predictions_are_the_intercept_plus_one_value_a_tree(friedman):
    X, y = friedman
    model = GIFRegressor(900, n_estimators=60, random_state=2).fit(X, y)
    total = np.full(len(X), model.intercept_[0])
    acquired = np.zeros(X.shape, dtype=bool)
    for tree in model.trees_:
        for node, rows in reached(tree, X).items():
            if tree.children_left[node] < 0:
                total[rows] += tree.value[node, 0]
            else:
                acquired[rows, tree.feature[node]] = True
    np.testing.assert_allclose(model.predict(X), total)
    np.testing.assert_array_equal(model.acquired_features(X), acquired)


def test_node_counts(friedman):
    X, y = friedman
    model = GIFRegressor(500, n_estimators=100, random_state=0).fit(X, y)
    assert model.n_nodes_ == 500 == model.node_distribution_.sum()
    assert len(model.trees_) == np.count_nonzero(model.node_distribution_)
    assert model.node_distribution_.shape == (100,)
    share = model.node_distribution_[model.node_distribution_ > 0] / 500
    entropy = -(share * np.log(share)).sum() / np.log(100)
    assert model.node_entropy_ == pytest.approx(entropy)
    assert 0.8 < entropy < 1
    # Sides of splits that were not accepted are leaves that the budget does not count.
    assert sum(tree.node_count for tree in model.trees_) >= 500


def test_a_budget_of_one_node_leaves_the_intercept(friedman):
    X, y = friedman
    with pytest.warns(BudgetlearnWarning):
        model = GIFRegressor(1, random_state=0).fit(X, y)
    assert model.n_nodes_ == 0
    np.testing.assert_array_equal(model.predict(X), np.full(len(y), y.mean()))
    np.testing.assert_array_equal(model.feature_importances_, 0)
    assert not model.acquired_features(X).any()
    assert model.node_entropy_ == 0


def test_outputs_are_fitted_side_by_side(friedman):
    X, y = friedman
    # One feature for each split: with more, splits of equal impurity are told apart by rounding.
    options = {"node_budget": 800, "n_estimators": 50, "max_features": 1, "random_state": 4}
    one = GIFRegressor(**options).fit(X, y).predict(X)
    outputs = np.column_stack([y, -y, 2 * y])
    three = GIFRegressor(**options).fit(X, outputs).predict(X)
    np.testing.assert_allclose(three, np.column_stack([one, -one, 2 * one]))
    with pytest.raises(ParameterError, match="y_val must hold 3 outputs, as y does, got 2"):
        GIFRegressor(**options).fit(X, outputs, X, outputs[:, :2])


def test_importances_find_the_informative_features():
    X, y = make_friedman1(300, n_features=10, noise=1.0, random_state=3)
    importances = GIFRegressor(3000, random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-4:]) == {0, 1, 3, 4}


@pytest.mark.parametrize("window", [1, 7, None])
def test_same_seed_same_model_whatever_n_jobs(three_classes, window):
    X, y = three_classes
    X = np.tile(X, (6, 1))
    first, second = (
        GIFClassifier(
            400, n_estimators=40, candidate_window=window, random_state=5, n_jobs=n_jobs
        ).fit(X, np.tile(y, 6))
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    np.testing.assert_array_equal(first.acquired_features(X), second.acquired_features(X))
    restored = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(restored.predict_proba(X), first.predict_proba(X))
    other = clone(first).set_params(random_state=6).fit(X, np.tile(y, 6))
    assert np.abs(other.predict_proba(X) - first.predict_proba(X)).max() > 0


def test_trees_and_predictor_share_their_values_and_pickles_hold_neither():
    X, y = make_friedman1(60, random_state=0)
    model = GIFRegressor(200, n_estimators=20, random_state=0).fit(X, y)
    size = len(pickle.dumps(model))
    expected = model.predict(X)
    values = model._model.predictor._values
    assert all(np.shares_memory(values, tree.value) for tree in model.trees_)
    content = pickle.dumps(model)
    assert len(content) == size
    np.testing.assert_array_equal(pickle.loads(content).predict(X), expected)


@pytest.mark.parametrize("loss", ["squared", "trimmed_exponential", "exponential"])
def test_probabilities_are_probabilities(three_classes, loss):
    X, y = three_classes
    model = GIFClassifier(3000, n_estimators=100, loss=loss, random_state=0).fit(X, y + 5)
    probability = model.predict_proba(X)
    assert (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    assert (model.predict(X) == y + 5).mean() > 0.8


@pytest.mark.parametrize("window", [1, None])
@pytest.mark.parametrize("rate", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("loss", ["exponential", "trimmed_exponential"])
def test_exponential_losses_neither_vanish_nor_overflow(loss, rate, window):
    X, y = make_classification(
        200, 8, n_informative=6, n_classes=5, flip_y=0.1, class_sep=2, random_state=0
    )
    options = {"learning_rate": rate, "loss": loss, "saturation": 100, "candidate_window": window}
    model = GIFClassifier(3000, n_estimators=30, random_state=0, **options).fit(X, y)
    assert model.n_nodes_ == 3000
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert all(np.isfinite(tree.value).all() for tree in model.trees_)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("window", [1, None])
@pytest.mark.parametrize("power", [-1000, -532, 532, 1015])
def test_the_scale_of_the_targets_changes_nothing_else(friedman, power, window):
    X, y = friedman
    Y = np.column_stack([np.round(y, 6), np.round(np.cos(y), 6)])
    options = {"n_estimators": 30, "candidate_window": window, "random_state": 0, "joint_fit": 1}
    plain = GIFRegressor(200, **options).fit(X, Y)
    scaled = GIFRegressor(200, **options).fit(X, np.ldexp(Y, power))
    assert plain.n_nodes_ == scaled.n_nodes_ == 200
    expected = np.ldexp(plain.predict(X), power)
    np.testing.assert_array_equal(scaled.predict(X), expected)


def test_a_budget_too_small_for_the_trees_warns(friedman):
    match = "node_budget=59 is less than two nodes for each of n_estimators=30 .* Fewer trees"
    with pytest.warns(BudgetlearnWarning, match=match) as caught:
        GIFRegressor(59, n_estimators=30).fit(*friedman)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GIFRegressor(60, n_estimators=30).fit(*friedman).within(10)


def test_acquisition_cost_charges_the_union_of_the_tests(three_classes):
    X, y = three_classes
    prices = [1, 2, 4, 8, 16, 32]
    model = GIFClassifier(4, n_estimators=2, feature_costs=prices, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        model.acquisition_cost(X), model.acquired_features(X) @ np.array(prices)
    )
    assert 0 < model.acquisition_cost(X).max() < 63


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_budget": 0}, "node_budget must be an integer >= 1, got 0"),
        ({"node_budget": 10.5}, "node_budget"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"learning_rate": -0.1}, "learning_rate must be a number > 0"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": 2.1}, "learning_rate must be a number > 0 and <= 2, got 2.1"),
        ({"learning_rate": np.inf}, "learning_rate"),
        ({"candidate_window": 0}, "candidate_window"),
        ({"candidate_window": "all"}, "candidate_window"),
        ({"max_features": "log2"}, "max_features"),
        ({"max_features": 0, "forest": "given", "joint_fit": "ridge"}, "max_features must be"),
        ({"max_features": 1.5}, "max_features must be an integer"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"saturation": 0}, "saturation"),
        ({"saturation": np.inf}, "saturation must be a number > 0 and <= 100, got inf"),
        ({"cost_weight": np.inf}, "cost_weight must be a number >= 0 and < inf, got inf"),
        ({"joint_fit": -1}, "joint_fit"),
    ],
)
def test_bad_parameters_are_refused(three_classes, options, message):
    with pytest.raises(ParameterError, match=message):
        GIFClassifier(**options).fit(*three_classes)


def test_bad_data_are_refused(three_classes):
    X, y = three_classes
    with pytest.raises(ParameterError, match="at least two classes, got one class only: 0"):
        GIFClassifier().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="is not a finite number"):
        GIFClassifier().fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match="NaN"):
        GIFRegressor().fit(X, np.where(y > 1, np.nan, y))
    with pytest.raises(CostError, match="one entry for each"):
        GIFRegressor(feature_costs=[1, 2]).fit(X, y)
    model = GIFRegressor(50, n_estimators=10).fit(X, y)
    with pytest.raises(ParameterError, match="node_budget must be an integer >= 0, got -1"):
        model.within(-1)


def test_accuracy_of_the_paper_in_small():
    X, y = make_friedman1(2300, noise=1.0, random_state=0)
    model = GIFRegressor(5990, random_state=0).fit(X[:300], y[:300])
    assert np.square(model.predict(X[300:]) - y[300:]).mean() < 4.2
