"""The kernels of a stage's predictions against numpy."""

import numpy as np
import pytest

from budgetlearn.cascade.kernels import (
    gaussian_sums,
    mixed,
    standardised,
    tempered,
)


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.mark.parametrize("n_temperatures", [1, 40])
def test_a_temperature_is_a_power_above_the_floor(random, n_temperatures):
    probabilities = random.dirichlet([0.2, 1, 1], 40)
    temperatures = random.uniform(0.3, 3, n_temperatures)
    assert (probabilities < 0.01).any()
    powers = np.maximum(probabilities, 0.01) ** (1 / temperatures[:, None])
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(tempered(probabilities, temperatures, 0.01), expected, atol=1e-14)


def test_tables_are_added_with_their_weights(random):
    tables = random.normal(size=(3, 40, 2))
    expected = np.tensordot([0.2, 0.5, 3.0], tables, 1)
    found = mixed(list(tables), np.array([0.2, 0.5, 3.0]), None, 0.01)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_each_table_has_its_temperature(random):
    tables = random.dirichlet([0.2, 1, 1], (3, 40))
    weights, temperatures = np.array([0.2, 0.5, 0.3]), np.array([0.5, 1.0, 3.0])
    given = list(tables.copy())
    found = mixed(given, weights, temperatures, 0.01)
    alone = [tempered(each, temperatures[[k]], 0.01) for k, each in enumerate(tables)]
    np.testing.assert_allclose(found, np.tensordot(weights, alone, 1), atol=1e-14)
    np.testing.assert_array_equal(given, tables)


def test_values_are_standardised_cut_and_without_gaps(random):
    X = random.normal(size=(40, 3))
    X[:10, 1] = np.nan
    mean, scale = np.array([0.5, 0.0, -1.0]), np.array([1.0, 0.1, 3.0])
    expected = np.clip((X - mean) / scale, -2, 2)
    assert (np.abs(expected) == 2).any()
    np.testing.assert_array_equal(
        standardised(X, mean, scale, 2.0), np.where(np.isnan(X), 0, expected)
    )


def test_kernels_are_summed(random):
    X, landmarks, weights = (random.normal(size=shape) for shape in ((7, 3), (3, 50), (50, 2)))
    apart = ((X[:, :, None] - landmarks) ** 2).sum(axis=1)
    expected = np.exp(-0.3 * apart) @ weights
    np.testing.assert_allclose(gaussian_sums(X, landmarks, 0.3, weights), expected, atol=1e-13)
