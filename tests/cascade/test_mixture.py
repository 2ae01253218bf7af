"""Mixtures of kinds: weights of least loss out of fold."""

import numpy as np
import pytest

from budgetlearn.cascade.mixture import Mixture, with_temperature


def opinions(n_samples=4000, seed=0):
    """Return labels, and probabilities by one who knows half of the examples, and by the other."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_samples)
    sure = np.where(np.eye(2)[y] == 1, 0.95, 0.05)
    wrong = random.random(n_samples) < 0.05
    sure[wrong] = sure[wrong][:, ::-1]
    first = random.random(n_samples) < 0.7
    one = np.where(first[:, None], sure, 0.5)
    other = np.where(first[:, None], 0.5, sure)
    return y, one, other


def loss(probabilities, y):
    return -np.log(probabilities[np.arange(len(y)), y]).mean()


def test_the_weights_are_those_of_least_log_loss():
    y, one, other = opinions()
    mixture = Mixture.fit({"one": one, "other": other}, y, 2)
    assert mixture.weights.sum() == pytest.approx(1)
    calibrated = [
        with_temperature(*pair) for pair in zip((one, other), mixture.temperatures, strict=True)
    ]
    grid = np.linspace(0, 1, 201)
    losses = [loss(w * calibrated[0] + (1 - w) * calibrated[1], y) for w in grid]
    assert mixture.weights[0] == pytest.approx(grid[np.argmin(losses)], abs=0.02)
    assert loss(mixture.of([one, other]), y) == pytest.approx(min(losses), abs=1e-3)


def test_a_kind_that_adds_nothing_has_no_weight():
    y, one, _ = opinions()
    noise = np.random.default_rng(1).dirichlet([1, 1], len(y))
    mixture = Mixture.fit({"noise": noise, "one": one}, y, 2)
    assert mixture.kinds == ("one",)
    np.testing.assert_array_equal(mixture.weights, [1.0])


def test_few_examples_leave_the_weights_near_each_other():
    y, one, _ = opinions(8)
    mixture = Mixture.fit({"one": one, "blind": np.full((8, 2), 0.5)}, y, 2)
    assert mixture.weights.min() > 0.15


@pytest.mark.parametrize("unit", [1.0, 1e9])
def test_numbers_are_mixed_with_least_squares(unit):
    random = np.random.default_rng(0)
    y = random.normal(size=3000)
    first, second = (y + deviation * random.normal(size=3000) for deviation in (1.0, 2.0))
    held_out = {"a": unit * first[:, None], "b": unit * second[:, None]}
    mixture = Mixture.fit(held_out, unit * y, None)
    np.testing.assert_allclose(mixture.weights, [0.8, 0.2], atol=0.02)  # as 1 / variance
    found = mixture.of(list(held_out.values()))
    assert np.mean((found[:, 0] / unit - y) ** 2) == pytest.approx(0.8, rel=0.05)
