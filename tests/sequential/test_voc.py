"""VoC equals its one-point NumPy twin, and keeps the shared rules of choice."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from budgetlearn.costs import FeatureCosts
from budgetlearn.sequential import VoCClassifier
from budgetlearn.sequential.voc import _expected_certainty, _weighted_products
from budgetlearn.validation import ParameterError
from tests.sequential.reference import voc_gains


@pytest.mark.parametrize("n_classes", [2, 3])
def test_walk_equals_the_slow_twin(n_classes):
    X, y = make_classification(
        250, 6, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=n_classes
    )
    model = VoCClassifier(threshold=1.0).fit(X, y)
    walk = model._walk(X[:12] + 0.1)
    scaler = StandardScaler().fit(X)
    Z, points = scaler.transform(X), scaler.transform(X[:12] + 0.1)
    for row, point in enumerate(points):
        order = walk.order[row].tolist()
        for stage, feature in enumerate(order):
            posterior, rest, expected = voc_gains(Z, y, point, order[:stage], 0.5)
            assert walk.estimate[row, stage] == pytest.approx(posterior.max())
            assert walk.winner[row, stage] == posterior.argmax()
            np.testing.assert_allclose(walk.probabilities(stage, n_classes)[row], posterior)
            # Sixteen nodes for a kinked function: a value is good to about 0.01.
            gain = expected[rest.index(feature)] - posterior.max()
            assert walk.value[row, stage] == pytest.approx(gain, abs=0.015)
            assert expected[rest.index(feature)] > expected.max() - 0.02


def test_expected_certainty_of_two_normals():
    """Equal spreads and shares: E max P = Phi(half the distance in spreads)."""
    distance = np.array([0.0, 1.0, 3.0])
    means = [np.zeros((1, 3)), distance[None, :]]
    spreads = [np.ones((1, 3))] * 2
    expected = _expected_certainty(np.array([[0.5, 0.5]]), np.array(means), np.array(spreads))
    np.testing.assert_allclose(expected[0], norm.cdf(distance / 2), atol=0.01)


def test_weighted_products_are_the_upper_triangle_of_weighted_moments():
    rng = np.random.default_rng(0)
    examples, weights = rng.normal(size=(2500, 3)), rng.random((2, 2500))
    table = np.column_stack([np.ones(2500), examples])
    sums = _weighted_products(examples, weights)
    for row in range(2):
        moments = table.T @ (weights[row][:, None] * table)
        np.testing.assert_allclose(sums[row], moments[np.triu_indices(4)], rtol=1e-10)


def test_equal_gains_take_the_cheaper_then_the_lower_index():
    x = np.random.default_rng(0).normal(size=(80, 1))
    X, y = np.repeat(x, 3, axis=1), x[:, 0] > 0
    assert (VoCClassifier(threshold=1.0).fit(X, y).decisions(X).order[:, 0] == 0).all()
    expensive = VoCClassifier(feature_costs=[2, 1, 1], threshold=1.0).fit(X, y)
    assert (expensive.decisions(X).order[:, 0] == 1).all()


def test_price_groups_and_budget():
    X, y = make_classification(150, 4, n_informative=4, n_redundant=0, random_state=0)
    costs = FeatureCosts([1, 1, 4, 5], groups=[-1, 0, 0, -1], group_costs=[3])
    model = VoCClassifier(feature_costs=costs, cost_weight=100.0, threshold=1.0).fit(X, y)
    assert model.explain(X[0])["price"].tolist() == [1, 4, 4, 5]
    model = VoCClassifier(feature_costs=costs, max_cost=5, threshold=1.0).fit(X, y)
    assert (model.acquisition_cost(X) <= 5).all()


def test_stops_when_sure():
    X, y = make_classification(300, 6, class_sep=3.0, random_state=0)
    model = VoCClassifier(threshold=0.9).fit(X, y)
    walk = model._walk(X)
    early = (walk.order >= 0).sum(axis=1) < 6
    assert early.any()
    assert (walk.estimate[early, -1] > 0.9).all()
    assert (model.predict_proba(X)[early].max(axis=1) > 0.9).all()


def test_probabilities_are_the_shares_of_the_classes():
    """With all features known: weights exp(−d² / median d) of standardised, weighted examples."""
    X, y = make_classification(
        90, 3, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    weight = np.random.default_rng(0).integers(1, 6, 90).astype(float)
    model = VoCClassifier(threshold=1.0).fit(X, y, sample_weight=weight)
    weight = (weight / weight.mean()).astype(np.float32).astype(float)  # as models keep them
    mean = np.average(X, axis=0, weights=weight)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    for row in range(10):
        squares = ((Z - Z[row]) ** 2).sum(axis=1)
        near = weight * np.exp(-squares / np.median(np.sqrt(squares)))
        shares = np.bincount(y, near) / near.sum()
        np.testing.assert_allclose(model.predict_proba(X[[row]])[0], shares, rtol=1e-9)


def test_points_far_from_all_examples_keep_finite_estimates():
    X, y = make_classification(100, 4, random_state=2)
    model = VoCClassifier(threshold=1.0).fit(X, y)
    far = np.array([[1e6, -1e6, 0.0, 1e6], [1e308, -1e308, 1.0, 1e200]])
    assert np.isfinite(model.predict_proba(far)).all()


def test_blocks_shrink_with_the_size_of_their_tables(monkeypatch):
    X, y = make_classification(300, 5, random_state=2)
    model = VoCClassifier(threshold=0.9).fit(X, y)
    whole = model._walk(X)
    monkeypatch.setattr("budgetlearn.sequential.voc.TABLE_SIZE", 7 * 300)
    assert model._block_rows() == 7
    small = model._walk(X)
    np.testing.assert_array_equal(small.order, whole.order)
    np.testing.assert_allclose(small.estimate, whole.estimate, rtol=1e-12)


def test_ridge_must_be_positive():
    X, y = make_classification(50, 4, random_state=0)
    with pytest.raises(ParameterError, match="ridge"):
        VoCClassifier(ridge=0.0).fit(X, y)
