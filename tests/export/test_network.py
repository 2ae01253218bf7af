"""Perceptrons for devices: what training gave them, and C that is Python bit for bit."""

import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_friedman1

from budgetlearn.exceptions import BudgetError
from budgetlearn.export import CompactNetwork
from tests.export.test_c_code import bits, compiled, needs_cc, printed

TABLES = {
    "two classes": (*load_breast_cancer(return_X_y=True), "classification"),
    "three classes": (*load_wine(return_X_y=True), "classification"),
    "numbers": (*make_friedman1(400, noise=1.0, random_state=0), "regression"),
}


@pytest.fixture(scope="module", params=TABLES)
def fitted(request):
    """A perceptron of 1,000 bytes, and rows that it has not seen; a feature is constant."""
    X, y, task = TABLES[request.param]
    X = X.astype(np.float32)
    X[:, 1], X[::9, 2] = 3, np.nan
    y = y if task == "regression" else np.array(["a", "b", "c"])[y]
    return CompactNetwork.fitted(X[::2], y[::2], 1000, 0.1, 0, task), X[1::2], y[1::2]


def test_it_predicts_within_its_bytes(fitted):
    network, X, y = fitted
    assert 920 < network.nbytes <= 1000
    if network.classes is None:
        assert np.square(network.predict(X) - y).mean() < 0.8 * y.var()
    else:
        assert (network.predict(X) == y).mean() > 0.92


def test_examples_are_standardised_and_what_is_missing_is_the_mean(fitted):
    network, X, _ = fitted
    gaps = np.isnan(X)
    np.testing.assert_array_equal(
        network.scores(X), network.scores(np.where(gaps, network.centre, X))
    )
    assert gaps.any()
    # The slow twin: layers of the stored numbers, in double precision.
    Z = np.nan_to_num((X - network.centre.astype(float)) * network.step)
    hidden = np.maximum(network.bias + Z @ network.weight, 0)
    expected = network.constant + network.scale * (hidden @ network.outer)
    np.testing.assert_allclose(network.scores(X), expected, rtol=1e-4, atol=1e-4)
    largest = np.abs(network.weight).max(axis=1)
    np.testing.assert_array_equal(largest[network.step > 0], 127)
    assert network.step[1] == 0  # it tells nothing


def takes(flag):
    """Return whether the C compiler knows a flag on this processor."""
    command = ["cc", flag, "-fsyntax-only", "-xc", "/dev/null"]
    return not subprocess.run(command, capture_output=True).returncode


@needs_cc
def test_c_is_python_bit_for_bit_on_hostile_rows(fitted, tmp_path):
    network, X, _ = fitted
    extreme = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45], dtype=np.float32)
    random = np.random.default_rng(0)
    some = random.random(X.shape) < 0.2
    hostile = random.choice(extreme, (2, *X.shape))
    X = np.vstack([X, hostile[0], np.where(some, hostile[1], X)])

    class Exported:
        def export_c(self, path, format, **how):
            network.export_c(path, **how)

    scores = network.scores(X)
    # Registers of x87, like those of some other processors, hold more digits than a float.
    for level in ("-O0", *(["-mfpmath=387"] if takes("-mfpmath=387") else [])):
        numbers = printed(compiled(tmp_path, Exported(), ("int8", "small"), level=level), X)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), bits(scores), level)
    assert np.isfinite(scores).all()
    if network.classes is not None:
        predicted = network.classes[numbers[:, 0].astype(int)]
        np.testing.assert_array_equal(predicted, network.predict(X))


def test_what_float32_cannot_tell_apart_counts_as_nothing():
    random = np.random.default_rng(0)
    X = np.column_stack([1e12 + random.normal(size=200), random.normal(size=200)])
    y = X[:, 1] > 0
    network = CompactNetwork.fitted(X, y, 100, 0.1, 0, "classification")
    assert network.step[0] == 0
    assert (network.predict(X) == y).mean() > 0.95


def test_bytes_that_hold_no_hidden_unit_name_those_of_one():
    X, y, task = TABLES["two classes"]
    with pytest.raises(BudgetError, match="50 bytes hold no hidden unit") as refused:
        CompactNetwork.fitted(X, y, 50, 0.1, 0, task)
    least = refused.value.cheapest
    assert CompactNetwork.fitted(X[:50], y[:50], least, 0.1, 0, task).nbytes == least
