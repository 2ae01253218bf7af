"""Curves and schedules: the paper's printed schedule, and properties of compression and area."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.curves import CostAccuracyCurve, ModelSchedule, pareto_indices
from budgetlearn.exceptions import BudgetError
from budgetlearn.validation import ParameterError

# Yan et al., section 3.1.1: the schedule printed for the naval propulsion plants.
PRINTED = [
    (417, 0.9907834, (4, 5, 8, 11, 13, 14, 15)),
    (385, 0.9874319, (4, 5, 11, 13, 14, 15)),
    (340, 0.9773775, (4, 11, 13, 14, 15)),
    (248, 0.9706745, (11, 13, 14, 15)),
    (171, 0.9400922, (11, 14, 15)),
    (119, 0.8504399, (11, 14)),
]
points = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda p: (float(p[0]), p[1] / 20)),
    min_size=1,
    max_size=25,
)


@pytest.fixture
def printed():
    return ModelSchedule.from_points(*zip(*PRINTED, strict=True))


def test_printed_schedule_survives_compression(printed):
    assert printed.costs.tolist() == [119, 171, 248, 340, 385, 417]
    assert printed.variables[0] == (11, 14)
    assert printed.variables[-1] == (4, 5, 8, 11, 13, 14, 15)


def test_printed_schedule_drops_dominated_models(printed):
    extra = [*PRINTED, (200, 0.93, (1, 2)), (171, 0.94, (3, 4)), (500, 0.99, (1, 2, 3))]
    again = ModelSchedule.from_points(*zip(*extra, strict=True))
    assert again.costs.tolist() == printed.costs.tolist()
    assert again.variables == printed.variables


def test_budget_of_200_gives_the_printed_accuracy(printed):
    assert printed.select(200) == (171.0, 0.9400922, (11, 14, 15))


def test_a_budget_acquires_the_model_that_costs_just_that(printed):
    assert printed.select(119)[0] == 119
    assert printed.select(0.1 + 0.2 + 416.7)[0] == 417


@pytest.mark.parametrize("budget", [118.99, 0])
def test_unaffordable_budget_names_the_cheapest_model(printed, budget):
    with pytest.raises(BudgetError, match="119") as caught:
        printed.select(budget)
    assert caught.value.cheapest == 119
    with pytest.raises(BudgetError, match=r"costs 1234\.57\. Raise the budget to 1234\.57 or"):
        ModelSchedule([1234.5641], [0.9], [(0,)]).select(1234.56)


@pytest.mark.parametrize("budget", [-1, float("nan"), "12", None, [12], True])
def test_budget_that_is_none_is_refused(printed, budget):
    for look_up in (printed.select, printed.index):
        with pytest.raises(ParameterError, match="budget must be a number >= 0, got"):
            look_up(budget)


def test_least_budget_for_an_accuracy(printed):
    assert printed.cheapest(0.95) == (248, 0.9706745, (11, 13, 14, 15))
    assert printed.cheapest(0.9706745)[0] == 248
    assert printed.cheapest(0)[0] == 119
    # A score of 0.3 is reached, although 0.1 + 0.2 is above it.
    assert ModelSchedule([1], [0.3], [(0,)]).cheapest(0.1 + 0.2)[0] == 1
    with pytest.raises(BudgetError, match=r"reaches 0\.990783 and costs 417"):
        printed.cheapest(0.999)
    for score in (float("nan"), "0.9"):
        with pytest.raises(ParameterError, match="score must be a number, got"):
            printed.cheapest(score)
    with pytest.raises(BudgetError, match="empty"):
        ModelSchedule([], [], []).cheapest(0.5)


def test_both_look_ups_agree(printed):
    for budget in range(119, 450):
        cost, score, variables = printed.select(budget)
        assert printed.cheapest(score) == (cost, score, variables)
        assert cost <= budget


def test_area_of_the_printed_schedule_by_hand(printed):
    steps = [(119, 0.5), (52, 0.8504399), (77, 0.9400922), (92, 0.9706745), (45, 0.9773775)]
    by_hand = (sum(width * height for width, height in steps) + 32 * 0.9874319) / 500
    by_hand += (500 - 417) / 500 * 0.9907834
    assert printed.area(500, baseline=0.5) == pytest.approx(by_hand, abs=1e-12)


@given(points)
def test_kept_points_are_those_that_beat_every_cheaper_one(rows):
    costs, scores = map(np.array, zip(*rows, strict=True))
    kept = pareto_indices(costs, scores)
    assert (np.diff(costs[kept]) > 0).all()
    assert (np.diff(scores[kept]) > 0).all()
    for cost, score in rows:  # a kept point is as good as each dropped one, and no more expensive
        assert ((costs[kept] <= cost) & (scores[kept] >= score)).any()


@given(points, st.floats(0, 1))
def test_area_is_the_mean_score_over_budgets(rows, baseline):
    costs, scores = map(np.array, zip(*rows, strict=True))
    kept = pareto_indices(costs, scores)
    curve = CostAccuracyCurve(costs[kept], scores[kept])
    full = 20.0
    middles = (np.arange(20 * 8) + 0.5) / 8  # steps are at whole numbers
    heights = [curve.scores[curve.index(b)] if b >= curve.costs[0] else baseline for b in middles]
    assert curve.area(full, baseline) == pytest.approx(np.mean(heights), abs=1e-9)


@pytest.mark.parametrize(
    ("costs", "scores", "message"),
    [
        ([1, 2], [0.5], "same length"),
        ([1, np.nan], [0.5, 0.6], "finite"),
        ([-1, 2], [0.5, 0.6], ">= 0"),
        ([2, 1], [0.5, 0.6], "ascend"),
    ],
)
def test_bad_points_are_refused(costs, scores, message):
    with pytest.raises(ValueError, match=message):
        CostAccuracyCurve(costs, scores)


@pytest.mark.parametrize(
    ("costs", "scores"), [([1, 2], [0.6, 0.5]), ([1, 2], [0.5, 0.5]), ([1, 1], [0.5, 0.6])]
)
def test_schedule_refuses_a_dominated_model(costs, scores):
    with pytest.raises(ValueError, match="strictly increase"):
        ModelSchedule(costs, scores, [(0,), (1,)])


def test_a_curve_keeps_its_points_as_unchangeable_floats():
    curve = CostAccuracyCurve([1, 1, 1.5], [0, 1, 0])  # equal costs and falling scores are allowed
    whole = CostAccuracyCurve([1, 2], [0, 1])
    for array in (curve.costs, curve.scores, whole.costs, whole.scores):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_an_empty_curve_has_nothing_to_choose():
    with pytest.raises(BudgetError, match="the curve is empty"):
        CostAccuracyCurve([], []).index(1)


def test_area_ends_at_the_full_cost():
    curve = CostAccuracyCurve([0.1, 0.3, 0.9], [0.5, 0.6, 0.9])
    assert curve.area(0.4, 0.2) == pytest.approx((0.1 * 0.2 + 0.2 * 0.5 + 0.1 * 0.6) / 0.4)


def test_area_needs_a_full_cost():
    with pytest.raises(ValueError, match="full_cost"):
        CostAccuracyCurve([0.0], [0.5]).area(0, 0.5)


@pytest.mark.parametrize(("full_cost", "baseline"), [("3", 0.2), (np.inf, 0.2), (3, "0.2")])
def test_area_says_which_number_is_none(full_cost, baseline):
    wrong = "baseline" if full_cost == 3 else "full_cost"
    with pytest.raises(ParameterError, match=f"{wrong} must be a number"):
        CostAccuracyCurve([0.0], [0.5]).area(full_cost, baseline)


def test_area_above_an_unknown_baseline_is_unknown():
    assert np.isnan(CostAccuracyCurve([0.5], [0.5]).area(1, np.nan))


def test_a_schedule_names_its_variables_where_they_have_names():
    points = [5, 9], [0.5, 0.75], [(0,), (2, 1)]
    plain, named = (ModelSchedule.from_points(*points, names) for names in (None, "abc"))
    assert plain.select(9) == (9, 0.75, (1, 2))
    assert named.select(9) == (9, 0.75, ("b", "c"))
    assert named.cheapest(0.5) == (5, 0.5, ("a",))
    assert named.variables == plain.variables, "indices stay what columns are taken by"
    assert str(named).splitlines()[-1].split() == ["9", "0.7500", "b,", "c"]
    with pytest.raises(ValueError, match="names must be 3 or more, got 2"):
        ModelSchedule.from_points(*points, "ab")
    for wrong in ([(0,)], [(0,), (1,), (2,)]):
        with pytest.raises(ValueError, match="variables must list 2 models"):
            ModelSchedule.from_points(*points[:2], wrong)
    assert ModelSchedule([0], [0.5], [()], ("a",)).select(1) == (0, 0.5, ())  # a constant
