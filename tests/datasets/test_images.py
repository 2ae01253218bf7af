"""idx files."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.datasets.formats import read_idx, read_idx_array
from budgetlearn.exceptions import DatasetError


def lay(folder, name, array):
    content = b"\x00\x00\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    content += array.astype(np.uint8).tobytes()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


def test_images_and_labels(tmp_path):
    images = np.arange(24).reshape(2, 3, 4)
    paths = [lay(tmp_path, "i.gz", images), lay(tmp_path, "l", np.array([7, 3]))]
    table = read_idx(paths, parts=[2])
    assert table.X.dtype == np.float32
    assert table.X.tolist() == images.reshape(2, 12).tolist()
    assert table.y.tolist() == [7, 3]
    assert table.part.tolist() == [2, 2]
    assert table.feature_names[5] == "r1c1"


def test_bad_files(tmp_path):
    with pytest.raises(DatasetError, match="differ in number"):
        read_idx([lay(tmp_path, "i", np.zeros((2, 1, 1))), lay(tmp_path, "l", np.zeros(3))])
    (tmp_path / "x").write_bytes(b"hello")
    with pytest.raises(DatasetError, match="x is not an idx file"):
        read_idx_array(tmp_path / "x")
    path = lay(tmp_path, "i", np.zeros((2, 2, 2)))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"should hold \(2, 2, 2\) values, found 7"):
        read_idx_array(path)


@pytest.mark.parametrize(
    "content", [b"\0\0\x08", b"\0\0\x08\x03\0", b"\0\0\x08\x00", b"\0\0\x08\x01\xff\xff\xff\xff"]
)
def test_cut_files(tmp_path, content):
    for name, body in (("c", content), ("c.gz", gzip.compress(content)), ("d.gz", content)):
        (tmp_path / name).write_bytes(body)
        with pytest.raises(DatasetError, match=name):
            read_idx_array(tmp_path / name)


def test_images_of_two_sizes_and_labels_that_are_none(tmp_path):
    labels = lay(tmp_path, "l", np.zeros(2))
    small, large = lay(tmp_path, "s", np.zeros((2, 1, 1))), lay(tmp_path, "b", np.zeros((2, 2, 1)))
    with pytest.raises(DatasetError, match="Images must all have the same size"):
        read_idx([small, labels, large, labels])
    with pytest.raises(DatasetError, match="Each label must be one number"):
        read_idx([small, small])


@given(st.binary(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_an_array_or_one_kind_of_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(b"\0\0\x08" + content)
    try:
        read_idx_array(path)
    except DatasetError:
        return
