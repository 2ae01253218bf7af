"""Model sequences: nested, complete, and in the order that their definitions say."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from budgetlearn._validation import ParameterError
from budgetlearn.costs import FeatureCosts
from budgetlearn.msb.problem import SequenceProblem
from budgetlearn.msb.sequences import (
    SEQUENCES,
    CostSequence,
    ImportancePerCostSequence,
    ImportanceSequence,
    L1PathSequence,
    SamplingSequence,
    UniformSequence,
    as_sequence,
)
from budgetlearn.msb.stagewise import BackwardSequence, ForwardSequence


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
    sequence = cls() if cls in (CostSequence, UniformSequence) else cls(np.arange(len(costs)) - 1.0)
    groups = np.arange(len(costs)) % 3 - 1 if grouped else None
    subsets = list(sequence.subsets(problem_with(costs, seed, groups=groups)))
    assert [len(subset) for subset in subsets] == list(range(len(costs), 1, -1))
    for larger, smaller in itertools.pairwise(subsets):
        assert set(smaller) < set(larger)
        assert list(smaller) == sorted(smaller)


def test_cost_sequence_drops_the_dearest_first():
    assert removed(list(CostSequence().subsets(problem_with([5, 9, 1, 7])))) == [1, 3]


def test_importance_sequence_drops_the_least_important_first():
    sequence = ImportanceSequence([0.4, -0.1, 0.2, 0.3])
    assert removed(list(sequence.subsets(problem_with([1, 1, 1, 1])))) == [1, 2]


def test_importance_is_found_on_the_validation_data():
    importance = problem_with([1, 1, 1, 1]).importance
    assert importance.argmax() == 0
    assert importance[0] > 0.3


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


@pytest.mark.parametrize("cls", [ForwardSequence, BackwardSequence])
@pytest.mark.parametrize("n_candidates", [None, 2])
def test_stagewise_sequences_take_the_best_step(cls, n_candidates):
    problem = problem_with([1, 2, 3, 4, 5], min_variables=1)
    tried = list(cls(n_candidates).subsets(problem))
    score = {model.variables: model.score for model in problem.visit(tried)}
    steps = [list(step) for _, step in itertools.groupby(tried, key=len)]
    width = n_candidates or 5
    sizes = [1, 2, 3, 4, 5] if cls is ForwardSequence else [5, 4, 3, 2, 1]
    assert [len(step[0]) for step in steps] == sizes
    assert all(len(step) <= width for step in steps)
    assert len(tried) <= (5 * 6 // 2 if n_candidates is None else 2 * 5)
    best = None
    for step in steps:
        if best is not None:
            assert all(set(best) < set(s) or set(s) < set(best) for s in step)
        top = max(score[s] for s in step)
        best = min((s for s in step if score[s] == top), key=lambda s: (problem.costs.subset(s), s))
    assert steps[0 if cls is ForwardSequence else -1].count((0,)) == 1  # what tells the class


def test_stagewise_sequences_go_on_from_the_important_ones():
    problem = problem_with([1] * 6, min_variables=1)
    importance = [0, 1, 2, 3, 4, 5]
    assert list(ForwardSequence(1, importance).subsets(problem))[:2] == [(5,), (4, 5)]
    assert list(BackwardSequence(1, importance).subsets(problem))[1] == (1, 2, 3, 4, 5)


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


@pytest.mark.parametrize("wrong", ["dearest", 3, None])
def test_unknown_sequence_is_refused(wrong):
    with pytest.raises(ParameterError, match="'importance', 'cost', 'sampling', 'l1'"):
        as_sequence(wrong)


def test_importance_of_the_wrong_length_is_refused():
    with pytest.raises(ParameterError, match="4 finite numbers"):
        list(ImportanceSequence([1, 2]).subsets(problem_with([1, 1, 1, 1])))


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
