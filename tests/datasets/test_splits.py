"""Splits: sizes, strata, queries, bad requests."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.datasets import split
from budgetbench.datasets.dataset import Dataset
from budgetlearn.exceptions import ConfigError, DatasetError
from budgetlearn.validation import ParameterError


def toy(task, X, y, **more):
    return Dataset(X, y, ("a",), id="toy", title="Toy", task=task, **more)


def classes(counts, part=None):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    names = tuple(f"c{i}" for i in range(len(counts)))
    X = np.zeros((y.size, 1))
    return toy("classification", X, y, class_names=names, part=part)


def numbers(n_samples):
    X = np.zeros((n_samples, 1))
    return toy("regression", X, np.zeros(n_samples))


def queries(lengths):
    groups = np.repeat(np.arange(len(lengths)), lengths)
    X = np.zeros((groups.size, 1))
    return toy("ranking", X, np.zeros(groups.size), groups=groups)


def sizes_of(part):
    return [int((part == code).sum()) for code in (0, 1, 2)]


@settings(deadline=None)
@given(st.lists(st.integers(10, 60), min_size=2, max_size=6), st.integers(0, 1000))
def test_every_class_is_split_in_the_same_shares(counts, seed):
    dataset = classes(counts)
    part = split(dataset, seed)
    assert part.dtype == np.int8
    assert sum(sizes_of(part)) == dataset.n_samples
    np.testing.assert_allclose(
        sizes_of(part), np.array([0.6, 0.2, 0.2]) * dataset.n_samples, atol=1.01
    )
    for label, count in enumerate(counts):
        found = np.array(sizes_of(part[dataset.y == label]))
        np.testing.assert_allclose(found, np.array([0.6, 0.2, 0.2]) * count, atol=2.01)


@pytest.mark.parametrize("dataset", [classes([50, 30]), numbers(80), queries([5] * 16)])
def test_the_seed_decides(dataset):
    first, again, other = split(dataset, 1), split(dataset, 1), split(dataset, 2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_counts_and_the_rest():
    assert sizes_of(split(numbers(100), 0, (50, 20, "rest"))) == [50, 20, 30]
    assert sizes_of(split(classes([60, 40]), 0, ("rest", 0, 25))) == [75, 0, 25]
    part = split(classes([60, 40]), 0, (30, 10, 10))
    assert sizes_of(part) == [30, 10, 10]
    assert (part == -1).sum() == 50


@pytest.mark.parametrize("dataset", [classes([60, 40]), numbers(100)])
@pytest.mark.parametrize("sizes", [(80, 20, "rest"), (0.6, 0.397, 0.003)])
def test_no_part_that_is_asked_for_is_empty(dataset, sizes):
    with pytest.raises(DatasetError, match="its 100 rows leave none for the test part"):
        split(dataset, 0, sizes)


def test_rows_are_drawn_alike():
    drawn = np.array([split(numbers(20), seed) == 0 for seed in range(600)]).mean(axis=0)
    np.testing.assert_allclose(drawn, 0.6, atol=0.1)
    dataset = classes([12, 8])
    drawn = np.array([split(dataset, seed) == 0 for seed in range(600)]).mean(axis=0)
    np.testing.assert_allclose(drawn, 0.6, atol=0.1)


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=30, max_size=60), st.integers(0, 1000))
def test_queries_stay_whole(lengths, seed):
    dataset = queries(lengths)
    part = split(dataset, seed)
    for group in range(len(lengths)):
        assert np.unique(part[dataset.groups == group]).size == 1
    wanted = np.array([0.6, 0.2, 0.2]) * dataset.n_samples
    np.testing.assert_allclose(sizes_of(part), wanted, atol=10)


@pytest.mark.parametrize("dataset", [classes([60, 40]), numbers(100)])
def test_rows_of_one_group_stay_together_whatever_the_target(dataset):
    grouped = replace(dataset, groups=np.arange(100) // 4)
    part = split(grouped, 0)
    assert all(len(set(part[grouped.groups == group])) == 1 for group in range(25))
    assert sizes_of(part) == [60, 20, 20]
    with pytest.raises(ConfigError, match="needs classification without groups"):
        split(grouped, 0, {"per_class": [1, 1, 1]})


def test_queries_left_over_are_in_no_part():
    part = split(queries([4] * 10), 0, (20, 8, 8))
    assert sizes_of(part) == [20, 8, 8]
    assert (part == -1).sum() == 4
    # A query across a border goes where most of its rows are.
    assert sizes_of(split(queries([6] * 10), 0, (20, 8, 8))) == [18, 12, 6]


def test_given_parts():
    part = np.arange(20) % 3
    dataset = classes([10, 10], part=part)
    got = split(dataset, 0, "given")
    assert np.array_equal(got, part)
    got[0] = 2
    assert dataset.part[0] == 0
    with pytest.raises(ConfigError, match="has no split of its own"):
        split(classes([10, 10]), 0, "given")


def test_per_class():
    dataset = classes([50, 20, 30])
    part = split(dataset, 0, {"per_class": [10, 0, 5]})
    for label in range(3):
        assert sizes_of(part[dataset.y == label]) == [10, 0, 5]
    with pytest.raises(DatasetError, match=r"25 rows per class .* class 'c1' has 20"):
        split(dataset, 0, {"per_class": [20, 0, 5]})
    with pytest.raises(ConfigError, match="needs classification"):
        split(numbers(10), 0, {"per_class": [1, 1, 1]})


def test_rare_classes_are_told():
    with pytest.raises(DatasetError, match="class 'c1' has 2 of 42 rows, too few to be in the"):
        split(classes([40, 2]), 0)
    part = split(classes([40, 2]), 0, (0.5, 0.0, 0.5))
    assert sizes_of(part) == [21, 0, 21]
    # Not of a class without any row.
    assert sizes_of(split(classes([24, 0, 16]), 0)) == [24, 8, 8]


def test_no_whole_query_for_a_part():
    with pytest.raises(DatasetError, match="no whole group falls into the"):
        split(queries([30, 30]), 0)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0.5, 0.5), "three sizes"),
        ((0.5, 0.2, 0.2), "sum to 1"),
        ((0.5, "rest", 0.2), "sum to 1"),
        ((50, 60, 10), "has 100 rows"),
        ((50, "rest", "rest"), "only one of them 'rest'"),
        ((50, -1, "rest"), ">= 0"),
        ((50, "all", 10), "numbers or 'rest'"),
        ((True, 10, 10), "numbers or 'rest'"),
        ("halves", "three numbers or 'given'"),
        ({"per_query": [1, 1, 1]}, "per_class"),
    ],
)
def test_bad_sizes(sizes, message):
    with pytest.raises(ConfigError, match=message):
        split(numbers(100), 0, sizes)


def test_the_seed_is_a_plain_number():
    for seed in (None, -1, 1.5):
        with pytest.raises(ParameterError, match="seed must be an integer"):
            split(numbers(10), seed)
