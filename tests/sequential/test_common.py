"""What all sequential classifiers promise."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from budgetlearn.costs import random_costs
from budgetlearn.exceptions import CostError
from budgetlearn.sequential import FMCCClassifier, RandomOrderClassifier, VoCClassifier
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions

CLASSES = [FMCCClassifier, RandomOrderClassifier, VoCClassifier]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)


@pytest.mark.parametrize("estimator", [cls() for cls in CLASSES], ids=type)
def test_scikit_learn(estimator):
    check_conventions(estimator)


@every_class
@pytest.mark.parametrize("threshold", [0.8, 1.0])
def test_the_protocol(cls, threshold):
    check_budgeted_estimator(cls(threshold=threshold, random_state=0))


@every_class
def test_what_cannot_be_had_is_done_without(cls, table):
    """As if the feature did not exist, whatever the other examples know."""
    X, y = table
    model = cls(threshold=0.9, random_state=0).fit(X, y)
    wanted = model.decisions(X[:1]).order[0, 0]
    holed = X[:30].copy()
    holed[::2, wanted] = np.nan
    made = model.decisions(holed, fallback=True)
    assert not made.acquired[::2, wanted].any()
    assert made.acquired[::2].any(axis=1).all()
    np.testing.assert_array_equal(made.prediction[1::2], model.predict(X[:30])[1::2])
    # Nobody is asked twice for what was not to be had.
    asked = np.zeros(holed.shape, dtype=int)

    def source(rows, feature):
        asked[rows, feature] += 1
        return holed[rows, feature]

    again = model.predict_acquiring(source, 30, fallback=True)
    np.testing.assert_array_equal(again.prediction, made.prediction)
    assert asked.max() == 1


@every_class
@pytest.mark.parametrize("budget", [1.5, 3.0, None])
def test_features_that_are_asked_for_are_those_of_the_budget(cls, table, budget):
    X, y = table
    model = cls(threshold=0.8, random_state=0).fit(X[:90], y[:90], X[90:], y[90:])
    asked = np.zeros((20, X.shape[1]), dtype=bool)

    def source(rows, feature):
        asked[rows, feature] = True
        return X[rows, feature]

    np.testing.assert_array_equal(
        model.predict_acquiring(source, 20, budget=budget).prediction,
        model.predict(X[:20], budget=budget),
    )
    np.testing.assert_array_equal(asked, model.acquired_features(X[:20], budget=budget))


@every_class
@pytest.mark.parametrize("cap", [2.0, 5.0])
def test_a_cap_of_predict_is_the_cap_of_the_constructor(cls, table, cap):
    X, y = table
    parameters = {"feature_costs": [1, 2, 3, 4, 5, 6], "threshold": 0.9, "random_state": 0}
    capped = cls(max_cost=cap, **parameters).fit(X, y)
    free = cls(**parameters).fit(X, y)
    np.testing.assert_array_equal(
        free.acquired_features(X[:60], max_cost=cap), capped.acquired_features(X[:60])
    )
    np.testing.assert_array_equal(free.predict(X[:60], max_cost=cap), capped.predict(X[:60]))


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
    """Another value of a feature that was not acquired changes nothing."""
    X, y = table
    model = cls(threshold=0.8, random_state=0).fit(X, y)
    acquired = model.acquired_features(X[:40])
    assert not acquired.all()
    hidden = np.where(acquired, X[:40], 7.5)
    np.testing.assert_array_equal(model.acquired_features(hidden), acquired)
    np.testing.assert_array_equal(model.predict_proba(hidden), model.predict_proba(X[:40]))


@every_class
def test_stages_grow_by_one_feature_and_end_with_all_that_vary(cls, table):
    X, y = table
    X = np.insert(X, 2, 3.0, axis=1)
    model = cls(threshold=0.6, random_state=0).fit(X, y)
    X[::2, 2] = 4.0  # in training, this column told nothing
    acquired = list(model.staged_acquired_features(X))
    counts = [1, 2, 3, 4, 5, 6, 6]
    assert [a.sum(axis=1).tolist() for a in acquired] == [[n] * len(X) for n in counts]
    assert not acquired[-1][:, 2].any()
    assert all((a <= b).all() for a, b in pairwise(acquired))
    X[::2, 2] = 3.0
    unstopped = clone(model).set_params(threshold=1.0).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, unstopped.predict(X))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, unstopped.predict_proba(X))


@every_class
def test_the_estimate_of_a_stage_is_the_probability_of_its_prediction(cls, table):
    X, y = table
    model = cls(threshold=0.9, max_cost=3, random_state=0).fit(X, y)
    for stage in model.stages(X[:50]):
        shares = stage.probabilities[np.arange(50), stage.output]
        np.testing.assert_array_equal(stage.estimate, shares)


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
    model = cls(feature_costs=prices, max_cost=12, threshold=0.9, random_state=0).fit(frame, y)
    one = frame.iloc[[3]]
    story, order = model.explain(one), model.decisions(one).order[0]
    order = order[order >= 0]
    assert story["feature"].tolist() == [list("abcdef")[i] for i in order]
    assert story["measured"].tolist() == X[3, order].tolist()
    assert story["price"].tolist() == [prices[i] for i in order]
    assert story["spent"].iloc[-1] == model.acquisition_cost(one)[0] <= 12
    assert story["prediction"].iloc[-1] == model.predict(one)[0]
    assert (
        story["probability"].iloc[-1] == model.predict_proba(one)[0][story["prediction"].iloc[-1]]
    )
    with pytest.raises(ValueError, match="one example"):
        model.explain(frame.iloc[:2])


@every_class
def test_an_explanation_tells_the_value_of_what_stands_in_for_a_missing_feature(cls, table):
    """Before the first acquisition nothing is known, so the best features come in order."""
    X, y = table
    model, x, values = cls(random_state=0).fit(X, y), X[3].copy(), []
    for n_missing in range(4):
        story = model.explain(x, fallback=True)
        assert story["value"].isna().tolist() == story["measured"].isna().tolist()
        assert story["measured"].isna().sum() == n_missing
        values.append(story["value"].iloc[n_missing])
        x[story["feature"].iloc[n_missing]] = np.nan
    assert min(values) > 0
    if cls is not RandomOrderClassifier:
        assert values == sorted(values, reverse=True)


@every_class
def test_numbers_too_large_to_be_squared_are_refused(cls, table):
    X, y = table
    with pytest.raises(ParameterError, match=r"feature at place 0 reaches \S+e\+200"):
        cls().fit(X * np.where(np.arange(6) == 0, 1e200, 1), y)


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
        cls(threshold=1.0).fit(X, y).predict(np.where(X > 1, np.nan, X))
    # An infinite weight of a free feature's price would be no number.
    for name in {"cost_weight", "ridge"} & set(cls().get_params()):
        with pytest.raises(ParameterError, match=f"{name} must be a number >.* < inf, got inf"):
            cls(**{name: np.inf}).fit(X, y)
