"""Readers of tables: columns, words, missing values, parts."""

import numpy as np
import pytest

from budgetbench.datasets.table_files import read_excel, read_own, read_paired, read_table
from budgetlearn.exceptions import DatasetError


def lay(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_plain_table_with_the_target_last(tmp_path):
    table = read_table([lay(tmp_path, "a", "1, 2, yes\n3,4,no\n")])
    assert np.array_equal(table.X, [[1, 2], [3, 4]])
    assert table.y.tolist() == ["yes", "no"]
    assert table.feature_names == ("x1", "x2")


def test_files_are_concatenated_with_their_parts(tmp_path):
    paths = [lay(tmp_path, "a", "1 7 van \n2 8 bus \n"), lay(tmp_path, "b", "3 9 van \n")]
    table = read_table(paths, "whitespace", parts=[0, 2])
    assert table.X[:, 0].tolist() == [1, 2, 3]
    assert table.part.tolist() == [0, 0, 2]


def test_header_drop_and_target_by_name(tmp_path):
    path = lay(tmp_path, "a", "id;label;w\n9;a;0.5\n8;b;1.5\n")
    table = read_table([path], ";", header=True, target="label", drop=["id"])
    assert table.feature_names == ("w",)
    assert table.X.tolist() == [[0.5], [1.5]]


def test_words_are_refused_coded_or_spread(tmp_path):
    path = lay(tmp_path, "a", "M,1,0\nF,2,1\nI,3,0\n")
    with pytest.raises(DatasetError, match=r"text where numbers were expected: x1.*'M'"):
        read_table([path])
    assert read_table([path], categorical="codes").X[:, 0].tolist() == [2, 0, 1]
    table = read_table([path], one_hot=[0], names=["sex", "age"])
    assert table.feature_names == ("age", "sex=F", "sex=I", "sex=M")
    assert table.X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [3, 0, 1, 0]]


def test_rows_with_missing_values_go_but_not_for_dropped_columns(tmp_path):
    path = lay(tmp_path, "a", "?,1,a\n5,?,b\n?,3,a\nNA,4,b\n")
    table = read_table([path], missing="?", drop=[0], parts=[1])
    assert table.X.tolist() == [[1], [3], [4]]
    assert table.part.tolist() == [1, 1, 1]


def test_standardise(tmp_path):
    X = read_table([lay(tmp_path, "a", "1,9,a\n2,5,b\n6,1,a\n")], standardise=True).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_ratios_stand_in_for_columns(tmp_path):
    about = {"add": {"per_house": ["rooms", "houses"]}, "drop": ["rooms"]}
    path = lay(tmp_path, "a", "6,2,a\n8,4,b\n")
    table = read_table([path], names=["rooms", "houses"], ratios=about)
    assert table.feature_names == ("houses", "per_house")
    assert table.X.tolist() == [[2, 3], [4, 2]]


def test_part_column(tmp_path):
    path = lay(tmp_path, "a", "0 5 a\n1 6 b\n")
    about = {"column": 0, "values": {0: 0, 1: 2}}
    table = read_table([path], "whitespace", part_column=about)
    assert table.part.tolist() == [0, 2]
    assert table.X.tolist() == [[5], [6]]
    about["values"] = {0: 0}
    with pytest.raises(DatasetError, match="must hold"):
        read_table([path], "whitespace", part_column=about)


def test_names_expand_and_must_fit(tmp_path):
    path = lay(tmp_path, "a", "1,2,3,a\n")
    assert read_table([path], names=["b", "p{8..9}"]).feature_names == ("b", "p8", "p9")
    with pytest.raises(DatasetError, match="4 feature names for 3 features"):
        read_table([path], names=["p{1..4}"])


def test_missing_columns_and_broken_tables(tmp_path):
    path = lay(tmp_path, "a", "u,v\n1,2\n")
    with pytest.raises(DatasetError, match=r"no column 'w'\. The columns are: 'u', 'v'"):
        read_table([path], header=True, target="w")
    with pytest.raises(DatasetError, match="no column 7"):
        read_table([path], target=7)
    with pytest.raises(DatasetError, match="b is empty"):
        read_table([lay(tmp_path, "b", "")])
    with pytest.raises(DatasetError, match="b, line 2: 3 fields, but 2"):
        read_table([lay(tmp_path, "b", "1,2\n1,2,3\n")])
    with pytest.raises(DatasetError, match="b has different columns from a"):
        read_table([path, lay(tmp_path, "b", "1,2,3\n")])
    with pytest.raises(DatasetError, match="Feature names must differ, found none"):
        read_table([path], header=True, drop=["u"])
    with pytest.raises(DatasetError, match="Constant columns cannot be standardised: x1"):
        read_table([lay(tmp_path, "b", "1,2,a\n1,3,b\n")], standardise=True)


def test_coded_columns_are_listed(tmp_path):
    table = read_table([lay(tmp_path, "a", "M,1,0\nF,2,1\nI,3,0\n")], categorical="codes")
    assert table.categories == {"x1": ("F", "I", "M")}


def test_columns_are_not_spread_out_or_divided_by_guessing(tmp_path):
    for text, message in (("M,1,0\n,2,1\n", "missing values"), ("M,1,0\nM ,2,1\n", "in blanks")):
        with pytest.raises(DatasetError, match=message):
            read_table([lay(tmp_path, "a", text)], one_hot=[0])
    about = {"add": {"r": ["a", "b"]}, "drop": []}
    with pytest.raises(DatasetError, match="Ratios need numbers; these have text: a"):
        read_table([lay(tmp_path, "a", "M,1,0\nF,2,1\n")], names=["a", "b"], ratios=about)


def test_groups_number_the_queries(tmp_path):
    table = read_own(lay(tmp_path, "a", "q,f,rel\nx,1,0\nx,2,1\na,3,0\n"), "rel", group="q")
    assert table.groups.tolist() == [0, 0, 1]
    assert table.feature_names == ("f",)
    # Rows without one would be one query.
    with pytest.raises(DatasetError, match=r"\('q'\) is missing in some rows"):
        read_own(lay(tmp_path, "a", "q,f,rel\nx,1,0\n,2,1\n,3,0\n"), "rel", group="q")


def test_means_fill_features_and_no_target(tmp_path):
    table = read_table([lay(tmp_path, "a", "1,2,3\n4,,\n,5,1\n")], fill="mean")
    assert table.X.tolist() == [[1, 2], [4, 3.5], [2.5, 5]]
    np.testing.assert_array_equal(table.y, [3, np.nan, 1])
    words = read_table([lay(tmp_path, "b", "y,1\n,\nn,5\n")], fill="mean", target=0)
    assert words.X.tolist() == [[1], [3], [5]]
    named = read_table([lay(tmp_path, "c", "u,1,3\nv,,4\n")], fill="mean", drop=[0])
    assert named.X.tolist() == [[1], [1]]


def test_paired_files(tmp_path):
    paths = [lay(tmp_path, "f", "1 2 \n3 4 \n"), lay(tmp_path, "l", "-1\n1\n")]
    table = read_paired(paths, parts=[0])
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == [-1, 1]
    with pytest.raises(DatasetError, match="2 rows of features, but 1 labels"):
        read_paired([paths[0], lay(tmp_path, "m", "1\n")])


def test_no_spreadsheet(tmp_path):
    with pytest.raises(DatasetError, match=r"a\.xls cannot be read as a spreadsheet \(XLRDError"):
        read_excel([lay(tmp_path, "a.xls", "hello")])
