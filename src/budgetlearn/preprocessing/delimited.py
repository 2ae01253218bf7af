"""Delimited text to a frame: every row as wide as the first, or an error that names the line."""

import csv
import gzip
from collections import Counter
from contextlib import contextmanager

import pandas as pd

from ..exceptions import DatasetError
from .damage import reading

WHITESPACE = "whitespace"
# What a cell that is missing may hold; any other word, such as None, is a word.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")


def read_frame(
    path,
    separator=",",
    header=True,
    skip_rows=0,
    max_rows=None,
    missing=None,
    decimal=".",
    columns=None,
):
    """Read a file of delimited text, plain or gzip-compressed.

    Parameters
    ----------
    path : Path
        The file.
    separator : str, default=","
        One character between fields, or ``whitespace`` for runs of blanks.
    header : bool, default=True
        Whether the first row holds names.
    skip_rows : int, default=0
        Lines to ignore at the top.
    max_rows : int, default=None
        Rows to read, all if None; for a file that was cut off.
    missing : str or list of str, default=None
        What stands for a missing value: a list, instead of `MISSING_MARKS` (an empty field, "NA",
        "NaN", "null" …); a text, beside these.
    decimal : str, default="."
        Before the decimals of numbers.
    columns : collection of str, default=None
        Names of the columns to read, where they are there; None: all.

    Returns
    -------
    DataFrame
        At least one row; columns numbered from 0 without a header.

    Raises
    ------
    DatasetError
        When the file cannot be read, has no rows, rows of different widths, or a name twice.
    """
    pattern = _pattern(separator)
    with reading(path, "a table"):
        _check_rows(path, separator, header, skip_rows, max_rows)
        with opened(path) as stream:
            return pd.read_csv(
                stream,
                sep=pattern,
                header=0 if header else None,
                skiprows=skip_rows,
                nrows=max_rows,
                skipinitialspace=separator != WHITESPACE,  # blanks after a comma belong to no field
                keep_default_na=False,
                na_values=_marks(missing),
                decimal=decimal,
                usecols=None if columns is None else lambda name: name.strip() in columns,
                # In one piece: in pieces, a column could be numbers here and words there.
                low_memory=False,
            )


def _marks(missing):
    """Return all that stands for a missing value."""
    if isinstance(missing, str):
        return [*MISSING_MARKS, missing]
    return list(MISSING_MARKS if missing is None else missing)


def _pattern(separator):
    """Return what pandas splits at."""
    if separator == WHITESPACE:
        return r"\s+"
    if len(separator) != 1:
        raise DatasetError(f"separator must be one character or {WHITESPACE!r}, got {separator!r}.")
    return separator


def is_gzip(path):
    """Return whether `path` starts as a gzip file does."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


@contextmanager
def opened(path):
    """Open a text file; a byte order mark, as spreadsheets write it, is not part of a name."""
    opener = gzip.open if is_gzip(path) else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
        yield stream


def _rows(stream, separator, line):
    """Yield (line number, fields) of each row that is not blank."""
    if separator == WHITESPACE:
        for place, text in enumerate(stream, line + 1):
            if fields := text.split():
                yield place, fields
        return
    reader = csv.reader(stream, delimiter=separator, skipinitialspace=True)
    for fields in reader:
        if fields and fields != [""]:
            yield line + reader.line_num, fields


def _check_rows(path, separator, header, skip_rows, max_rows):
    """Refuse a file whose names repeat or whose rows differ in width, naming the line."""
    with opened(path) as stream:
        for _ in range(skip_rows):
            next(stream, None)
        _check_widths(path, _rows(stream, separator, skip_rows), header, max_rows)


def _check_widths(path, rows, header, max_rows):
    _, first = next(rows, (0, None))
    if first is None:
        raise DatasetError(f"{path.name} is empty: it holds no table.")
    if header:
        counts = Counter(first)
        repeated = sorted(name for name in counts if name and counts[name] > 1)
        if repeated:
            raise DatasetError(f"{path.name}: column names must differ; repeated: {repeated}.")
    count = 0 if header else 1
    for line, fields in rows:
        if count == max_rows:
            break
        count += 1
        if len(fields) != len(first):
            raise DatasetError(
                f"{path.name}, line {line}: {len(fields)} fields, but {len(first)} in the first "
                f"row{' (the header)' if header else ''}. Every row must have as many: look for a "
                "separator inside a value, one too many at the end, or a line that was cut off."
            )
    if not count:
        raise DatasetError(f"{path.name} has column names, but no rows.")
