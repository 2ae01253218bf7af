"""SVMlight reader: chunks, queries, empty columns."""

import numpy as np
import pytest

from budgetlearn.datasets import svmlight
from budgetlearn.datasets.svmlight import read_svmlight
from budgetlearn.exceptions import DatasetError


def lay(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def random_rows(rng, n_rows, n_columns, density=0.3):
    X = np.where(rng.random((n_rows, n_columns)) < density, rng.random((n_rows, n_columns)), 0)
    return X.round(3), rng.integers(5, size=n_rows), np.sort(rng.integers(20, size=n_rows))


def as_text(X, y, qid=None, end="\n"):
    rows = []
    for i in range(len(X)):
        query = "" if qid is None else f" qid:{qid[i]}"
        pairs = [f"{j + 1}:{X[i, j]}" for j in np.flatnonzero(X[i])]
        rows.append(f"{y[i]}{query} " + " ".join(pairs))
    return "\n".join(rows) + end


@pytest.mark.parametrize("chunk", [*range(160, 180), 500, 1 << 20])
@pytest.mark.parametrize("end", ["\n", ""])
def test_chunks_change_nothing(tmp_path, monkeypatch, chunk, end):
    monkeypatch.setattr(svmlight, "CHUNK", chunk)
    X, y, qid = random_rows(np.random.default_rng(0), 60, 12)
    table = read_svmlight([lay(tmp_path, "a", as_text(X, y, qid, end))], 12, queries="qid")
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    np.testing.assert_array_equal(table.groups, np.unique(qid, return_inverse=True)[1])


def test_parts_dtype_and_the_same_query_id_in_two_files(tmp_path):
    paths = [lay(tmp_path, n, "1 qid:7 1:2.5\n0 qid:7 2:1\n") for n in "ab"]
    table = read_svmlight(paths, 2, queries="qid", parts=[0, 2], dtype="float32")
    assert table.X.dtype == np.float32
    assert table.part.tolist() == [0, 0, 2, 2]
    assert table.groups.tolist() == [0, 0, 1, 1]


def test_query_files(tmp_path):
    data = lay(tmp_path, "a", "1 1:1\n0 1:2\n2 1:3\n")
    table = read_svmlight([data, lay(tmp_path, "q", "1\n2\n")], 1, queries="files")
    assert table.groups.tolist() == [0, 1, 1]
    with pytest.raises(DatasetError, match="q counts 2 rows, the data hold 3"):
        read_svmlight([data, lay(tmp_path, "q", "2\n")], 1, queries="files")


def test_empty_columns_go_and_names_keep_the_index(tmp_path):
    path = lay(tmp_path, "a", "1 2:1 5:4\n0 3:2\n")
    table = read_svmlight([path], 6, drop_empty=True)
    assert table.feature_names == ("f2", "f3", "f5")
    assert table.X.tolist() == [[1, 0, 4], [0, 2, 0]]
    assert table.X.flags.f_contiguous


def test_broken_file(tmp_path):
    with pytest.raises(DatasetError, match="a is not in SVMlight form"):
        read_svmlight([lay(tmp_path, "a", "1 x:y\n")], 3)
