"""Impurity functions: their definitions, and admissibility on random class counts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.tree.impurity import Entropy, Gini, Polynomial, Powers, ThresholdPairs
from budgetlearn.validation import ParameterError
from tests.tree import reference

COUNTS = st.lists(st.integers(0, 40), min_size=2, max_size=6)


@st.composite
def nested(draw):
    """Class counts of a set R and of a set G that contains it."""
    part = np.array(draw(COUNTS), dtype=float)
    extra = draw(st.lists(st.integers(0, 40), min_size=part.size, max_size=part.size))
    return part, part + extra


ADMISSIBLE = st.one_of(
    st.floats(0, 30).map(ThresholdPairs),
    st.integers(2, 5).map(Powers),
    st.just(Polynomial()),
)


@given(ADMISSIBLE, nested(), st.integers(0, 5))
def test_admissible(function, sets, j):
    part, whole = sets
    step = np.eye(part.size)[j % part.size]
    slack = 1e-9 * (1 + function(whole + step))
    assert function(part) >= 0
    assert function(whole) >= function(part) - slack
    gain_of_whole = function(whole + step) - function(whole)
    assert gain_of_whole >= function(part + step) - function(part) - slack


@given(ADMISSIBLE | st.sampled_from([Gini(), Entropy()]), st.integers(0, 1000), st.integers(0, 3))
def test_a_pure_set_has_no_impurity(function, n, c):
    assert function(n * np.eye(4)[c]) == pytest.approx(0, abs=1e-9)


@given(COUNTS, st.floats(0, 30))
def test_definitions(counts, alpha):
    def agree(function, *name):
        assert function(counts) == pytest.approx(reference.impurity(*name), rel=1e-9, abs=1e-6)

    agree(ThresholdPairs(), "pairs", counts)
    agree(ThresholdPairs(alpha), "pairs", counts, alpha)
    agree(Powers(3), "powers", counts, 3)
    agree(Polynomial(), "polynomial", counts)
    agree(Gini(), "gini", counts)
    agree(Entropy(), "entropy", counts)


# x log x of whole numbers below 4,096 comes from a table.
@pytest.mark.parametrize(
    "counts", [[1, 1], [4095, 4095], [4096, 5000], [4095, 4096], [2.5, 3.25], [0, 4095.5, 1e6]]
)
def test_entropy_of_small_large_and_broken_counts(counts):
    expected = reference.impurity("entropy", np.array(counts))
    assert Entropy()(counts) == pytest.approx(expected, rel=1e-12)


def test_gini_and_entropy_are_not_monotone():
    for function in (Gini(), Entropy()):
        assert not function.admissible
        assert function([1, 1]) > function([1, 9])


@pytest.mark.parametrize(
    "make", [lambda: ThresholdPairs(-1), lambda: Powers(1), lambda: Powers(2.5)]
)
def test_bad_parameters(make):
    with pytest.raises(ParameterError):
        make()


def test_pickle():
    function = pickle.loads(pickle.dumps(ThresholdPairs(2.0)))
    assert function([5, 4]) == ThresholdPairs(2.0)([5, 4])


@pytest.mark.parametrize("alpha", [np.inf, np.nan, -1])
def test_alpha_must_be_a_finite_number(alpha):
    with pytest.raises(ParameterError, match="alpha must be a number >= 0 and < inf"):
        ThresholdPairs(alpha)


@pytest.mark.parametrize("counts", [[1.0, np.nan], [1.0, np.inf], [-1.0, 2.0], [[1.0, 2.0]]])
def test_senseless_counts_are_refused(counts):
    with pytest.raises(ParameterError, match="counts must be"):
        Gini()(counts)


def test_an_impurity_too_large_for_a_float_is_refused():
    assert np.isfinite(Powers(8)([2.0**31, 2.0**31]))
    with pytest.raises(ParameterError, match=r"Powers of 2e\+40 examples overflows a float"):
        Powers(8)([1e40, 1e40])
    with pytest.raises(ParameterError, match="ThresholdPairs"):
        ThresholdPairs(1e200)([1e250, 1e250])
