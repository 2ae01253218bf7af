"""Shared checks: seeds that depend only on their parts, validation rows drawn class by class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.validation import (
    ParameterError,
    check_choice,
    check_classes,
    check_max_features,
    check_number,
    derive_seed,
    holdout,
)


def test_seeds_are_the_same_on_every_machine():
    assert (
        derive_seed(20260101, "wine", 0) == 3812792178
    )  # fixed, because published results depend on it
    assert derive_seed(1, 23) != derive_seed(12, 3)
    assert all(0 <= derive_seed(i) < 2**32 for i in range(50))
    assert len({derive_seed(7, "wine", run, "msb") for run in range(200)}) == 200


@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.floats(0.1, 0.9), st.integers(0, 9))
def test_holdout_keeps_every_class_in_training(labels, fraction, seed):
    y = np.array([*labels, 0, 0, 0, 0, 0, 0])
    train, valid = holdout(y, fraction, np.random.RandomState(seed))
    assert sorted([*train, *valid]) == list(range(y.size))
    assert set(y[train]) == set(y)
    for label in set(y):
        held, members = (y[valid] == label).sum(), (y == label).sum()
        assert abs(held - fraction * members) <= 1


def test_holdout_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="leaves no validation data"):
        holdout(np.array([0, 1, 2]), 0.3, np.random.RandomState(0))


def test_holdout_of_nearly_all_is_refused():
    y = np.repeat([0, 1], [30, 20])
    with pytest.raises(ParameterError, match="leaves no training data"):
        holdout(y, 0.99, np.random.RandomState(0))
    train, _ = holdout(y, 0.9, np.random.RandomState(0))
    assert np.bincount(y[train]).tolist() == [3, 2]


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, "0.3", float("nan")])
def test_holdout_takes_a_share_between_none_and_all(fraction):
    with pytest.raises(ParameterError, match="validation_fraction must be a number > 0 and < 1"):
        holdout(np.array([0, 0, 0, 1, 1]), fraction, np.random.RandomState(0))


def test_bounds_may_be_open():
    assert check_number(0.5, "x", low=0, high=1, low_open=True, high_open=True) == 0.5
    for value in (0, 1):
        assert check_number(value, "x", low=0, high=1) == value
        with pytest.raises(ParameterError, match="x must be a number > 0 and < 1"):
            check_number(value, "x", low=0, high=1, low_open=True, high_open=True)


@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), True, "3", None])
def test_numbers_outside_their_range_are_refused(value):
    with pytest.raises(ParameterError, match="budget must be an integer >= 0 and <= 9, got"):
        check_number(value, "budget", low=0, high=9, integer=True)


def test_none_passes_where_it_is_said_to():
    assert check_number(None, "budget", low=0, none=True) is None
    with pytest.raises(ParameterError, match="budget must be a number >= 0, got -1"):
        check_number(-1, "budget", low=0, none=True)


def test_choices_are_listed():
    assert check_choice("a", "kind", ("a", "b")) == "a"
    with pytest.raises(ParameterError, match="kind must be one of 'a', 'b', got 'c'"):
        check_choice("c", "kind", ("a", "b"))


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 10),
        ("sqrt", 3),
        (1, 1),
        (np.int64(2), 2),
        (99, 10),
        (np.float32(0.25), 2),
        (0.01, 1),
        (1.0, 10),
    ],
)
def test_max_features(max_features, expected):
    assert check_max_features(max_features, 10) == expected


@pytest.mark.parametrize("value", [0, -1, 0.0, 1.5, np.nan, np.inf, True, "log2", [2], np.True_])
def test_other_max_features_are_refused(value):
    with pytest.raises(ParameterError, match="max_features must be an integer >= 1, a share > 0"):
        check_max_features(value, 10)


def test_classes_and_their_indices():
    classes, labels = check_classes(np.array(["b", "a", "b"]))
    assert classes.tolist() == ["a", "b"]
    assert labels.tolist() == [1, 0, 1]
    with pytest.raises(ParameterError, match="two classes, got one class only: 'a'"):
        check_classes(np.array(["a", "a"]))
    with pytest.raises(ValueError, match="Unknown label type"):
        check_classes(np.array([0.5, 1.5]))
