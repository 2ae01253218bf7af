"""Rank codes: order is kept, exact where it can be, thresholds part what they should."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import GrowthRule
from budgetlearn.validation import ParameterError
from tests.tree.growing import grow_tree

VALUES = st.floats(allow_nan=False, allow_infinity=False)


@given(arrays(np.float64, st.integers(1, 30), elements=VALUES), st.sampled_from([None, 2, 5]))
def test_codes_keep_the_order(column, max_bins):
    data = bin_features(column[:, None], max_bins)
    codes = data.codes[0].astype(int)
    order = np.argsort(column)
    assert (np.diff(codes[order]) >= 0).all()
    assert (data.lowest[codes] <= column).all()
    assert (column <= data.highest[codes]).all()
    assert data.n_codes[0] == np.unique(codes).size
    if max_bins is None:
        np.testing.assert_array_equal(data.lowest, np.unique(column))
    else:
        assert data.n_codes[0] <= max_bins


@given(st.lists(VALUES, min_size=2, max_size=2, unique=True))
def test_a_threshold_parts_two_values(values):
    X = np.array(sorted(values))[:, None]
    if X[0] == X[1]:  # 0.0 and -0.0
        return
    labels = np.array([0, 1], dtype=np.int32)
    tree = grow_tree(bin_features(X), labels, np.ones(2), 2, GrowthRule(), np.zeros(1), 0)
    assert X[0, 0] <= tree.threshold[0] < X[1, 0]


@pytest.mark.parametrize("missing", [False, True])
def test_two_values_are_coded_as_any(missing):
    column = np.array([3.0, -1.0, -1.0, 3.0])
    data = bin_features(column[:, None], missing=np.array([missing]))
    np.testing.assert_array_equal(data.codes, [[1, 0, 0, 1]])
    expected = [-1.0, 3.0, np.nan] if missing else [-1.0, 3.0]
    np.testing.assert_array_equal(data.lowest, expected)
    np.testing.assert_array_equal(data.highest, expected)


def test_neighbouring_floats_part():
    upper = np.nextafter(1.0, 2.0)
    X = np.array([[1.0], [upper]])
    labels = np.array([0, 1], dtype=np.int32)
    tree = grow_tree(bin_features(X), labels, np.ones(2), 2, GrowthRule(), np.zeros(1), 0)
    assert tree.threshold[0] == 1.0


def test_quantile_bins_hold_equal_shares():
    data = bin_features(np.random.default_rng(0).normal(size=(10_000, 1)), 255)
    assert data.codes.dtype == np.uint8
    shares = np.bincount(data.codes[0]) / 10_000
    assert data.n_codes[0] == 255
    assert shares.max() < 1.1 / 255


def test_a_frequent_value_gets_its_own_bin():
    column = np.r_[np.zeros(500), np.arange(1, 501)]
    data = bin_features(column[:, None], 10)
    assert (data.codes[0, :500] == 0).all()
    assert data.codes[0, 500:].min() > 0


@pytest.mark.parametrize(
    ("n_codes", "kind"),
    [(256, np.uint8), (257, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32)],
)
def test_codes_are_exact_and_as_narrow_as_they_can_be(n_codes, kind):
    X = np.random.default_rng(0).permutation(np.arange(n_codes, dtype=float))[:, None]
    data = bin_features(X)
    assert data.codes.dtype == kind
    np.testing.assert_array_equal(data.codes[0], X[:, 0])


def test_take_shares_the_codes():
    data = bin_features(np.random.default_rng(0).integers(5, size=(30, 4)).astype(float))
    view = data.take([3, 1]).take([1])
    assert view.codes is data.codes
    assert view.n_features == 1
    assert view.columns[0] == 1


def test_threads_do_not_matter():
    X = np.random.default_rng(0).normal(size=(300, 5))
    np.testing.assert_array_equal(bin_features(X, n_jobs=1).codes, bin_features(X, n_jobs=2).codes)


def test_bad_max_bins():
    with pytest.raises(ParameterError, match="max_bins"):
        bin_features(np.zeros((3, 1)), 1)


@pytest.mark.parametrize(("max_bins", "kind"), [(None, np.uint16), (20, np.uint8)])
def test_codes_in_a_file_are_those_in_memory(tmp_path, max_bins, kind):
    X = np.random.default_rng(0).normal(size=(300, 4)).round(1)
    X[::7, 1] = np.nan
    missing = np.array([False, True, False, False])
    mapped, held = (
        bin_features(X, max_bins, missing=missing, folder=folder) for folder in (tmp_path, None)
    )
    assert isinstance(mapped.codes, np.memmap)
    assert mapped.codes.dtype == kind
    assert not list(tmp_path.iterdir())
    for name in ("codes", "columns", "offsets", "lowest", "highest"):
        np.testing.assert_array_equal(getattr(mapped, name), getattr(held, name))
