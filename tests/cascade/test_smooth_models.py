"""Linear and kernel models of a stage: what is predicted out of fold has not been seen."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from budgetlearn.cascade.models import Table, assign_folds
from budgetlearn.cascade.smooth_models import (
    FARTHEST,
    KernelFit,
    KernelKind,
    LinearKind,
    Scaling,
)


def moons(n_samples=300, seed=0):
    X, y = make_moons(n_samples, noise=0.2, random_state=seed)
    return Table(X, y, 2, assign_folds(y, 2, 5, np.random.RandomState(seed)))


@pytest.fixture(scope="module", params=[20, 60], ids=["some landmarks", "all landmarks, weighted"])
def fit(request):
    random = np.random.RandomState(0)
    Z, targets = random.normal(size=(60, 3)), random.normal(size=(60, 2))
    kernel = np.exp(-0.3 * ((Z[:, None] - Z[None, : request.param]) ** 2).sum(axis=2))
    weight = np.ones(60) if request.param == 20 else random.uniform(0.2, 1.8, 60)
    targets -= np.average(targets, axis=0, weights=weight)
    given = None if request.param == 20 else weight
    return KernelFit(kernel, np.arange(request.param), targets, given), kernel, targets, weight


def refitted(kernel, targets, weight, out, penalty):
    """Return predictions of `out` by ridge on the same basis, fitted on the others alone."""
    n_landmarks = kernel.shape[1]
    values, vectors = np.linalg.eigh(kernel[:n_landmarks])
    features = kernel @ (vectors / np.sqrt(values))
    counted = features[~out].T * weight[~out]
    gram = counted @ features[~out] + penalty * np.eye(n_landmarks)
    return features[out] @ np.linalg.solve(gram, counted @ targets[~out])


def test_folds_in_closed_form_are_what_refits_say(fit):
    fitted, *known = fit
    out = np.arange(60) % 5 == 2
    found = fitted.left_out(out, 0.7)
    np.testing.assert_allclose(found, refitted(*known, out, 0.7), atol=1e-8)


def test_single_examples_in_closed_form_are_what_refits_say(fit):
    fitted, kernel, targets, weight = fit
    errors = fitted.left_one_out()
    out = np.arange(60) == 7
    found = refitted(kernel, targets, weight, out, 1e-4 * 10 ** (6 * 8 / 12))
    expected = weight[7] * ((targets[out] - found) ** 2).sum()
    assert errors[8, 7] == pytest.approx(expected, rel=1e-6)


def test_weights_are_those_of_ridge_in_the_kernel_space(fit):
    fitted, kernel, targets, weight = fit
    counted = kernel.T * weight
    gram = counted @ kernel + 0.7 * kernel[: kernel.shape[1]]
    weights = np.linalg.solve(gram, counted @ targets)
    np.testing.assert_allclose(kernel @ fitted.weights(0.7), kernel @ weights, atol=1e-8)


def test_linear_models_are_those_of_scikit_learn():
    random = np.random.RandomState(0)
    X, weight = random.uniform(-1, 3, (200, 3)) * [1, 50, 0.1], random.uniform(0.2, 1.8, 200)
    Z = StandardScaler().fit(X, sample_weight=weight).transform(X)
    score = Z @ [1.0, 2.0, 0.0] + random.normal(size=200)
    found = LinearKind().fit(Table(X, score, None, weight=weight), 0).predict(X)
    expected = Ridge(alpha=1.0).fit(Z, score, weight).predict(Z)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5, atol=1e-5)
    # For two classes scikit-learn has one column of weights, which are twice as large as ours.
    for edges, strength in (([0.0], 2.0), ([-1.0, 1.5], 1.0)):
        y = np.digitize(score, edges)
        known = Table(X, y, len(edges) + 1, weight=weight)
        expected = LogisticRegression(C=strength).fit(Z, y, weight).predict_proba(Z)
        np.testing.assert_allclose(LinearKind().fit(known, 0).predict(X), expected, atol=2e-3)
    # Also where far values are clipped, so that their mean is not 0.
    X[0, 0] = score[0] = 1e3
    Z = StandardScaler().fit(X, sample_weight=weight).transform(X).clip(-FARTHEST, FARTHEST)
    found = LinearKind().fit(Table(X, score, None, weight=weight), 0).predict(X)
    expected = Ridge(alpha=1.0).fit(Z, score, weight).predict(Z)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5, atol=1e-5)


def test_a_kernel_bends_where_a_line_cannot():
    data, others = moons(), moons(seed=1)
    held_out, bent = KernelKind().fit_both(data, [0, 1], 0)
    straight, _ = LinearKind().fit_both(data, [0, 1], 0)
    assert (held_out.argmax(axis=1) == data.y).mean() > 0.94
    assert (bent.predict(others.X).argmax(axis=1) == others.y).mean() > 0.94
    assert 0.94 > (straight.argmax(axis=1) == data.y).mean() > 0.8

    def loss(power):
        shares = held_out**power
        return data.losses(shares / shares.sum(axis=1, keepdims=True)).mean()

    assert loss(1.0) < min(loss(0.8), loss(1.25))


@pytest.mark.parametrize("kind", [LinearKind(), KernelKind()], ids=["linear", "kernel"])
def test_a_target_in_another_unit_is_predicted_in_that_unit(kind):
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    folds = np.arange(200) % 5
    one, other = (
        kind.fit_both(Table(X, unit * y, None, folds), [0, 1], 0)[0] for unit in (1.0, 1e9)
    )
    np.testing.assert_allclose(other, 1e9 * one, rtol=1e-4, atol=1e-4 * 1e9)
    assert 1 - np.mean((one[:, 0] - y) ** 2) / y.var() > 0.6


@pytest.mark.parametrize("kind", [LinearKind(), KernelKind()], ids=["linear", "kernel"])
def test_a_row_alone_is_predicted_as_among_others(kind):
    data = moons()
    _, model = kind.fit_both(data, [0, 1], 0)
    alone = np.concatenate([model.predict(data.X[[row]]) for row in range(50)])
    np.testing.assert_array_equal(alone, model.predict(data.X)[:50])


def test_single_far_values_do_not_rule():
    scaling = Scaling.of(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]]), None, True)
    np.testing.assert_array_equal(scaling.scaled(np.array([[1e9, 5.0]])), [[3.0, 0.0]])
    column = np.append(np.arange(999.0), -1e6)[:, None]
    usual, robust = (Scaling.of(column, None, each).scale[0] for each in (False, True))
    assert usual == pytest.approx(column.std())
    assert robust == pytest.approx(column[:-1].std(), rel=0.05)
    # In a unit in which squares overflow, the same bits.
    assert Scaling.of(2.0**1000 * column, None, True).scale[0] == 2.0**1000 * robust


def test_gaps_are_filled_with_means_and_marked():
    X = np.array([[0.0, np.nan], [2.0, 4.0], [4.0, 8.0]])
    for weight, mean in ((None, 6.0), (np.array([1.0, 1.0, 2.0]), 20 / 3)):
        scaling = Scaling.of(X, weight, False)
        columns = np.array([[0, mean, 1], [2, 4, 0], [4, 8, 0]])
        np.testing.assert_allclose(scaling.mean, np.average(columns, axis=0, weights=weight))
        spread = np.average((columns - scaling.mean) ** 2, axis=0, weights=weight)
        np.testing.assert_allclose(scaling.scale, np.sqrt(spread))
        found = scaling.scaled(X) * scaling.scale + scaling.mean
        np.testing.assert_allclose(found, columns, atol=1e-12)
