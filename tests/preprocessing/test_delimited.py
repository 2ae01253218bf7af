"""Delimited text: rows of one width, or an error that names the line."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.reading import MISSING_MARKS, read_frame, read_table


def lay(folder, text, name="a.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2,3\n4,5,6\n", {}, "line 2: 3 fields, but 2 in the first row (the header)"),
        ("a,b\n1,2\n\n4\n", {}, "line 4: 1 fields, but 2"),
        ("1 2\n3 4 5\n", {"separator": "whitespace", "header": False}, "line 2: 3 fields, but 2"),
        ("x\ny\na,b\n1,2\n3\n", {"skip_rows": 2}, "line 5: 1 fields"),
        ('a,b\n"1\n2",3\n4\n', {}, "line 4: 1 fields"),
        ('x\na,b\n1,2\n"3,4\n5,6\n', {"skip_rows": 1}, "line 4: a lone quote mark joins"),
        # The mark closes further on, and the cell goes on behind it.
        ('a,b,c\n1,"x""y,2\n3,"x",4\n5,x,6\n', {}, "line 2: a lone quote mark joins"),
        ('a,b,c\n1,"x,2\n3,x"y,4\n5,x,6\n', {}, "joins lines 2 to 3"),
        ('a,b,c\n1,",x\n2,3,y\n4,",x\n', {}, "line 2: a lone quote mark joins"),
        (
            'a;b;c\n1;x;2\n";3;y\n" ;4;x\n',
            {"separator": ";"},
            "a lone quote mark joins lines 3 to 4",
        ),
        ('a,b,c\n1,2,"\n3,4,"\n', {}, "Write out its meaning"),
        ("a,b,a,b\n1,2,3,4\n", {}, "column names must differ; repeated: ['a', 'b']"),
        ("", {}, "a.csv is empty"),
        ("\n\n", {}, "a.csv is empty"),
        ("a,b\n", {}, "a.csv has column names, but no rows"),
        ("a;b\n1;2\n", {"separator": ";;"}, "separator must be one character or 'whitespace'"),
        (b"a,b\n\xff,2\n", {}, "a.csv cannot be read as a table (UnicodeDecodeError"),
        (
            gzip.compress(b"a,b\n1,2\n" * 9, mtime=0)[:-9],
            {},
            "a.csv cannot be read as a table (EOFError",
        ),
        (
            gzip.compress(b"a,b\n1,2\n", mtime=0)[:12] + b"\xff" * 30,
            {},
            "a.csv cannot be read as a table",
        ),
        ('a\n"' + "x" * 200_000 + '"\n', {}, "field larger than field limit"),
    ],
)
def test_tables_that_are_none(tmp_path, text, options, message):
    with pytest.raises(DatasetError) as caught:
        read_frame(lay(tmp_path, text), **options)
    assert message in str(caught.value)


def test_names_are_read_as_they_are_written(tmp_path):
    frame = read_frame(lay(tmp_path, "\ufeff0,007,NA,None,null,a; b,True\n1,2,3,4,5,6,7\n"))
    assert list(frame.columns) == ["0", "007", "NA", "None", "null", "a; b", "True"]
    path = lay(tmp_path, "a\u0308 ,b\n1,2\n")
    for asked in (None, ["\u00e4"]):  # an accent is part of its letter
        assert read_table(path, columns=asked).columns[0] == "\u00e4"


def test_blanks_behind_a_closing_quote(tmp_path):
    text = 'a,b,c\n"x\ny" ,1," z\n" \n2,"say ""no"" ,\nso"  ,3\n'
    frame = read_frame(lay(tmp_path, text), text=True)
    assert frame["b"].tolist() == ["1", 'say "no" ,\nso  ']
    assert frame["a"].tolist() == ["x\ny ", "2"]


def test_a_cut_file_is_read_to_the_rows_asked_for(tmp_path):
    path = lay(tmp_path, "a,b\n1,2\n3,4\n5")
    assert read_frame(path, max_rows=2).to_numpy().tolist() == [[1, 2], [3, 4]]
    assert len(read_frame(lay(tmp_path, "1,2\n3,4\n5"), header=False, max_rows=2)) == 2


def test_compressed_content_under_any_name(tmp_path):
    for name, content in (
        ("a.gz", b"a,b\n1,2\n"),
        ("a.csv", gzip.compress(b"a,b\n1,2\n", mtime=0)),
    ):
        assert read_frame(lay(tmp_path, content, name)).to_numpy().tolist() == [[1, 2]]


@given(st.binary(max_size=80), st.booleans(), st.sampled_from([",", ";", "whitespace"]))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_table_or_one_kind_of_error(tmp_path_factory, content, header, separator):
    path = lay(tmp_path_factory.getbasetemp(), content, "any.csv")
    try:
        frame = read_frame(path, separator, header)
    except DatasetError:
        return
    assert len(frame)


def test_blanks_behind_a_mark_of_a_gap_do_not_make_it_a_word(tmp_path):
    path = lay(tmp_path, 'a,b,c,d\n1,"? ",-9 ,NA \n? ,x,-9,4\n3,y ,5,?  \n')
    frame = read_frame(path, missing=(*MISSING_MARKS, "?"))
    assert frame.isna().to_numpy().tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert list(frame.dtypes.drop("b")) == [float, int, float]
    assert frame["b"].tolist()[1:] == ["x", "y "]
    assert read_frame(path, missing=(*MISSING_MARKS, "-9"))["c"].isna().tolist() == [
        True,
        True,
        False,
    ]
    assert not read_frame(path, missing=()).isna().any(axis=None)
    headless = lay(tmp_path, "? ,1\n2,3\n", "b.csv")
    assert read_frame(headless, header=False, missing=(*MISSING_MARKS, "?"))[0].isna().tolist() == [
        True,
        False,
    ]
