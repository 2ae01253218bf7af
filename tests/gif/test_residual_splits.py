"""Forests whose splits are chosen by what they miss, and splits of several thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine, make_friedman1

from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.gif.estimators import Squared
from budgetlearn.validation import ParameterError
from tests.gif.reference import Grown, SlowSquared
from tests.gif.test_kernels import classes, regression
from tests.looping import check_conventions

OPTIONS = {"split_on": "residuals", "max_features": None, "random_state": 0}


@pytest.mark.parametrize(
    "estimator",
    [
        GIFRegressor(500, n_estimators=40, learning_rate=0.3, n_thresholds=4, **OPTIONS),
        GIFClassifier(500, n_estimators=40, learning_rate=0.3, **OPTIONS),
    ],
    ids=type,
)
def test_scikit_learn_contract(estimator):
    check_conventions(estimator)


def decrease_of(residuals, left):
    """Return the decrease of impurity, times the samples, where a mask is split off."""
    parts = residuals, residuals[left], residuals[~left]
    whole, *sides = (np.square(part - part.mean(axis=0)).sum() for part in parts)
    return whole - sum(sides)


def best_decrease(X, residuals):
    """Return the largest decrease that any split of any feature gives."""
    return max(
        decrease_of(residuals, column <= threshold)
        for column in X.T
        for threshold in np.unique(column)[:-1]
    )


def replayed(grown):
    """Yield each parent with its two children and the residuals before they were accepted."""
    slow = SlowSquared(grown.targets, grown.intercept)
    accepted = grown.accepted()
    for left, right in accepted.reshape(-1, 2):
        assert right == left + 1
        yield grown.records["parent"][left], left, right, slow.targets - slow.F
        for node in (left, right):
            rows = grown.rows(node)
            expected = grown.rate * slow.weight(rows)
            step = grown.records["step"][node]
            np.testing.assert_allclose(grown.weights[step], expected, rtol=1e-7, atol=1e-10)
            slow.F[rows] += expected


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_a_split_is_the_best_for_the_residuals_of_its_moment(rate, n_outputs):
    X, targets = regression(0, n_outputs=n_outputs)
    X = np.round(X)  # so few values that a hundred thresholds are all thresholds
    options = {"n_trees": 6, "budget": 150, "rate": rate, "window": "residuals"}
    grown = Grown(X, targets, Squared(), n_visits=4, n_thresholds=100, **options)
    opened = set()
    for parent, left, right, residuals in replayed(grown):
        record, rows = grown.records[parent], grown.rows(parent)
        assert record["parent"] < 0 or record["parent"] in opened
        opened.add(parent)
        below = X[rows, record["feature"]] <= record["threshold"]
        assert set(rows[below]) == set(grown.rows(left))
        assert set(rows[~below]) == set(grown.rows(right))
        expected = decrease_of(residuals[rows], below)
        assert record["decrease"] == pytest.approx(expected, rel=1e-7, abs=1e-9)
        best = best_decrease(X[rows], residuals[rows])
        assert record["decrease"] >= best * (1 - 1e-9) - 1e-9
    assert len(opened) > 60


def test_leaves_are_drawn_uniformly():
    X, targets = regression(1)
    options = {"n_trees": 40, "budget": 800, "rate": 0.1, "window": "residuals"}
    grown = Grown(X, targets, Squared(), **options)
    leaves, places = list(range(40)), []
    for parent, left, right, _ in replayed(grown):
        places.append((leaves.index(parent) + 0.5) / len(leaves))
        leaves.remove(parent)
        leaves += [left, right]  # the oldest first
    assert len(places) > 300
    counts = np.histogram(places, 4, (0, 1))[0]
    assert (np.abs(counts - len(places) / 4) < 4 * np.sqrt(len(places) * 3 / 16)).all()


@pytest.mark.parametrize("by_class", [False, True])
def test_many_thresholds_find_the_best_split_of_the_targets(by_class):
    X, one_hot, codes = classes(2)
    X = np.round(X)
    options = {"n_trees": 4, "budget": 80, "rate": 0.1, "window": 1, "n_visits": 4}
    given_codes = codes if by_class else None
    grown = Grown(X, one_hot, Squared(), codes=given_codes, n_thresholds=100, **options)
    split = np.flatnonzero(grown.records["child"] >= 0)
    for node in split:
        rows = grown.rows(node)
        best = best_decrease(X[rows], one_hot[rows])
        assert grown.records["decrease"][node] >= best * (1 - 1e-9) - 1e-9
    assert split.size > 40


def test_one_threshold_is_what_there_was_without_the_parameter():
    X, y = load_wine(return_X_y=True)
    model = GIFClassifier(200, n_estimators=20, random_state=0)
    scores = model.fit(X, y).decision_function(X)
    again = model.set_params(n_thresholds=1, split_on="targets").fit(X, y).decision_function(X)
    np.testing.assert_array_equal(scores, again)
    more = model.set_params(n_thresholds=2).fit(X, y).decision_function(X)
    assert (more != scores).any()


@settings(max_examples=15, deadline=None)
@given(rate=st.floats(0.01, 1.0), seed=st.integers(0, 1000))
def test_the_training_loss_never_increases(rate, seed):
    X, y = make_friedman1(60, noise=1.0, random_state=seed)
    model = GIFRegressor(
        80, n_estimators=10, learning_rate=rate, split_on="residuals", random_state=seed
    ).fit(X, y)
    stages = (model.within(budget).predict(X) for budget in range(model.n_nodes_ + 1))
    losses = np.array([np.square(y - prediction).sum() for prediction in stages])
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0]


def test_the_forest_within_a_budget_has_whole_splits_and_is_what_that_budget_gives():
    X, y = load_wine(return_X_y=True)
    model = GIFClassifier(300, n_estimators=20, learning_rate=0.3, **OPTIONS).fit(X, y)
    assert 299 <= model.n_nodes_ <= 300
    sizes = {model.within(budget).n_nodes_ for budget in range(301)}
    steps = np.diff(sorted(sizes))
    assert set(steps) <= {2, 3}
    for budget in sorted(sizes)[40::20]:
        fitted = clone(model).set_params(node_budget=budget).fit(X, y)
        np.testing.assert_array_equal(
            fitted.predict_proba(X), model.within(budget).predict_proba(X)
        )


def test_trees_are_predicted_as_they_were_grown():
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    model = GIFRegressor(2000, n_estimators=100, learning_rate=0.2, **OPTIONS).fit(X, y)
    walked = np.full(len(X), model.intercept_[0])
    for tree in model.trees_:
        node = np.zeros(len(X), dtype=int)
        while (inner := tree.children_left[node] >= 0).any():
            left = X[np.arange(len(X)), tree.feature[node]] <= tree.threshold[node]
            child = np.where(left, tree.children_left[node], tree.children_right[node])
            node = np.where(inner, child, node)
        walked += tree.value[node, 0]
    np.testing.assert_allclose(model.predict(X), walked)
    np.testing.assert_allclose(model.compact("float32").predict(X), walked, rtol=1e-5)


def test_residuals_predict_better_where_examples_are_many():
    X, y = make_friedman1(6000, noise=1.0, random_state=0)
    train, test = (X[:4000], y[:4000]), (X[4000:], y[4000:])

    def error(**options):
        model = GIFRegressor(2000, n_estimators=100, max_features=None, random_state=0, **options)
        return np.square(model.fit(*train).predict(test[0]) - test[1]).mean()

    targets = min(error(learning_rate=rate) for rate in (0.1, 0.3))
    assert error(learning_rate=0.1, split_on="residuals", n_thresholds=8) < 0.6 * targets


@pytest.mark.parametrize("power", [-1000, 1015])
def test_the_scale_of_the_targets_changes_nothing_else(power):
    X, y = make_friedman1(100, noise=1.0, random_state=0)
    y = np.round(y, 6)
    model = GIFRegressor(200, n_estimators=20, **OPTIONS)
    expected = np.ldexp(model.fit(X, y).predict(X), power)
    np.testing.assert_array_equal(model.fit(X, np.ldexp(y, power)).predict(X), expected)


def test_constant_targets_and_constant_features_need_no_node():
    X, y = make_friedman1(50, random_state=0)
    assert GIFRegressor(100, n_estimators=10, **OPTIONS).fit(X, np.ones(50)).n_nodes_ == 0
    constant = GIFRegressor(100, n_estimators=10, **OPTIONS).fit(np.ones((50, 3)), y)
    assert constant.n_nodes_ == 0
    np.testing.assert_allclose(constant.predict(np.ones((2, 3))), y.mean())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_on": "residual"}, "split_on must be one of .*targets.*residuals"),
        ({"candidate_window": 3}, "no candidates .* set candidate_window=1, got .*=3"),
        ({"candidate_window": None}, "got candidate_window=None"),
        ({"loss": "exponential"}, "set loss='squared', got loss='exponential'"),
        ({"n_thresholds": 0}, "n_thresholds must be an integer >= 1"),
        ({"n_thresholds": 1.5}, "n_thresholds"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        GIFClassifier(**(OPTIONS | options)).fit(*load_wine(return_X_y=True))


def test_the_automatic_loss_is_the_squared_one():
    X, y = load_wine(return_X_y=True)
    model = GIFClassifier(50, n_estimators=5, loss="auto", **OPTIONS).fit(X[y < 2], y[y < 2])
    assert model.loss_ == "squared"
