"""Weights of samples: as many rows as a weight says, and nothing where they weigh the same."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression

from budgetlearn.gif import GIFClassifier, GIFRegressor

# Where a split visits one feature there are no ties, which rounding would settle: in a node of
# two rows all splits are the same. The best of two is tried on large nodes.
SETTINGS = {
    "best of two": {"n_estimators": 60, "max_features": 2},
    "one candidate": {"max_features": 1},
    "all candidates": {"max_features": 1, "candidate_window": None},
    "some candidates, refitted": {"max_features": 1, "candidate_window": 5, "joint_fit": 2},
    "residuals": {"max_features": 1, "split_on": "residuals", "n_thresholds": 2},
    "ridge": {"max_features": 1, "joint_fit": "ridge", "prune_factor": 2},
}
ALPHA = 0.3
PLAIN = {
    "ridge": ALPHA,
    "node_budget": 120,
    "n_estimators": 20,
    "learning_rate": 0.3,
    "random_state": 0,
}
LOSSES = ("squared", "exponential", "trimmed_exponential")


def repeated(X, y, counts):
    """Return each row as often as it counts."""
    rows = np.repeat(np.arange(len(y)), counts)
    return X[rows], y[rows]


def of_rows(model, counts):
    """Return the model for repeated rows: its penalty is in rows, of which there are more."""
    more = counts.sum() / np.count_nonzero(counts)
    return clone(model).set_params(ridge=ALPHA * more)


@pytest.fixture
def numbers():
    X, y = make_regression(300, 6, noise=5.0, random_state=0)
    return X, np.column_stack([y, X[:, 0] ** 2]), np.random.default_rng(1).integers(0, 4, 300)


@pytest.fixture
def classes():
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)
    return X, y, np.random.default_rng(1).integers(0, 4, 300)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_weight_is_as_good_as_that_many_rows_in_regression(numbers, setting):
    X, y, counts = numbers
    model = GIFRegressor(**(PLAIN | setting))
    by_weight = model.fit(X, y, sample_weight=counts).predict(X)
    by_rows = of_rows(model, counts).fit(*repeated(X, y, counts)).predict(X)
    np.testing.assert_allclose(by_weight, by_rows, rtol=1e-6, atol=1e-6 * np.abs(y).max())


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_is_as_good_as_that_many_rows_in_classification(classes, setting, loss):
    if loss != "squared" and ("split_on" in setting or setting.get("joint_fit") == "ridge"):
        pytest.skip("residuals and ridge regression are of the squared loss")
    X, y, counts = classes
    model = GIFClassifier(loss=loss, **(PLAIN | setting))
    by_weight = model.fit(X, y, sample_weight=counts).decision_function(X)
    by_rows = of_rows(model, counts).fit(*repeated(X, y, counts)).decision_function(X)
    np.testing.assert_allclose(by_weight, by_rows, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_of_weights_does_not_matter(classes, loss):
    X, y, counts = classes
    model = GIFClassifier(120, n_estimators=20, loss=loss, random_state=0)
    scores = model.fit(X, y, sample_weight=counts + 0.5).decision_function(X)
    again = model.fit(X, y, sample_weight=1024 * (counts + 0.5)).decision_function(X)
    np.testing.assert_allclose(again, scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_the_unit_of_weights_settles_no_tie_of_numbers(numbers, loss):
    X, y, counts = numbers
    model = GIFRegressor(120, n_estimators=20, loss=loss, random_state=0)
    predicted = model.fit(X, y, sample_weight=counts).predict(X)
    # 0.3 is no power of two: it rounds the weights.
    again = model.fit(X, y, sample_weight=0.3 * counts).predict(X)
    np.testing.assert_allclose(again, predicted, rtol=1e-9)


def test_weights_of_one_change_nothing(numbers):
    X, y, _ = numbers
    model = GIFRegressor(120, n_estimators=20, random_state=0)
    scores = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=np.ones(len(y))).predict(X), scores)


def test_class_weights_are_weights_of_their_samples(classes):
    X, y, _ = classes
    settings = {"n_estimators": 20, "random_state": 0}
    weight = np.array([1.0, 5.0, 2.0])
    by_class = GIFClassifier(120, class_weight=dict(enumerate(weight)), **settings).fit(X, y)
    by_row = GIFClassifier(120, **settings).fit(X, y, sample_weight=weight[y])
    scores = by_class.decision_function(X)
    np.testing.assert_array_equal(scores, by_row.decision_function(X))
    plain = GIFClassifier(120, **settings).fit(X, y)
    assert (by_class.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_weights_far_apart_give_finite_predictions(numbers):
    X, y, _ = numbers
    weight = 10.0 ** np.linspace(-11, 0, len(y))
    model = GIFRegressor(120, n_estimators=20, candidate_window=None, random_state=0)
    predicted = model.fit(X, y, sample_weight=weight).predict(X)
    assert np.isfinite(predicted).all()
    assert np.abs(predicted[-1] - y[-1]).max() < np.abs(y).max() / 2
