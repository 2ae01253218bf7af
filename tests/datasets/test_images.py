"""idx files."""

import gzip
import struct

import numpy as np
import pytest

from budgetlearn.datasets.images import read_idx, read_idx_array
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
    with pytest.raises(DatasetError, match="x is no idx file"):
        read_idx_array(tmp_path / "x")
    path = lay(tmp_path, "i", np.zeros((2, 2, 2)))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"should hold \(2, 2, 2\) values, found 7"):
        read_idx_array(path)
