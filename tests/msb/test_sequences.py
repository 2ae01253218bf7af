"""Model sequences: nested, complete, and in the order that their definitions say."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.costs import FeatureCosts
from budgetlearn.forests import RandomForestClassifier
from budgetlearn.msb.search import SequenceProblem
from budgetlearn.msb.sequences import (
    SEQUENCES,
    CostSequence,
    ForwardSequence,
    ImportancePerCostSequence,
    ImportanceSequence,
    L1PathSequence,
    SamplingSequence,
    UniformSequence,
    as_sequence,
)
from budgetlearn.validation import ParameterError


def problem_with(costs, seed=0, min_variables=2, n_samples=60, groups=None):
    """A problem on noise, in which variable 0 alone tells the class."""
    charges = None if groups is None else np.full(max(groups) + 1, 10.0)
    rng = np.random.RandomState(seed)
    y = np.arange(n_samples) % 2
    X = rng.normal(size=(n_samples, len(costs)))
    X[:, 0] += 4 * y
    return SequenceProblem(
        DecisionTreeClassifier(max_depth=3),
        (X, y),
        (X, y),
        FeatureCosts(costs, groups, charges),
        min_variables,
        seed,
    )


def removed(subsets):
    """The variables in the order in which a nested sequence drops them."""
    return [
        next(iter(set(larger) - set(smaller))) for larger, smaller in itertools.pairwise(subsets)
    ]


NESTED = [
    CostSequence,
    UniformSequence,
    SamplingSequence,
    ImportanceSequence,
    ImportancePerCostSequence,
]


@given(
    st.lists(st.integers(0, 100), min_size=3, max_size=12),
    st.sampled_from(NESTED),
    st.booleans(),
    st.integers(0, 5),
)
def test_sequences_are_nested_from_all_variables_down_to_two(costs, cls, grouped, seed):
    sequence = cls() if cls is UniformSequence else cls(np.arange(len(costs)) - 1.0)
    groups = np.arange(len(costs)) % 3 - 1 if grouped else None
    subsets = list(sequence.subsets(problem_with(costs, seed, groups=groups)))
    assert [len(subset) for subset in subsets] == list(range(len(costs), 1, -1))
    for larger, smaller in itertools.pairwise(subsets):
        assert set(smaller) < set(larger)
        assert list(smaller) == sorted(smaller)


def test_cost_sequence_drops_the_most_expensive_first():
    assert removed(list(CostSequence().subsets(problem_with([5, 9, 1, 7])))) == [1, 3]
    tied = CostSequence([0.4, 0.1, 0.2, 0.3])
    assert removed(list(tied.subsets(problem_with([9, 5, 9, 1])))) == [2, 0]


@pytest.mark.parametrize("cls", [ImportanceSequence, CostSequence, ImportancePerCostSequence])
def test_what_is_equal_leaves_in_a_random_order_that_the_seed_decides(cls):
    def order(seed):
        return tuple(removed(list(cls([0.1] * 6).subsets(problem_with([7] * 6, seed)))))

    orders = [order(seed) for seed in range(40)]
    assert orders == [order(seed) for seed in range(40)]
    first = np.bincount([order[0] for order in orders], minlength=6)
    assert first.min() >= 1  # by chance once in 250 choices of 40 seeds
    assert first.max() <= 20


def test_sums_that_differ_by_rounding_are_equal():
    sequence = ImportanceSequence([0.1 + 0.2, 0.3, 0.9])
    assert removed(list(sequence.subsets(problem_with([1, 5, 1])))) == [1]
    sequence = CostSequence([0.2, 0.1, 0.3])
    assert removed(list(sequence.subsets(problem_with([0.1 + 0.2, 0.3, 0.1])))) == [1]


def test_importance_sequence_drops_the_least_important_first():
    sequence = ImportanceSequence([0.4, -0.1, 0.2, 0.3])
    assert removed(list(sequence.subsets(problem_with([1, 1, 1, 1])))) == [1, 2]
    tied = ImportanceSequence([0, 0, 0.1, 0])
    assert removed(list(tied.subsets(problem_with([2, 3, 9, 1], min_variables=1)))) == [1, 0, 3]


@pytest.mark.parametrize(
    "engine", [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(n_estimators=9)]
)
def test_importance_is_found_on_the_validation_data(engine):
    """Variable 1 tells the class in the training part alone."""
    problem = problem_with([1, 1, 1, 1])
    assert problem.importance.argmax() == 0
    assert problem.importance[0] > 0.3
    X, y = problem.train
    X[:, 1] = X[:, 0] + np.arange(len(y)) % 3
    X_val = X.copy()
    X_val[:, 1] = 0
    half = {"estimator": engine, "costs": problem.costs, "min_variables": 2, "seed": 0}
    on_training = SequenceProblem(train=(X, y), valid=(X, y), **half).importance
    on_validation = SequenceProblem(train=(X, y), valid=(X_val, y), **half).importance
    assert on_training[1] > 0 == on_validation[1]


@pytest.mark.parametrize(
    "engine", [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(n_estimators=3)]
)
def test_importance_is_the_mean_of_five_permutations_of_the_seed(engine):
    X, y = load_iris(return_X_y=True)
    X += np.random.RandomState(0).normal(size=X.shape)

    def importance(seed):
        parts = (X[::2], y[::2]), (X[1::2], y[1::2])
        return SequenceProblem(engine, *parts, FeatureCosts(np.ones(4)), 2, seed).importance

    hits = importance(0) * 5 * 75
    np.testing.assert_allclose(hits, hits.round(), atol=1e-9)
    assert not np.allclose(hits / 5, (hits / 5).round())
    np.testing.assert_array_equal(importance(0), importance(0))
    assert not np.array_equal(importance(0), importance(1))


def test_sampling_prefers_to_drop_what_is_unimportant_per_cost():
    first = [
        removed(list(SamplingSequence([1, 1, 1]).subsets(problem_with([1, 1, 98], seed))))[0]
        for seed in range(300)
    ]
    # Removal weights are 1, 1 and 98 of 100.
    assert np.mean(np.array(first) == 2) == pytest.approx(0.98, abs=0.03)
    first = [
        removed(list(SamplingSequence([2, 2, 96]).subsets(problem_with([1, 1, 1], seed))))[0]
        for seed in range(300)
    ]
    assert np.mean(np.array(first) == 2) < 0.05


def test_importance_per_cost_drops_what_is_least_worth_its_price():
    sequence = ImportancePerCostSequence([0.4, 0.3, 0.2, 0.1])
    # Importance per cost: .04, .3, .02, .1.
    assert removed(list(sequence.subsets(problem_with([10, 1, 10, 1])))) == [2, 0]
    squared = ImportancePerCostSequence([0.4, 0.3, 0.2, 0.1], gamma=0)
    assert removed(list(squared.subsets(problem_with([10, 1, 10, 1])))) == [3, 2]
    # Neither the most expensive first, nor are small values equal: 2.25, 1, 1.67 and 3 millionths.
    small = ImportancePerCostSequence([9e-6, 1e-6, 5e-6, 3e-6])
    assert removed(list(small.subsets(problem_with([4, 1, 3, 1])))) == [1, 2]


@pytest.mark.parametrize("gamma", [200, 1e6])
def test_large_exponents_stay_within_the_range_of_floats(gamma):
    costs = [100, 1, 50, 0]
    for cls in (SamplingSequence, ImportancePerCostSequence):
        subsets = cls([0.4, 0.3, 0, -0.1], gamma).subsets(problem_with(costs, min_variables=1))
        assert removed(list(subsets)) == [0, 2, 1]  # by price alone


@pytest.mark.parametrize("gamma", [-1, np.inf, np.nan, "1"])
def test_gamma_is_checked(gamma):
    with pytest.raises(ParameterError, match="gamma must be a number >= 0"):
        list(SamplingSequence([1, 1, 1], gamma).subsets(problem_with([1, 1, 1])))


@pytest.mark.parametrize("name", ["sampling", "uniform"])
def test_random_sequences_follow_the_seed(name):
    costs = [1] * 10

    def order(seed):
        return removed(list(as_sequence(name).subsets(problem_with(costs, seed))))

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(5)}) == 5


def test_a_charge_moves_on_to_the_members_that_are_left():
    """Worked by hand: a charge of 10 shared by variables 0, 1 and 2; 3 and 4 stand alone.

    Shares of the bill are 3⅓ + (1, 2, 3), 7, 5½: 3 goes (7). Then 2 (6⅓); the charge is now
    carried by two, 5 + (1, 2): 1 goes (7). 0 carries all of it, 11, and goes before 4 (5½).
    """
    problem = problem_with([1, 2, 3, 7, 5.5], min_variables=1, groups=[0, 0, 0, -1, -1])
    subsets = list(CostSequence().subsets(problem))
    assert removed(subsets) == [3, 2, 1, 0]
    bills = [problem.costs.subset(subset) for subset in subsets]
    assert bills == [28.5, 21.5, 18.5, 16.5, 5.5]  # dropping 0 frees its own 1 and the charge
    # Without the charge the order is by price alone.
    ungrouped = problem_with([1, 2, 3, 7, 5.5], min_variables=1)
    assert removed(list(CostSequence().subsets(ungrouped))) == [3, 4, 2, 1]


def test_importance_per_cost_sees_the_charge():
    """Equal prices and importance: the lone member of a charged group is the worst bargain."""
    problem = problem_with([1, 1, 1, 1], min_variables=1, groups=[-1, -1, 0, -1])
    assert removed(list(ImportancePerCostSequence([1, 1, 1, 1]).subsets(problem)))[0] == 2


@pytest.mark.parametrize("n_candidates", [None, 2])
def test_the_forward_sequence_takes_the_best_step(n_candidates):
    problem = problem_with([1, 2, 3, 4, 5], min_variables=1)
    tried = list(ForwardSequence(n_candidates).subsets(problem))
    score = {model.variables: model.score for model in problem.visit(tried)}
    steps = [list(step) for _, step in itertools.groupby(tried, key=len)]
    assert [len(step[0]) for step in steps] == [1, 2, 3, 4, 5]
    assert all(len(step) <= (n_candidates or 5) for step in steps)
    assert len(tried) <= (5 * 6 // 2 if n_candidates is None else 2 * 5)
    best = set()
    for step in steps:
        assert all(best < set(subset) for subset in step)
        top = max(score[s] for s in step)
        best = min((s for s in step if score[s] == top), key=lambda s: (problem.costs.subset(s), s))
        best = set(best)
    assert steps[0].count((0,)) == 1  # what tells the class


def test_the_forward_sequence_goes_on_from_the_important_ones():
    problem = problem_with([1] * 6, min_variables=1)
    tried = list(ForwardSequence(1, [0, 1, 2, 3, 4, 5]).subsets(problem))
    assert tried[:2] == [(5,), (4, 5)]


def test_equally_important_candidates_go_by_the_bill_then_at_random():
    def first_tried(costs, seed, groups=None):
        problem = problem_with(costs, seed, min_variables=1, groups=groups)
        return next(ForwardSequence(1, [1.0] * len(costs)).subsets(problem))[0]

    prices = [3, 1, 5, 2]
    assert {first_tried(prices, seed) for seed in range(5)} == {1}
    # A charge of 10 for the first two: alone each is expensive.
    assert {first_tried(prices, seed, [0, 0, -1, -1]) for seed in range(5)} == {3}
    assert {first_tried([1] * 4, seed) for seed in range(20)} == {0, 1, 2, 3}


def test_equally_good_models_of_one_price_are_gone_on_with_at_random():
    """Three equal columns: the first one taken is drawn."""

    def first_taken(seed):
        problem = problem_with([0.1, 0.1, 0.1], seed, min_variables=1)
        problem.train[0][:] = problem.train[0][:, :1]
        steps = ForwardSequence(n_candidates=None).subsets(problem)
        return set.intersection(*(set(step) for step in steps if len(step) == 2))

    assert set.union(*map(first_taken, range(20))) == {0, 1, 2}
    assert all(len(first_taken(seed)) == 1 for seed in range(3))


def test_the_forward_sequence_tries_eight_variables_at_a_step():
    tried = list(ForwardSequence().subsets(problem_with([1] * 10)))
    widths = [len(list(step)) for _, step in itertools.groupby(tried, key=len)]
    assert max(widths) == 8


@pytest.mark.parametrize("wrong", [0, 1.5])
def test_number_of_candidates_is_checked(wrong):
    with pytest.raises(ParameterError, match="n_candidates must be an integer >= 1"):
        list(ForwardSequence(wrong).subsets(problem_with([1, 1, 1])))


def test_every_named_sequence_runs():
    problem = problem_with([3, 1, 2, 5], groups=[0, 0, -1, -1])
    for name in SEQUENCES:
        subsets = list(as_sequence(name).subsets(problem))
        assert subsets
        assert min(map(len, subsets)) >= 2


def test_l1_path_takes_the_telling_variable_first_and_grows():
    subsets = list(L1PathSequence().subsets(problem_with([1] * 5, min_variables=1)))
    assert subsets[0] == (0,)
    assert max(map(len, subsets)) >= 4
    assert len(set(subsets)) == len(subsets)


def test_l1_path_visits_as_many_penalties_as_asked_for():
    problem = problem_with([1] * 12, min_variables=1, n_samples=200)
    assert len(problem.l1_path(100)) > 20 > len(problem.l1_path(10))
    default, few = (list(L1PathSequence(*n).subsets(problem)) for n in ((), (5,)))
    assert len(default) > len(few)
    assert max(map(len, default)) >= 10


@pytest.mark.parametrize("wrong", [0, 1.5])
def test_number_of_penalties_is_checked(wrong):
    with pytest.raises(ParameterError, match="n_lambda must be an integer >= 1"):
        list(L1PathSequence(wrong).subsets(problem_with([1, 1, 1])))


@pytest.mark.parametrize("wrong", ["expensive", 3, None, CostSequence])
def test_unknown_sequence_is_refused(wrong):
    with pytest.raises(ParameterError, match="'importance', 'cost', 'sampling', 'l1'"):
        as_sequence(wrong)


def test_importance_of_the_wrong_length_is_refused():
    with pytest.raises(ParameterError, match="4 finite numbers"):
        list(ImportanceSequence([1, 2]).subsets(problem_with([1, 1, 1, 1])))


@pytest.mark.parametrize(
    "wrong",
    [(-1, 0), (0, 0, 1), (0, 4), (), (0.0, 1.0), (True, True, False, False), 3, None, "01"],
)
def test_subsets_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError, match=r"from 0 to 3; got .*Correct its `subsets`"):
        problem_with([1] * 4).visit([(0, 1), wrong])


@pytest.mark.parametrize("same", [(2, 0), [0, 2], np.array([2, 0]), {0, 2}])
def test_a_subset_may_come_in_any_order(same):
    problem = problem_with([1] * 4)
    [visited] = problem.visit([same])
    assert visited.variables == (0, 2)
    assert all(type(variable) is int for variable in visited.variables)
    assert problem.visit([(0, 2)]) == [visited]
    assert problem.model(same).n_features_in_ == 2


def test_the_page_on_ones_own_sequence_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "sequences.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(code, names)
    search = names["search"]
    subsets = [model.variables for model in search.sequences_["redundancy"]]
    assert [len(subset) for subset in subsets] == list(range(13, 1, -1))
    overlap = np.abs(np.corrcoef(names["X"], rowvar=False)).sum(axis=0)
    assert removed(subsets)[0] in np.argsort(-overlap)[:3]  # found on the training rows
    assert str(search.schedule_) in capsys.readouterr().out
