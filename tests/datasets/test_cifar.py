"""CIFAR-10: images to features, on a few images of stripes."""

import numpy as np
import pytest

from budgetbench.datasets import formats
from budgetbench.datasets.formats import read_cifar
from budgetlearn.exceptions import DatasetError


@pytest.fixture(autouse=True)
def few_patches(monkeypatch):
    monkeypatch.setattr(formats, "N_PATCHES", 500)


def batch(path, n_images, seed, quarter=None):
    """Write images of noise; with `quarter` (rows, columns) these only, the rest is grey."""
    rng = np.random.default_rng(seed)
    images = rng.integers(256, size=(n_images, 3, 32, 32), dtype=np.uint8)
    if quarter is not None:
        grey = np.full_like(images, 128)
        grey[:, :, quarter[0], quarter[1]] = images[:, :, quarter[0], quarter[1]]
        images = grey
    labels = (np.arange(n_images) % 10).astype(np.uint8)
    path.write_bytes(np.column_stack([labels, images.reshape(n_images, -1)]).tobytes())
    return path


def test_four_hundred_features_that_depend_on_training_images_only(tmp_path):
    train, test = batch(tmp_path / "train.bin", 120, 1), batch(tmp_path / "test.bin", 20, 2)
    table = read_cifar([train, test], parts=[0, 2])
    assert table.X.shape == (140, 400)
    assert table.X.dtype == np.float32
    assert len(set(table.feature_names)) == 400
    np.testing.assert_array_equal(table.part, [0] * 120 + [2] * 20)
    np.testing.assert_array_equal(table.y[:12], [*range(10), 0, 1])
    other = read_cifar([train, batch(tmp_path / "other.bin", 20, 3)], parts=[0, 2])
    np.testing.assert_array_equal(other.X[:120], table.X[:120])
    assert not np.array_equal(other.X[120:], table.X[120:])
    # Similarities are to directions of the whitened patches, of length 1.
    images, rng = formats._batch(train)[0], np.random.default_rng(0)
    shift, filters = formats._learn(images, np.random.default_rng(0))
    which = rng.integers(120, size=500)
    top, left = rng.integers(27, size=(2, 500))
    patches = formats._contrasted(formats._patches(images)[which, top, left].reshape(500, -1))
    np.testing.assert_allclose(shift, patches.mean(axis=0))
    covariance = np.cov(patches, rowvar=False) + 0.1 * np.eye(108)
    np.testing.assert_allclose(np.diag(filters.T @ covariance @ filters), 1, rtol=1e-6)


def test_a_quarter_is_seen_in_its_own_features(tmp_path):
    train = batch(tmp_path / "train.bin", 50, 1)
    lower_left = batch(tmp_path / "one.bin", 5, 2, (slice(20, 32), slice(0, 12)))
    table = read_cifar([train, lower_left], parts=[0, 2])
    by_quarter = table.X[50:].reshape(5, 4, 100).max(axis=2)
    flat = read_cifar([train, batch(tmp_path / "g.bin", 1, 2, (slice(0), slice(0)))], parts=[0, 2])
    grey = flat.X[50:].reshape(4, 100).max(axis=1)
    assert (by_quarter[:, 2] > grey[2]).all()
    assert (flat.X[50:] == 0).mean() > 0.5  # what is like no patch
    np.testing.assert_allclose(by_quarter[:, 1], grey[1], rtol=1e-4)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "found 0 bytes"), (bytes(3074), "3073 bytes each"), (b"\x0a" + bytes(3072), "is 10")],
)
def test_what_is_no_batch(tmp_path, content, message):
    path = tmp_path / "data_batch_1.bin"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        read_cifar([path])


def test_there_must_be_something_to_learn_from(tmp_path):
    with pytest.raises(DatasetError, match="no batch is part 0"):
        read_cifar([batch(tmp_path / "t.bin", 10, 1)], parts=[2])
