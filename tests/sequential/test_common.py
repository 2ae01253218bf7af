"""What all sequential classifiers promise."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetlearn._validation import ParameterError
from budgetlearn.costs import random_costs
from budgetlearn.exceptions import CostError
from budgetlearn.sequential import FMCCClassifier, RandomOrderClassifier, VoCClassifier

CLASSES = [FMCCClassifier, RandomOrderClassifier, VoCClassifier]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)


@parametrize_with_checks([cls() for cls in CLASSES])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    return make_classification(700, 6, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)


@every_class
def test_any_number_of_threads_gives_the_same(cls, table):
    X, y = table
    one, two = (cls(threshold=0.9, random_state=0, n_jobs=n).fit(X, y)._walk(X) for n in (1, 2))
    for name in vars(one):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@every_class
def test_clone_and_pickle(cls, table):
    X, y = table
    model = clone(cls(feature_costs=random_costs(6, 0), threshold=0.9, random_state=0)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert again.feature_costs_ == model.feature_costs_


@every_class
def test_only_acquired_features_are_looked_at(cls, table):
    """Another value of a feature that was not bought changes nothing."""
    X, y = table
    model = cls(threshold=0.8, random_state=0).fit(X, y)
    acquired = model.acquired_features(X[:40])
    assert not acquired.all()
    hidden = np.where(acquired, X[:40], 7.5)
    if cls is not RandomOrderClassifier:  # its order is drawn from the whole row
        np.testing.assert_array_equal(model.acquired_features(hidden), acquired)
        np.testing.assert_array_equal(model.predict_proba(hidden), model.predict_proba(X[:40]))


@every_class
def test_stages_grow_by_one_feature_and_end_with_all(cls, table):
    X, y = table
    model = cls(threshold=0.6, random_state=0).fit(X, y)
    acquired = list(model.staged_acquired_features(X))
    assert [a.sum(axis=1).tolist() for a in acquired] == [[t] * len(X) for t in range(1, 7)]
    assert all((a <= b).all() for a, b in pairwise(acquired))
    unstopped = clone(model).set_params(threshold=1.0).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, unstopped.predict(X))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, unstopped.predict_proba(X))


@every_class
def test_a_decision_tells_what_the_staged_methods_tell_in_parts(cls, table):
    X, y = table
    model = cls(threshold=0.9, budget=3, random_state=0).fit(X, y)
    parts = zip(
        model.staged_decisions(X[:50]),
        model.staged_predict(X[:50]),
        model.staged_acquired_features(X[:50]),
        model.staged_predict_proba(X[:50]),
        strict=True,
    )
    for decision, predicted, acquired, shares in parts:
        np.testing.assert_array_equal(decision.predicted, predicted)
        np.testing.assert_array_equal(decision.acquired, acquired)
        np.testing.assert_array_equal(decision.estimate, shares[np.arange(50), predicted])


@every_class
def test_predictions_are_those_of_the_stage_where_each_row_stopped(cls, table):
    X, y = table
    model = cls(threshold=0.8, random_state=0).fit(X, y)
    stage = model.acquired_features(X).sum(axis=1) - 1
    predicted = np.stack(list(model.staged_predict(X)))[stage, np.arange(len(X))]
    np.testing.assert_array_equal(model.predict(X), predicted)


@every_class
def test_order_cost_and_explanation_agree(cls, table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdef"))
    prices = [1, 2, 3, 4, 5, 6]
    model = cls(feature_costs=prices, budget=12, threshold=0.9, random_state=0).fit(frame, y)
    one = frame.iloc[[3]]
    story, order = model.explain(one), model.acquisition_order(one)[0]
    order = order[order >= 0]
    assert story["feature"].tolist() == [list("abcdef")[i] for i in order]
    assert story["measured"].tolist() == X[3, order].tolist()
    assert story["price"].tolist() == [prices[i] for i in order]
    assert story["spent"].iloc[-1] == model.acquisition_cost(one)[0] <= 12
    assert story["prediction"].iloc[-1] == model.predict(one)[0]
    assert (
        story["estimated_accuracy"].iloc[-1]
        == model.predict_proba(one)[0][story["prediction"].iloc[-1]]
    )
    with pytest.raises(ValueError, match="one example"):
        model.explain(frame.iloc[:2])


@every_class
def test_bad_input_is_told(cls, table):
    X, y = table
    with pytest.raises(NotFittedError):
        cls().predict(X)
    with pytest.raises(CostError, match="each of the 6 features"):
        cls(feature_costs=[1, 2]).fit(X, y)
    with pytest.raises(ParameterError, match="two classes"):
        cls().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        cls().fit(X, y).predict(np.where(X > 1, np.nan, X))
