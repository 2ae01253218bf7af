"""A user's table from a file: delimited text or Parquet."""

import csv
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pandas as pd

from .._extras import extra
from ..exceptions import DatasetError
from .damage import reading
from .delimited import opened, read_frame

SEPARATORS = (",", ";", "\t")


def read_table(path, separator=None, decimal=None, missing=None, columns=None):
    """Read a table with a header: csv, also compressed by gzip, or Parquet (``.parquet``).

    Parameters
    ----------
    path : path-like
        The file. A byte order mark is not part of the first name.
    separator : str, default=None
        Between fields; None: the comma, semicolon or tab that the header has most of.
    decimal : str, default=None
        Before the decimals of numbers; None: a point.
    missing : str, default=None
        What stands for a missing value, beside an empty field, NA, NaN, null and the others of
        `budgetlearn.preprocessing.delimited.MISSING_MARKS`; in Parquet, beside its own gaps.
    columns : collection of str, default=None
        The columns to read, where they are there; None: all.

    Returns
    -------
    DataFrame
        Names of columns are text.

    Raises
    ------
    DatasetError
        When the file cannot be read, or is damaged; the message names the line.
    """
    path = Path(path)
    if path.suffix in (".parquet", ".pq"):
        with extra("workflow", "reading Parquet"):
            arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        with reading(path, "a Parquet table", (arrow.ArrowException,)):
            for batch in parquet.ParquetFile(path).iter_batches():
                batch.validate(full=True)  # text that is none would come up much later
            frame = pd.read_parquet(path)
        frame.columns = _stripped(frame.columns)
        frame = frame[[name for name in frame.columns if columns is None or name in columns]]
        return frame if missing is None else _emptied(frame, missing)
    separator = separator or _separator(path)
    how = {"decimal": decimal or ".", "missing": missing, "columns": columns}
    frame = read_frame(path, separator, **how)
    return frame.set_axis(_stripped(frame.columns), axis=1)


def _emptied(frame, mark):
    """Return a frame without the cells that hold a mark, written as text or as a number."""
    marks = [mark]
    with suppress(ValueError):
        marks.append(float(mark))
    return frame.mask(frame.isin(marks))


def _stripped(names):
    """Return names of columns as text without blanks around, as price lists are read."""
    return [str(name).strip() for name in names]


def _separator(path):
    """Return the separator that splits the header into most fields."""
    with reading(path, "a table"):
        with opened(path) as stream:
            header = stream.readline(1_000_000)
        if "\0" in header:
            raise DatasetError(f"{path.name} is not text: expected csv, or Parquet as .parquet.")
        widths = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in SEPARATORS}
    return max(SEPARATORS, key=widths.__getitem__)
