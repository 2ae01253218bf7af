"""Sessions: one case, acquired step by step, ends with what the whole table predicts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.costs import FeatureCosts, spendable
from tests.protocol.conftest import COSTS, NAMES
from tests.protocol.estimators import OneByOne, SignOfFirst

GROUPED = FeatureCosts([0.0, 0.0, 2.0, 1.0], [0, 0, 0, -1], [5.0])
VALUES = st.lists(st.floats(-3, 3), min_size=4, max_size=4)


def trained(kind, costs=COSTS):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    return kind(costs).fit(X[:40], y[:40], X[40:], y[40:])


MODELS = [trained(SignOfFirst), trained(OneByOne), trained(OneByOne, GROUPED)]


def answered(session, row):
    """Give a session all that it waits for, one feature after another."""
    while not session.done:
        name, *_ = session.wanted[0]
        session.give({name: row[name]})
    return session


@pytest.mark.parametrize("model", MODELS)
@given(row=VALUES)
def test_a_session_ends_with_the_prediction_of_the_table(model, row):
    X = np.array([row])
    session = answered(model.session(), row)
    assert session.prediction == model.predict(X)[0]
    assert session.cost == model.acquisition_cost(X)[0]
    assert session.probability == model.predict_proba(X).max()


@pytest.mark.parametrize("model", MODELS)
@given(row=VALUES, order=st.permutations(range(4)))
def test_the_order_of_giving_is_of_no_effect(model, row, order):
    session = model.session()
    for feature in order:
        session.give({feature: row[feature]})
    assert session.done
    assert session.prediction == model.predict(np.array([row]))[0]
    assert session.cost == model.acquisition_cost(np.array([row]))[0]


@pytest.mark.parametrize("model", MODELS)
@given(row=VALUES, cap=st.floats(0, 16))
def test_a_session_keeps_the_cap(model, row, cap):
    with_cap = model.choose(max_cost=cap, fallback=True)
    if with_cap is None:
        return
    session = model.session(max_cost=cap)
    while not session.done:
        (name, price, _), *_ = session.wanted
        assert session.cost + price <= spendable(cap)  # what it cannot pay it does not ask for
        session.give({name: row[name]})
    assert session.cost <= spendable(cap)
    made = model.decisions(np.array([row]), max_cost=cap, fallback=True)
    assert (session.prediction, session.cost) == (made.prediction[0], made.cost[0])


@pytest.mark.parametrize("model", MODELS)
@given(row=VALUES)
def test_what_is_wanted_is_priced_at_what_it_adds(model, row):
    session = model.session()
    while not session.done:
        before, (name, price, why) = session.cost, session.wanted[0]
        assert why == "the prediction waits for it"
        session.give({name: row[name]})
        assert session.cost == pytest.approx(before + price)


@pytest.mark.parametrize("budget", [0, 1, 2.9, 3])
def test_a_budget_bounds_what_a_session_asks_for(first, table, budget):
    session = first.session(budget)
    answered(session, table[0].iloc[0])
    assert session.cost <= budget
    assert session.prediction == first.predict(table[0][:1], budget)[0]


def test_before_anything_is_known_the_constant_is_predicted(single):
    session = single.session()
    assert session.prediction == single.classes_[single.constant_.argmax()]
    assert session.probability == single.constant_.max()
    assert session.cost == 0


def test_the_best_prediction_so_far_follows_what_is_known(single):
    session = single.session()
    session.give(age=0.5)
    assert (session.prediction, session.done) == ("well", False)
    session.give(mcv=-0.5)
    assert (session.prediction, session.done) == ("ill", False)
    session.give(gammagt=2.0)
    assert (session.prediction, session.done) == ("well", True)


def test_what_is_not_needed_is_not_charged(single):
    session = single.session()
    session.give(age=2.0, drinks=1.0, mcv=0.1)
    assert (session.done, session.cost) == (True, 1)
    assert session.wanted == []


def test_what_was_given_cannot_be_given_again(single):
    session = single.session().give(age=0.1)
    with pytest.raises(ValueError, match="'age' was given before"):
        session.give(age=0.2)
    session.give(drinks=0.3)  # not needed yet
    with pytest.raises(ValueError, match="'drinks' was given before"):
        session.give(drinks=0.3)


def test_unknown_features_are_refused_before_any_is_taken(single):
    session = single.session()
    with pytest.raises(ValueError, match=r"unknown features: weight\. The model knows age, mcv"):
        session.give(age=1.0, weight=2.0)
    session.give(age=0.1)


def test_what_cannot_be_had_is_neither_charged_nor_asked_for_again(single):
    session = single.session()
    session.give(age=np.nan)
    assert session.cost == 0
    assert session.done
    assert session.prediction == single.classes_[single.constant_.argmax()]


@pytest.mark.parametrize("gap", [None, pd.NA, pd.NaT, np.float32("nan")])
def test_none_cannot_be_had_either(single, gap):
    session = single.session().give({"age": gap})
    assert (session.cost, session.done) == (0, True)


def test_values_may_come_as_a_series(single, table):
    row = table[0].iloc[2]
    assert single.session().give(row).prediction == single.predict(table[0].iloc[[2]])[0]


def test_names_and_indices(table):
    by_index = trained(OneByOne).session()
    assert by_index.wanted[0][0] == 0
    X, y = table
    by_name = OneByOne(COSTS).fit(X, y).session()
    assert by_name.wanted[0][0] == NAMES[0]


def test_numbers_have_no_probability(summed, numbers):
    X, _ = numbers
    session = answered(summed.session(), X.iloc[0])
    assert session.probability is None
    assert session.prediction == summed.predict(X[:1])[0]


@pytest.mark.parametrize("form", [pd.Series, dict, list, np.array])
def test_explanations_take_an_example_in_any_form(single, table, form):
    row = table[0].iloc[2]
    given = form(row) if form in (pd.Series, dict) else form(row.tolist())
    with pytest.MonkeyPatch.context() as patch:
        if form not in (pd.Series, dict):
            patch.setattr("warnings.warn", lambda *_, **__: None)  # of arrays without names
        told = single.explain(given)
    expected = single.decisions(table[0].iloc[[2]])
    assert told["feature"].tolist() == [NAMES[k] for k in expected.order[0] if k >= 0]
    assert told["measured"].tolist() == row[told["feature"]].tolist()


def test_explanations_add_up(single, table):
    for row in range(10):
        told = single.explain(table[0].iloc[[row]])
        assert told["spent"].tolist() == told["price"].cumsum().tolist()
        assert told["prediction"].iloc[-1] == single.predict(table[0].iloc[[row]])[0]
        assert told["probability"].between(0.5, 1).all()


def test_one_example_is_explained_at_a_time(single, table):
    with pytest.raises(ValueError, match="explain takes one example, got 2 rows"):
        single.explain(table[0][:2])


def test_only_members_without_a_price_are_free_with_another():
    model = trained(OneByOne, GROUPED)
    session = model.session()
    assert [name for name, *_ in session.wanted] == [
        0,
        1,
    ]  # the third has a price, the last no group
    assert [price for _, price, _ in session.wanted] == [5, 0]
    session.give({0: 0.1})
    assert [name for name, *_ in session.wanted] == [1]  # the first is acquired
    session.give({1: 0.1})
    assert [name for name, *_ in session.wanted] == [2]


@pytest.mark.parametrize("wrong", ["high", 10**400])
def test_a_value_that_is_refused_takes_no_other_with_it(single, wrong):
    session = single.session()
    with pytest.raises(ValueError, match="'mcv' must be a finite number"):
        session.give(age=0.1, mcv=wrong)
    assert session.give(age=0.1, mcv=0.2).cost == 3
