"""Which operating point a budget and a cap choose, and what they refuse."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from budgetlearn.costs import affords
from budgetlearn.exceptions import BudgetError
from budgetlearn.protocol.documenting import Limits
from budgetlearn.protocol.prediction import chosen_stage
from budgetlearn.validation import ParameterError
from tests.looping import check_each
from tests.protocol.estimators import OneByOne, SignOfFirst


class Measured:
    """What `chosen_stage` asks of an estimator: operating points, and costs that differ."""

    def __init__(self, costs, scores, spends=False):
        self.operating_points_ = pd.DataFrame({"cost": costs, "score": scores})
        self._spends_budgets = spends

    def fixed_costs(self):
        return None

    def _default_stage(self):
        return len(self.operating_points_) - 1


# Few different values: equal costs and equal scores are frequent.
POINTS = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.integers(0, 4).map(float)), min_size=1, max_size=8
)


@given(POINTS, st.floats(0, 8), st.booleans())
def test_the_best_affordable_point_is_chosen_and_of_equals_the_cheapest_first(
    points, budget, spends
):
    costs, scores = map(np.array, zip(*points, strict=True))
    chosen = chosen_stage(Measured(costs, scores, spends), Limits(budget, fallback=True))
    within = [k for k in range(costs.size) if affords(budget, costs[k])]
    sign = -1 if spends else 1  # of those that spend budgets the most expensive
    best = min(within, key=lambda k: (-scores[k], sign * costs[k], k)) if within else None
    assert chosen == best


@given(POINTS, st.floats(0, 8), st.floats(0, 8))
def test_a_larger_budget_never_scores_worse(points, one, other):
    costs, scores = map(np.array, zip(*points, strict=True))
    model, budgets = Measured(costs, scores), sorted([one, other])
    small, large = (chosen_stage(model, Limits(budget, fallback=True)) for budget in budgets)
    assert small is None or scores[large] >= scores[small]


@given(POINTS, st.sampled_from([1.0, 2 / 3, 1234.5641, 1e7 / 3]))
def test_the_error_names_the_cheapest_point_and_its_cost_is_enough(points, unit):
    costs, scores = map(np.array, zip(*points, strict=True))
    model = Measured((costs + 1) * unit, scores)
    named = r"cheapest one costs (\S+)\. Raise the budget to \1 or more"
    with pytest.raises(BudgetError, match=named) as caught:
        chosen_stage(model, Limits(0.5))
    said = re.search(named, str(caught.value))[1]
    assert float(said) == pytest.approx((costs.min() + 1) * unit, rel=1e-5)
    for enough in (caught.value.cheapest, float(said)):  # rounded, but not down
        assert chosen_stage(model, Limits(enough)) is not None


def test_without_a_budget_the_estimator_chooses(first, single):
    assert first.choose() == 2
    assert single.choose() == 3


def test_a_sum_in_another_order_is_within_its_budget(first):
    prices = 0.1 + 0.2  # 0.30000000000000004
    first.operating_points_ = pd.DataFrame({"cost": [prices], "score": [1.0]})
    assert first.choose(0.3) == 0
    with pytest.raises(BudgetError):
        first.choose(0.2999)


EDITS = {
    "cells": lambda points: points.loc.__setitem__((slice(0, 1), "cost"), 9.0),
    "a cell": lambda points: points.at.__setitem__((1, "score"), 0.9),
    "a column": lambda points: points.__setitem__("score", points["score"].to_numpy()[::-1]),
    "a row": lambda points: points.loc.__setitem__(7, [0.5, 0.9]),
    "labels": lambda points: setattr(points, "index", [4, 5, 6]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_points_edited_in_place_are_those_that_are_chosen_from(edit):
    known = Measured([1.0, 2.0, 3.0], [0.5, 0.6, 0.7])
    for budget in (1, 2, 3):
        assert chosen_stage(known, Limits(budget, fallback=True)) == budget - 1
    EDITS[edit](known.operating_points_)
    fresh = Measured([], [])
    fresh.operating_points_ = known.operating_points_.copy()
    chosen = [chosen_stage(known, Limits(budget, fallback=True)) for budget in (0.5, 1, 2, 3, 9)]
    assert chosen == [
        chosen_stage(fresh, Limits(budget, fallback=True)) for budget in (0.5, 1, 2, 3, 9)
    ]


def test_with_equal_costs_a_cap_is_a_budget(first):
    assert [first.choose(max_cost=cap) for cap in (0, 1, 2.9, 3, 99)] == [0, 1, 1, 2, 2]
    assert first.choose(budget=3, max_cost=1) == first.choose(budget=1, max_cost=3) == 1


@pytest.mark.parametrize(
    ("limits", "low"),
    [
        ({"budget": 9, "max_cost": 1}, "max_cost"),
        ({"budget": 1, "max_cost": 9}, "the budget"),
        ({"budget": 1, "max_cost": 2}, "the budget and max_cost"),
        ({"max_cost": 1}, "max_cost"),
    ],
)
def test_the_error_names_the_limit_that_is_too_low(first, limits, low):
    first.operating_points_ = pd.DataFrame({"cost": [5.0], "score": [1.0]})
    with pytest.raises(BudgetError, match=rf"costs at most 1: .* costs 5\. Raise {low} to 5 or"):
        first.choose(**limits)


def test_with_differing_costs_a_cap_leaves_the_stage(single):
    assert single.choose(max_cost=0.5) == single.choose()
    assert single.choose(budget=2, max_cost=0.5) == single.choose(budget=2)


def test_a_cap_needs_a_method_that_acquires(whole, table):
    with pytest.raises(BudgetError, match="WholeTable cannot keep max_cost"):
        whole.choose(max_cost=3)
    with pytest.raises(BudgetError, match="WholeTable cannot keep max_cost"):
        whole.predict(table[0], max_cost=3)


@pytest.mark.parametrize("name", ["budget", "max_cost"])
def test_limits_are_numbers_of_at_least_zero(first, table, name):
    X = table[0]
    calls = [first.predict, first.decisions, first.acquisition_cost, first.explain, first.score]

    def refuses(call, wrong):
        given = (X[:1], ["ill"]) if call == first.score else (X[:1],)
        with pytest.raises(ParameterError, match=f"{name} must be a number >= 0, got"):
            call(*given, **{name: wrong})

    check_each([(call, wrong) for call in calls for wrong in (-1, np.nan, "5", True)], refuses)


@pytest.mark.parametrize("kind", [SignOfFirst, OneByOne])
def test_nothing_works_before_fit(kind, table):
    model, (X, y) = kind(), table
    calls = {
        **dict.fromkeys(("predict", "predict_proba", "acquired_features", "decisions"), (X,)),
        **dict.fromkeys(("acquisition_cost", "predict_with_cost"), (X,)),
        **dict.fromkeys(("score", "measure"), (X, y)),
        "choose": (),
        "session": (),
        "explain": (X[:1],),
        "predict_acquiring": (lambda rows, feature: rows, 3),
    }

    def refuses(name, given):
        with pytest.raises(NotFittedError):
            getattr(model, name)(*given)

    check_each(calls.items(), refuses)
    with pytest.raises(NotFittedError):
        next(model.stages(X))


@pytest.mark.parametrize("budget", [None, 0, 1, 2.5, 3])
def test_all_methods_use_the_chosen_point(first, table, budget):
    X, y = table
    index = first.choose(budget)
    stage = list(first.stages(X))[index]
    made, acquired = first.decisions(X, budget), first.acquired_features(X, budget)
    np.testing.assert_array_equal(first.predict(X, budget), stage.output)
    np.testing.assert_array_equal(first.predict_proba(X, budget), stage.probabilities)
    np.testing.assert_array_equal(acquired, stage.acquired)
    np.testing.assert_array_equal(first.acquisition_cost(X, budget), stage.cost)
    np.testing.assert_array_equal(made.prediction, stage.output)
    np.testing.assert_array_equal(made.cost, stage.cost)
    assert first.score(X, y, budget=budget) == np.mean(stage.output == y)
    assert len(first.explain(X[:1], budget)) == acquired[0].sum()


@pytest.mark.parametrize("cap", [0, 0.5, 1, 3, 3.5, 7, 15])
def test_no_example_pays_more_than_the_cap(single, table, cap):
    X, _ = table
    made = single.decisions(X, max_cost=cap, fallback=True)
    assert made.cost.max() <= cap
    np.testing.assert_array_equal(made.cost, single.feature_costs_.total(made.acquired))
    free = made.cost == 0
    constant = single.classes_[single.constant_.argmax()]
    assert (made.prediction[free] == constant).all()
    if cap < 1:
        with pytest.raises(BudgetError, match="90 of 90 examples cannot be predicted for"):
            single.predict(X, max_cost=cap)
    else:
        np.testing.assert_array_equal(single.predict(X, max_cost=cap), made.prediction)


def test_a_larger_cap_acquires_no_less(single, table):
    spent = [single.acquired_features(table[0], max_cost=cap) for cap in (1, 3, 7, 15)]
    for less, more in itertools.pairwise(spent):
        assert (less <= more).all()
    np.testing.assert_array_equal(spent[-1], single.acquired_features(table[0]))
