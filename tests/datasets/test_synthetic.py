"""Generators: the distributions that the papers describe."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetbench.datasets import synthetic
from budgetbench.datasets.preparing import load_dataset
from budgetbench.datasets.synthetic import GRADES, PRICE_CLASSES, generate, yahoo_costs, yahoo_like
from budgetlearn.exceptions import DatasetError

NAMES = ["gaussian_mixture", "friedman1", "hwang_f5", "ringnorm", "twonorm", "hastie", "waveform"]
NAMES += ["hwang_simple", "cube", "cube_nm", "indicator"]


# Of 200 rows with seed 1, as results depend on the draws: the features' standard deviation, and
# the sum of the last one times the target.
DRAWN = {
    "gaussian_mixture": (1.3520683, 29.077937),
    "friedman1": (0.29094386, 1547.9078),
    "hwang_f5": (0.2857966, 244.88652),
    "ringnorm": (1.5993767, 63.297413),
    "twonorm": (1.1081679, -29.723015),
    "hastie": (1.0065968, 1.7115251),
    "waveform": (1.7564273, -6.0603654),
    "hwang_simple": (0.2857966, 377.97961),
    "cube": (0.35565579, 408.10825),
    "cube_nm": (0.34361179, 351.46314),
    "indicator": (0.98766388, 50),
    "madelon_like": (2.4910597, -0.37038968),
    "yahoo_like": (0.2896524, 137.47065),
}


@pytest.mark.parametrize("name", [*NAMES, "madelon_like", "yahoo_like"])
def test_the_seed_decides(name):
    first, again, other = (generate(name, 200, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)
    assert len(first.X) == len(first.y) == 200
    X = first.X.astype(float)
    np.testing.assert_allclose((X.std(), X[:, -1] @ first.y), DRAWN[name], rtol=1e-5)


def best_rule(X, means, covariance):
    """Return the Bayes rule of equally likely Gaussians of one covariance."""
    weights = np.linalg.solve(covariance, means.T)
    return (X @ weights - 0.5 * np.einsum("ij,ji->i", means, weights)).argmax(axis=1)


@pytest.mark.parametrize(("correlation", "best"), [(0.1, 0.89), (0.3, 0.85), (0.6, 0.81)])
def test_gaussian_mixture_reaches_what_its_docstring_says(correlation, best):
    X, y = synthetic.gaussian_mixture(20000, 0, correlation)
    halves = np.repeat([1.0, -1.0], 4)
    means = 0.85 * np.array([np.ones(8), -np.ones(8), halves, -halves])
    covariance = correlation ** np.abs(np.subtract.outer(range(8), range(8)))
    assert (best_rule(X, means, covariance) == y).mean() == pytest.approx(best, abs=0.01)
    for label in range(4):
        np.testing.assert_allclose(X[y == label].mean(axis=0), means[label], atol=0.06)
        np.testing.assert_allclose(np.cov(X[y == label].T), covariance, atol=0.08)


def test_friedman1():
    X, y = synthetic.friedman1(500, 0, noise=0.0)
    x1, x2, x3, x4, x5 = X.T[:5]
    expected = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    np.testing.assert_allclose(y, expected)


def test_hwang_is_scaled_to_unit_variance():
    _, y = synthetic.hwang_f5(100000, 0, noise=0.0)
    assert y.std() == pytest.approx(1.0, abs=0.02)
    _, noisy = synthetic.hwang_f5(100000, 0)
    assert noisy.var() - y.var() == pytest.approx(0.25**2, abs=0.01)


def test_hwang_simple_is_a_product_of_two_features():
    X, y = synthetic.hwang_simple(100000, 0, noise=0.0)
    np.testing.assert_allclose(y, 10.391 * (X[:, 0] - 0.4) * (X[:, 1] - 0.6) + 10.391 * 0.36)
    assert y.std() == pytest.approx(0.957, abs=0.01)
    assert y.min() >= 0  # as Hwang et al. moved all of theirs
    assert (synthetic.hwang_simple(100000, 0)[1] - y).std() == pytest.approx(0.25, abs=0.01)


def test_twonorm_error_of_the_best_rule():
    # The means are 2a√20 = 4 standard deviations apart: 2.3 % errors.
    X, y = synthetic.twonorm(50000, 0)
    assert ((X.sum(axis=1) < 0) != y).mean() == pytest.approx(0.0228, abs=0.003)


def test_ringnorm_moments():
    X, y = synthetic.ringnorm(50000, 0)
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(X[y == 0].var(axis=0), 4, atol=0.15)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 2 / np.sqrt(20), atol=0.03)
    np.testing.assert_allclose(X[y == 1].var(axis=0), 1, atol=0.04)


def test_hastie_splits_by_the_radius_in_halves():
    X, y = synthetic.hastie(20000, 0)
    assert np.array_equal(y == 1, (X**2).sum(axis=1) > 9.34)
    assert y.mean() == pytest.approx(0.5, abs=0.02)


def test_waveform_means_and_noise():
    X, y = synthetic.waveform(30000, 0)
    assert X.shape == (30000, 40)
    np.testing.assert_allclose(X[:, 21:].mean(axis=0), 0, atol=0.04)
    place = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7))
    for label, (one, two) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        np.testing.assert_allclose(X[y == label, :21].mean(axis=0), (one + two) / 2, atol=0.12)


def test_budgetrf_example_is_the_paper_s():
    table = generate("budgetrf_example", 1024)
    X, y = table.X, table.y
    assert np.unique(X, axis=0).shape == (1024, 10)
    number = X @ 2.0 ** np.arange(9, -1, -1)
    for low, label in ((0, 0), (256, 1), (512, 2), (768, 3)):
        assert (y[(number > low) & (number < low + 256)] == label).all()
    assert [int(y[number == n][0]) for n in (0, 256, 512, 768)] == [1, 2, 3, 0]
    # The first two features alone classify all but four.
    assert (2 * X[:, 0] + X[:, 1] != y).sum() == 4
    with pytest.raises(DatasetError, match="needs n_samples=1024, got 10"):
        generate("budgetrf_example", 10)


def test_unknown_parameter_of_a_generator():
    with pytest.raises(DatasetError, match=r"Generator twonorm: .*separation"):
        generate("twonorm", 10, separation=2)


def test_yahoo_prices_are_the_printed_ones():
    costs = yahoo_costs()
    assert costs.n_features == 519
    prices, counts = np.unique(costs.costs, return_counts=True)
    assert dict(zip(prices, counts, strict=True)) == PRICE_CLASSES


def test_yahoo_like_shape_queries_and_grades():
    X, y, groups = yahoo_like(6000, 3)
    assert X.shape == (6000, 519)
    assert X.dtype == np.float32
    assert X.flags.f_contiguous
    assert (X >= 0).all()
    assert (X <= 1).all()
    assert groups[0] == 0
    assert set(np.diff(groups)) == {0, 1}
    assert 15 < 6000 / (groups[-1] + 1) < 35
    np.testing.assert_allclose(np.bincount(y)[:4] / 6000, GRADES, atol=0.01)
    lengths = np.bincount(groups)
    means = np.bincount(groups, y) / lengths
    assert means.var() > 1.5 * y.var() * (1 / lengths).mean()  # what chance would give


def test_yahoo_like_expensive_features_know_more():
    X, y, _ = yahoo_like(6000, 3)
    costs = yahoo_costs().costs
    strength = np.abs(np.corrcoef(X.T, y)[-1, :-1])
    assert strength[costs >= 100].max() > 1.5 * strength[costs == 1].max() > 0.1


def test_madelon_is_the_recipe_of_the_gif_paper():
    data = load_dataset("madelon_like")
    X, y = make_classification(
        4400, n_features=500, n_informative=20, n_redundant=50, random_state=42
    )
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)


def test_three_bits_of_a_cube_spell_the_label_where_it_says():
    X, y = synthetic.cube(2000, 0, noise=0.0)
    places = (y[:, None] + np.arange(3)) % 10
    assert np.array_equal(np.take_along_axis(X, places, 1) @ [1, 2, 4], y)
    np.put_along_axis(X, places, 0.5, 1)
    assert (X == 0.5).all()
    noisy, y = synthetic.cube(20000, 0)
    assert noisy[:, 10:].std() == pytest.approx(0.3, abs=0.005)


def test_only_the_block_that_the_context_names_holds_a_cube():
    X, y = synthetic.cube_nm(2000, 0, noise=0.0, context_noise=0.0)
    context, blocks = X[:, :5].argmax(axis=1), X[:, 5:].reshape(-1, 5, 10)
    assert (X[:, :5].sum(axis=1) == 1).all()
    block = blocks[np.arange(2000), context]
    places = (y[:, None] + np.arange(3)) % 10
    assert np.array_equal(np.take_along_axis(block, places, 1) @ [1, 2, 4], y)
    blocks[np.arange(2000), context] = 0.5
    assert (blocks == 0.5).all()


def test_the_indicator_names_the_coin_that_is_the_label():
    X, y = synthetic.indicator(2000, 0)
    named = np.take_along_axis(X[:, 1:], X[:, :1].astype(int), 1)[:, 0]
    assert np.array_equal(named, y)
    alone = [abs(np.corrcoef(X[:, place], y)[0, 1]) for place in range(9, 20)]
    assert max(alone) < 0.1
