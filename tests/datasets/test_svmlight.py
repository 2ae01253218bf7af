"""SVMlight reader: chunks, queries, empty columns."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.datasets import formats
from budgetbench.datasets.formats import read_svmlight
from budgetlearn.exceptions import DatasetError
from tests.looping import for_each


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


@for_each("chunk, end", product([*range(160, 180), 500, 1 << 20], ["\n", ""]))
def test_chunks_change_nothing(tmp_path, monkeypatch, chunk, end):
    monkeypatch.setattr(formats, "CHUNK", chunk)
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
    with pytest.raises(DatasetError, match="q counts 2 rows, the data have 3"):
        read_svmlight([data, lay(tmp_path, "q", "2\n")], 1, queries="files")


def test_empty_columns_go_and_names_keep_the_index(tmp_path):
    path = lay(tmp_path, "a", "1 2:1 5:4\n0 3:2\n")
    table = read_svmlight([path], 6, drop_empty=True)
    assert table.feature_names == ("f2", "f3", "f5")
    assert table.X.tolist() == [[1, 0, 4], [0, 2, 0]]
    assert table.X.flags.f_contiguous


@pytest.mark.parametrize(
    "line",
    ["1 x:y", "", "# a remark", "1 4:1", "1 2:1 2:5", "1 0:1", f"1 {2**70}:1", "1 1:", "1 2"],
)
def test_broken_file(tmp_path, line):
    good = "1 1:2\n"
    with pytest.raises(DatasetError, match=r"a: 3 lines, but 2|a cannot be read as SVMlight"):
        read_svmlight([lay(tmp_path, "a", f"{good}{line}\n{good}")], 3)


def test_a_row_without_its_query(tmp_path):
    path = lay(tmp_path, "a", "1 qid:1 1:2\n1 1:2\n")
    with pytest.raises(DatasetError, match=r"a: a row has no query \(qid:…\)"):
        read_svmlight([path], 3, queries="qid")


def test_broken_query_sizes(tmp_path):
    data = lay(tmp_path, "a", "1 1:1\n0 1:2\n")
    for sizes in ("", "x", "3\n-1\n", "0\n2\n", "1.5\n", "9" * 30):
        with pytest.raises(DatasetError, match="q "):
            read_svmlight([data, lay(tmp_path, "q", sizes)], 1, queries="files")


LINES = st.lists(
    st.one_of(
        st.text("01 :#q.id-eE+n\t", max_size=12),
        st.just("1 qid:1 1:2"),
        st.integers().map(lambda i: f"1 {i}:1"),
    ),
    max_size=5,
)


@given(LINES, st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_lines_are_a_table_or_one_kind_of_error(tmp_path_factory, lines, with_queries):
    path = lay(tmp_path_factory.getbasetemp(), "any", "\n".join(lines))
    try:
        read_svmlight([path], 3, queries="qid" if with_queries else None)
    except DatasetError:
        return


def test_columns_are_scaled_over_all_rows_that_were_measured(tmp_path):
    rows = "1 1:2 2:5\n0 1:4 2:5\n1 1:-9 2:-9\n0 1:3 2:5\n"
    scale = {"low": -1, "high": 1, "without": -9}
    table = read_svmlight([lay(tmp_path, "a", rows)], 2, scale=scale)
    np.testing.assert_array_equal(table.X, [[-1, -1], [1, -1], [-9, -9], [0, -1]])
