"""Model sequences: nested, complete, and in the order that their definitions say."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from budgetlearn._validation import ParameterError
from budgetlearn.costs import FeatureCosts
from budgetlearn.msb.problem import SequenceProblem
from budgetlearn.msb.sequences import (
    CostSequence,
    ImportanceSequence,
    L1PathSequence,
    SamplingSequence,
    UniformSequence,
    as_sequence,
)


def problem_with(costs, seed=0, min_variables=2, n_samples=60):
    """A problem on noise, in which variable 0 alone tells the class."""
    rng = np.random.RandomState(seed)
    y = np.arange(n_samples) % 2
    X = rng.normal(size=(n_samples, len(costs)))
    X[:, 0] += 4 * y
    return SequenceProblem(
        DecisionTreeClassifier(), (X, y), (X, y), FeatureCosts(costs), min_variables, seed
    )


def removed(subsets):
    """The variables in the order in which a nested sequence drops them."""
    return [
        next(iter(set(larger) - set(smaller))) for larger, smaller in itertools.pairwise(subsets)
    ]


@given(
    st.lists(st.integers(0, 100), min_size=3, max_size=12),
    st.sampled_from([CostSequence, UniformSequence, SamplingSequence, ImportanceSequence]),
    st.integers(0, 5),
)
def test_sequences_are_nested_from_all_variables_down_to_two(costs, cls, seed):
    sequence = cls() if cls in (CostSequence, UniformSequence) else cls(np.arange(len(costs)) - 1.0)
    subsets = list(sequence.subsets(problem_with(costs, seed)))
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
