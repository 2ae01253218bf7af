"""Tables of small whole numbers are kept in bytes, and the forests stay the same."""

import numpy as np
import pytest

from budgetlearn.gif import GIFClassifier, GIFRegressor, fitting
from budgetlearn.gif.fitting import in_columns


def bytes_table(n=60):
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(n, 5)).astype(float)
    X[0, 0], X[1, 0] = 0, 255
    X[:, 3] = 7  # constant
    return X


def test_whole_numbers_of_a_byte_are_kept_in_bytes():
    X = bytes_table()
    columns = in_columns(X)
    assert columns.dtype == np.uint8
    assert columns.flags.f_contiguous
    np.testing.assert_array_equal(columns, X)


@pytest.mark.parametrize("value", [-1.0, 256.0, 0.5, 1e300])
@pytest.mark.parametrize("row", [0, 59])
def test_other_numbers_stay_as_they_are(value, row):
    X = bytes_table()
    X[row, 2] = value
    columns = in_columns(X)
    assert columns.dtype == np.float64
    assert columns.flags.f_contiguous
    np.testing.assert_array_equal(columns, X)


def test_large_tables_are_not_copied():
    X = bytes_table()[::-1] / 3
    assert in_columns(X, large=True) is X
    assert in_columns(X.round(), large=True).dtype == np.uint8
    for other in (X.astype(np.float32), X[::-1], X[:, ::2]):
        made = in_columns(other, large=True)
        assert (made.dtype, made.flags.f_contiguous) == (np.float64, True)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_single_precision_is_not_widened_and_changes_no_forest(as_bytes, monkeypatch):
    X = (bytes_table() if as_bytes else bytes_table() / 3).astype(np.float32)
    y = X[:, 0] - X[:, 1]
    model = GIFRegressor(300, n_estimators=20, random_state=0)
    wide = model.fit(X.astype(float), y).predict(X.astype(float))
    given = []
    monkeypatch.setattr(fitting, "in_columns", lambda X, _: given.append(X) or in_columns(X))
    np.testing.assert_array_equal(model.fit(X, y).predict(X), wide)
    assert given[0] is X


@pytest.mark.parametrize("kind", [GIFClassifier, GIFRegressor])
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2, 60)])
def test_bytes_change_no_forest(kind, weight, monkeypatch):
    X = bytes_table()
    y = (X[:, 0] > X[:, 1]).astype(int) + (X[:, 2] > 100)
    model = kind(300, n_estimators=20, random_state=0)
    in_bytes = model.fit(X, y, sample_weight=weight).trees_
    monkeypatch.setattr(fitting, "in_columns", lambda X, _: np.asfortranarray(X))
    as_given = model.fit(X, y, sample_weight=weight).trees_
    for one, other in zip(in_bytes, as_given, strict=True):
        for name in ("feature", "threshold", "children_left", "value", "n_node_samples"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
