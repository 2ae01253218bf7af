"""Prediction from a source: it is asked once, for what is needed, and what it says is checked."""

import numpy as np
import pytest

from budgetlearn.exceptions import BudgetError, MissingValueError
from budgetlearn.protocol import Outcome
from budgetlearn.validation import ParameterError
from tests.looping import check_each
from tests.protocol.estimators import SignOfFirst


def watched(X):
    """Return a source that reads a table, and the list of what it was asked for."""
    asked = []

    def source(rows, feature):
        asked.append((feature, rows.tolist()))
        return X[feature].to_numpy()[rows]

    return source, asked


@pytest.mark.parametrize("name", ["first", "single", "summed"])
def test_a_source_predicts_as_its_table(name, table, request):
    model, X = request.getfixturevalue(name), table[0]
    source, _ = watched(X)
    made = model.predict_acquiring(source, len(X))
    np.testing.assert_array_equal(made.prediction, model.predict(X))
    np.testing.assert_array_equal(made.acquired, model.acquired_features(X))
    np.testing.assert_array_equal(made.cost, model.acquisition_cost(X))


def test_a_value_is_asked_for_once_and_rows_ascend(single, table):
    source, asked = watched(table[0])
    single.predict_acquiring(source, 90)
    pairs = [(feature, row) for feature, rows in asked for row in rows]
    assert len(set(pairs)) == len(pairs)
    assert all(rows == sorted(rows) for _, rows in asked)


def test_what_is_asked_for_is_what_was_acquired(single, table):
    source, asked = watched(table[0])
    made = single.predict_acquiring(source, 90, max_cost=3, fallback=True)
    seen = np.zeros((90, 4), dtype=bool)
    for feature, rows in asked:
        seen[rows, table[0].columns.get_loc(feature)] = True
    np.testing.assert_array_equal(seen, made.acquired)


def test_the_order_lists_what_was_acquired(single, table):
    made = single.decisions(table[0])
    for order, acquired in zip(made.order, made.acquired, strict=True):
        n = acquired.sum()
        assert sorted(order[:n]) == np.flatnonzero(acquired).tolist()
        assert (order[n:] == -1).all()


def test_fixed_features_are_asked_for_from_the_cheapest(first, table):
    expensive = type(first)([8.0, 2.0, 4.0, 1.0]).fit(*table)
    source, asked = watched(table[0])
    expensive.predict_acquiring(source, 90)
    assert [feature for feature, _ in asked] == ["mcv", "age"]


def test_answers_of_another_kind_are_refused(first):
    def refuses(given, said):
        with pytest.raises(ValueError, match=said):
            first.predict_acquiring(lambda rows, feature: given, 3)

    check_each(
        [
            ([1.0, 2.0], "for feature 'age' it returned shape"),
            (["a", "b", "c"], "must return one finite number"),
            ([1.0, 10**400, 2.0], "must return one finite number"),
            ([1.0, np.inf, 2.0], "for feature 'age' it returned infinite values"),
            (None, "must return one"),
        ],
        refuses,
    )


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, None, True])
def test_the_number_of_examples_is_a_whole_one(first, n_samples):
    with pytest.raises(ParameterError, match="n_samples must be an integer >= 1"):
        first.predict_acquiring(lambda rows, feature: rows, n_samples)


class OneEach(SignOfFirst):
    """Stage 0 looks at nothing, each other one at a feature of its own."""

    n_stages_ = 4

    def fixed_costs(self):
        return [0.0, *self.feature_costs_.costs[:3]]

    def _stages(self, X, which, want):
        for k, stage in zip(which, super()._stages(X, [0] * len(which), want), strict=True):
            stage.acquired[:, k - 1] = k > 0
            yield stage


def test_a_missing_answer_raises_or_falls_back(first, table):
    X = table[0].copy()
    X.loc[3, "mcv"] = np.nan
    source, _ = watched(X)
    with pytest.raises(MissingValueError, match=r"'mcv'.* in row 4"):
        first.predict_acquiring(source, 90)
    made = first.predict_acquiring(source, 90, fallback=True)
    assert made.acquired[3].tolist() == [True, False, False, False]
    assert made.cost[3] == 1
    # The best of the others takes over that costs no more; among equals, the cheapest.
    model = OneEach([1.0, 2.0, 4.0, 8.0]).fit(*table, *table)
    for scores, cost in (([0.5, 0.7, 0.8, 0.9], 1), ([0.7, 0.7, 0.8, 0.9], 0)):
        model.operating_points_ = model.operating_points_.assign(score=scores)
        assert model.decisions(X, budget=2, fallback=True).cost[2:4].tolist() == [2, cost]


def test_nothing_known_falls_back_to_the_constant(first, table):
    source, asked = watched(np.nan * table[0])
    made = first.predict_acquiring(source, 5, fallback=True)
    assert asked == [("age", [0, 1, 2, 3, 4])]
    # Stage 0 looks at nothing, and is a better answer than none.
    np.testing.assert_array_equal(made.prediction, next(iter(first.stages(table[0][:5]))).output)
    assert made.cost.tolist() == [0] * 5


def test_without_any_answer_the_number_of_examples_is_named(single):
    with pytest.raises(BudgetError, match=r"5 of 5 examples .* for 0.5, the first in row 1"):
        single.predict_acquiring(lambda rows, _: np.zeros(rows.size), 5, max_cost=0.5)


@pytest.mark.parametrize("budget", [None, 0.5])
def test_the_constant_answers_where_nothing_is_affordable(single, table, budget):
    cap = 0.5 if budget is None else None
    made = single.decisions(table[0], budget, cap, fallback=True)
    assert not made.acquired.any()
    np.testing.assert_array_equal(made.probabilities, np.tile(single.constant_, (90, 1)))
    np.testing.assert_array_equal(made.probability, np.full(90, single.constant_.max()))


def test_outcomes_start_from_the_constant(first, whole, summed):
    constant = Outcome.constant(first, 3)
    assert constant.output.tolist() == [first.classes_[first.constant_.argmax()]] * 3
    assert not constant.answered.any()
    assert Outcome.blank(first, 3).probabilities.shape == (3, 2)
    assert Outcome.blank(whole, 3).probabilities is None
    number = Outcome.constant(summed, 2)
    assert number.output.tolist() == [summed.constant_[0]] * 2
    assert number.probabilities is None


def test_the_probability_is_that_of_the_predicted_class():
    shares = np.array([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]])
    made = Outcome(np.array(["b", "c"]), shares, np.ones(2, dtype=bool))
    assert made.probability(np.array(["a", "b", "c"])).tolist() == [0.7, 0.1]
    assert Outcome(np.array(["b"]), None, np.ones(1, bool)).probability(np.array(["b"])) is None


def test_absent_columns_are_named(first, table):
    with pytest.raises(MissingValueError, match=r"(?s)yet now missing:\n- mcv.*needs 'mcv'"):
        first.predict(table[0].drop(columns="mcv"))
    both = list(table[0].columns[:2])
    with pytest.raises(MissingValueError, match=f"needs {both[0]!r}, {both[1]!r}: add"):
        first.predict(table[0].drop(columns=both))  # not one by one, call after call
    with pytest.raises(ValueError, match="feature names"):
        first.predict(table[0].rename(columns={"mcv": "other"}))


def test_a_column_that_is_there_twice_is_named_beside_one_that_is_absent(first, table):
    X, _ = table
    with pytest.raises(ValueError, match="unique column names"):
        first.predict(X[["age", "age", "mcv", "drinks"]])


def test_whatever_a_method_returns_for_the_unanswered_the_constant_is_used(single, table):
    class Careless(type(single)):
        def _acquisitions(self, n_samples, stage, ledger):
            made = yield from super()._acquisitions(n_samples, stage, ledger)
            made.output[~made.answered], made.probabilities[~made.answered] = "?", np.nan
            return made

    model = Careless([1.0, 2.0, 4.0, 8.0]).fit(*table)
    made = model.decisions(table[0], max_cost=0.5, fallback=True)
    assert set(made.prediction) == {model.classes_[model.constant_.argmax()]}
    np.testing.assert_array_equal(made.probabilities, np.tile(model.constant_, (90, 1)))
