"""Files of users give the same table, whichever program wrote them."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from budgetlearn.exceptions import BudgetlearnWarning, DatasetError
from budgetlearn.files import InMemory, separator_of
from budgetlearn.preprocessing.reading import read_table

TABLE = pd.DataFrame(
    {"Größe": [1.5, 2.25, np.nan], "wort": ["für", None, "a;b"], "n": [1, -2, 3], "ja": [True] * 3}
)


def as_csv(**how):
    return TABLE.to_csv(index=False, **how)


def as_xlsx(table=TABLE):
    out = io.BytesIO()
    table.to_excel(out, index=False)
    return out.getvalue()


def as_parquet():
    out = io.BytesIO()
    TABLE.to_parquet(out)
    return out.getvalue()


FILES = {
    "csv": (as_csv().encode(), {}),
    "byte order mark": (as_csv().encode("utf-8-sig"), {}),
    "UTF-16": (as_csv(sep="\t").encode("utf-16"), {}),
    "semicolons": (as_csv(sep=";", decimal=",").encode(), {"decimal": ","}),
    "lines left blank above": (f"\n \n{as_csv(sep=';')}".encode(), {}),
    "bars": (as_csv(sep="|").encode(), {}),
    "gzip": (gzip.compress(as_csv().encode()), {}),
    "xlsx": (as_xlsx, {}),
    "xlsx, decimal commas elsewhere": (as_xlsx, {"decimal": ","}),
    "parquet": (as_parquet, {}),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("piped", [False, True])
def test_every_form_gives_the_same_table(tmp_path, name, piped):
    content, how = FILES[name]
    content = content() if callable(content) else content
    source = InMemory("standard input", content)
    if not piped:
        source = tmp_path / "table"
        source.write_bytes(content)
    for _ in range(2):  # a pipe can be read again, too
        found = read_table(source, **how)
        pd.testing.assert_frame_equal(found, TABLE, check_dtype=False)


def test_windows_1252_is_told_with_a_word_that_shows_it():
    file = InMemory("a.csv", as_csv().encode("cp1252"))
    with pytest.warns(BudgetlearnWarning, match="a.csv is not UTF-8 .* for example 'Größe'"):
        assert read_table(file).columns[0] == "Größe"
    late = "a,b\n" + "1,2\n" * 600_000 + "1,é\n"
    with pytest.warns(BudgetlearnWarning, match="for example 'é'"):
        assert read_table(InMemory("a.csv", late.encode("latin-1")))["b"].iloc[-1] == "é"
    with pytest.warns(BudgetlearnWarning, match="'Ã'"):
        read_table(InMemory("a.csv", b"a,b\n1,\xc3"))  # cut off within a UTF-8 character


def book(rows, sheets=("first",)):
    import openpyxl  # not at collection, because it takes a while

    made = openpyxl.Workbook()
    made.active.title = sheets[0]
    for row in rows:
        made.active.append(row)
    for name in sheets[1:]:
        made.create_sheet(name)
    out = io.BytesIO()
    made.save(out)
    return InMemory("a.xlsx", out.getvalue())


def test_a_workbook_is_read_from_its_first_full_row():
    found = read_table(book([[], ["a", " b "], [], [1, "x"], [2.5, None], [None, None]]))
    assert found.columns.tolist() == ["a", "b"]
    assert found["a"].tolist() == [1, 2.5]
    large = read_table(book([["a"], [6e23], [1e22]]))
    assert large["a"].dtype == float
    assert large["a"].tolist() == [6e23, 1e22]
    with pytest.warns(BudgetlearnWarning, match="2 sheets: the first one, 'first', is read"):
        read_table(book([["a"], [1]], ("first", "second")))


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (lambda: book([]), "a.xlsx is empty: its first sheet holds no table"),
        (lambda: book([["a", "b"]]), "has column names, but no rows"),
        (
            lambda: book([["a", "b"], [1, 2], [1, "=A2+1"]]),
            "cell B3: a formula without a stored value (1 such",
        ),
        (lambda: book([["a", "a"], [1, 2]]), "column names must differ; repeated: ['a']"),
        (lambda: book([["a", "b"], [1, 2], [1, 2, 3]]), "a.xlsx, line 3: 3 fields, but 2"),
        (InMemory("a.csv", b"a ,a\n1,2\n"), "column names must differ; repeated: ['a']"),
        (InMemory("a", b"PK\x03\x04 no archive"), "cannot be read as a workbook (.xlsx) (BadZip"),
        (InMemory("a.xls", b"\xd0\xcf\x11\xe0"), "of the old form (.xls). Save it as .xlsx or csv"),
        (InMemory("a", b"PAR1 no table"), "cannot be read as a Parquet table"),
        (
            InMemory("a.arff", b"@relation a\n@attribute b real\n@data\n1\n"),
            "(ARFF). Save it as csv",
        ),
        (InMemory("a.csv", b"a\0,b\n1,2\n"), "is not text: expected csv, .xlsx or Parquet"),
        (InMemory("a.csv", b"a,b\n\x81,2\n"), "neither UTF-8, UTF-16 nor Windows-1252"),
        (
            InMemory("a.csv", "ä,b\n".encode("utf-16-le")),
            "Save text in UTF-16 as UTF-8.",
        ),
        (InMemory("a.csv", b""), "a.csv is empty"),
    ],
)
def test_files_that_are_no_table(file, said):
    with pytest.raises(DatasetError) as caught:
        read_table(file() if callable(file) else file)
    assert said in str(caught.value)


def test_dates_of_a_workbook_stay_dates_as_text():
    days = [pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-02 10:30")]
    found = read_table(InMemory("a.xlsx", as_xlsx(pd.DataFrame({"a": days, "b": [1, 2]}))))
    assert found["a"].tolist() == ["2024-03-01", "2024-03-02 10:30:00"]


def test_blanks_around_a_mark_of_a_gap_do_not_count(tmp_path):
    frame = pd.DataFrame({"a": ["? ", "x", " ?"], "b": [1, 2, 3]})
    for name in ("a.csv", "a.parquet"):
        (frame.to_csv if name == "a.csv" else frame.to_parquet)(tmp_path / name, index=False)
        assert read_table(tmp_path / name, missing="?")["a"].isna().tolist() == [True, False, True]
        assert read_table(tmp_path / name, missing=("?", "2")).isna().sum().tolist() == [2, 1]


def test_marks_of_gaps_are_sought_in_all_kinds_of_columns_of_parquet(tmp_path, monkeypatch):
    columns = {"a": [1, -9], "b": [-9.0, 1.5], "c": [" -9", "x"], "d": [True, False]}
    frame = pd.DataFrame(columns).assign(e=pd.Categorical(["x", "-9 "]))
    frame.to_parquet(tmp_path / "a.parquet")
    plain = pd.DataFrame.map
    monkeypatch.setattr(
        pd.DataFrame, "map", lambda self, *how: mapped.extend(self) or plain(self, *how)
    )
    mapped = []
    found = read_table(tmp_path / "a.parquet", missing="-9").isna()
    assert found.to_numpy().T.tolist() == [
        *([False, True], [True, False], [True, False], [False, False], [False, True])
    ]
    assert mapped == ["c", "e"]  # numbers are not examined cell by cell


def test_parquet_without_rows_is_named(tmp_path):
    TABLE.iloc[:0].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match=r"a\.parquet has column names, but no rows"):
        read_table(tmp_path / "a.parquet")
    latin = pa.array([b"Gr\xf6\xdfe"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"a": latin}), tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match=r"b\.parquet cannot be read as a Parquet table .*UTF8"):
        read_table(tmp_path / "b.parquet")


def test_a_named_index_of_parquet_is_a_column(tmp_path):
    TABLE.set_index("n").to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").columns.tolist() == ["n", "Größe", "wort", "ja"]


def test_the_header_decides_on_the_separator():
    assert [separator_of(line) for line in ("a;b,c;d", "a", "a|b", "a\tb")] == [";", ",", "|", "\t"]


def test_nothing_is_told_of_plain_files():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(InMemory("a.csv", as_csv().encode()))
