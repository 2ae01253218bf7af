"""Linear and kernel models of a stage: what is predicted out of fold has not been seen."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from budgetlearn.cascade.models import Table, assign_folds
from budgetlearn.cascade.smooth_models import KernelFit, KernelKind, LinearKind, Scaling


def moons(n_samples=300, seed=0):
    X, y = make_moons(n_samples, noise=0.2, random_state=seed)
    return Table(X, y, 2, assign_folds(y, 2, 5, np.random.RandomState(seed)))


@pytest.fixture(scope="module", params=[20, 60], ids=["some landmarks", "all landmarks"])
def fit(request):
    random = np.random.RandomState(0)
    Z, targets = random.normal(size=(60, 3)), random.normal(size=(60, 2))
    kernel = np.exp(-0.3 * ((Z[:, None] - Z[None, : request.param]) ** 2).sum(axis=2))
    return KernelFit(kernel, np.arange(request.param), targets - targets.mean(axis=0)), kernel


def refitted(kernel, targets, out, penalty):
    """Return predictions of `out` by ridge on the same basis, fitted on the others alone."""
    n_landmarks = kernel.shape[1]
    values, vectors = np.linalg.eigh(kernel[:n_landmarks])
    features = kernel @ (vectors / np.sqrt(values))
    inside = features[~out]
    gram = inside.T @ inside + penalty * np.eye(n_landmarks)
    return features[out] @ np.linalg.solve(gram, inside.T @ targets[~out])


def test_folds_in_closed_form_are_what_refits_say(fit):
    fitted, kernel = fit
    out = np.arange(60) % 5 == 2
    found = fitted.left_out(out, 0.7)
    np.testing.assert_allclose(found, refitted(kernel, fitted._targets, out, 0.7), atol=1e-8)


def test_single_examples_in_closed_form_are_what_refits_say(fit):
    fitted, kernel = fit
    errors = fitted.left_one_out()
    out = np.arange(60) == 7
    found = refitted(kernel, fitted._targets, out, 1e-4 * 10 ** (6 * 8 / 12))
    assert errors[8, 7] == pytest.approx(((fitted._targets[out] - found) ** 2).sum(), rel=1e-6)


def test_weights_are_those_of_ridge_in_the_kernel_space(fit):
    fitted, kernel = fit
    gram = kernel.T @ kernel + 0.7 * kernel[: kernel.shape[1]]
    weights = np.linalg.solve(gram, kernel.T @ fitted._targets)
    np.testing.assert_allclose(kernel @ fitted.weights(0.7), kernel @ weights, atol=1e-8)


def test_a_kernel_bends_where_a_line_cannot():
    data = moons()
    bent, straight = (
        (kind.fit_both(data, [0, 1], 0)[0].argmax(axis=1) == data.y).mean()
        for kind in (KernelKind(), LinearKind())
    )
    assert bent > 0.94 > straight > 0.8


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
