"""Reads a user's table from delimited text, a workbook or Parquet, with one kind of error."""

import csv
import errno
import re
from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import chain, islice

import pandas as pd

from .. import files
from ..exceptions import DatasetError, MissingExtraError, extra
from .categories import as_words

# Numbers of errors that mean that the disk is full, read-only or broken.
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
WHITESPACE = "whitespace"
# Contents of missing cells; anything else, such as None, is a word.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")


@contextmanager
def reading(path, form):
    """Turn errors of a reader, which damaged files cause, into a `DatasetError` with the file."""
    try:
        yield
    except (DatasetError, MissingExtraError, Warning):
        raise
    except FileNotFoundError as error:
        raise DatasetError(f"{path} cannot be read: No such file.") from error
    except Exception as error:  # what readers raise on damaged content has no common class
        # A full disk does not mean that the file is damaged.
        if getattr(error, "errno", None) in DISK:
            raise
        hint = " Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else ""
        raise DatasetError(
            f"{path.name} cannot be read as {form} ({type(error).__name__}: {error}).{hint}"
        ) from error


def read_frame(
    path,
    separator=",",
    header=True,
    skip_rows=0,
    max_rows=None,
    missing=MISSING_MARKS,
    decimal=".",
    columns=None,
    encoding="utf-8-sig",
    text=False,
):
    """Read a file of delimited text, plain or gzip-compressed, like `read_table`.

    Here `separator` may also be ``whitespace`` for runs of blanks, and `missing` has all marks.
    Without a `header`, columns are numbered from 0. The first `skip_rows` lines are ignored, and at
    most `max_rows` rows are read.
    """
    blanks = separator == WHITESPACE
    if len(separator) != 1 and not blanks:
        raise DatasetError(f"separator must be one character or {WHITESPACE!r}, got {separator!r}.")
    with reading(path, "a table"):
        # Checked first, as pandas would accept short rows and repeated names.
        with files.opened(path, encoding) as stream:
            # Skips lines rather than records, because they need not be a table.
            rows = _rows(path, islice(stream, skip_rows, None), separator, skip_rows)
            padded = _check_rows(path, rows, header, max_rows, {*missing})
        with files.opened(path, encoding) as stream:
            return pd.read_csv(
                stream,
                sep=r"\s+" if blanks else separator,
                header=0 if header else None,
                skiprows=skip_rows,
                nrows=max_rows,
                skipinitialspace=not blanks,  # blanks after a comma do not belong to a field
                keep_default_na=False,
                na_values=[*missing, *padded],
                decimal=decimal,
                usecols=None if columns is None else lambda name: files.plain_name(name) in columns,
                # In one piece; otherwise parts of a column might get different types.
                low_memory=False,
                dtype=str if text else None,
            )


def _rows(path, stream, separator, line):
    """Yield (number of its first line, fields) of each row that is not blank."""
    if separator == WHITESPACE:
        yield from ((at, row.split()) for at, row in enumerate(stream, line + 1) if row.strip())
        return
    lines, first = [], line + 1  # lines of the current row, and the number of the first one

    def noted():
        for text in stream:
            lines.append(text)
            yield text

    for fields in csv.reader(noted(), delimiter=separator, skipinitialspace=True):
        if len(lines) > 1 and _joined(fields, lines, separator):
            raise DatasetError(
                f"{path.name}, line {first}: a lone quote mark joins lines {first} to "
                f'{first + len(lines) - 1}. Write out its meaning (as a value: """").'
            )
        if fields and fields != [""]:
            yield first, fields
        first += len(lines)
        lines.clear()


def _joined(fields, lines, separator):
    """Return whether a lone quote mark joins lines: the closing one is misplaced."""
    # Blanks between a closing quote and the separator are allowed.
    lines = [re.sub(f'" +(?=[{re.escape(separator)}\r\n]|$)', '"', line) for line in lines]
    try:
        next(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        return True
    ends = [{cell.strip(" ")[:1], cell.strip(" ")[-1:]} for cell in fields if "\n" in cell]
    return any(separator in each and each <= {separator, "\n", "\r"} for each in ends)


def _check_rows(path, rows, header, max_rows, marks):
    """Raise for repeated names and rows of different width; return marks followed by blanks."""
    line, first = next(rows, (0, None))
    if first is None:
        raise DatasetError(f"{path.name} is empty: it holds no table.")
    if header:
        _refuse_repeated(first, path)
    rows = rows if header else chain([(line, first)], rows)
    line, padded = 0, set()
    for line, fields in islice(rows, max_rows):
        if " \n" in "\n".join([*fields, ""]):  # faster than a check of each cell
            padded.update(cell for cell in fields if cell.strip() in marks)
        if len(fields) != len(first):
            untitled = first[1:] in ([], [""])
            raise DatasetError(
                f"{path.name}, line {line}: {len(fields)} fields, but {len(first)} in the first "
                f"row{' (the header)' if header else ''}. Every row must have as many: look for a "
                "separator inside a value, one too many at the end, a quote that is not closed, or "
                "a line that was cut off."
                f"{' Take out lines above the column names.' if untitled else ''}"
            )
    if not line:
        raise DatasetError(f"{path.name} has column names, but no rows.")
    return padded


def _refuse_repeated(names, path):
    repeated = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if repeated:
        raise DatasetError(f"{path.name}: column names must differ; repeated: {repeated}.")


def marks_of(missing):
    """Return marks for missing cells, given as one string, several or None, as a list."""
    return [missing] if isinstance(missing, str) else list(missing or ())


def read_table(
    path,
    separator=None,
    decimal=None,
    missing=None,
    columns=None,
    text=False,
    codes=(),
    max_rows=None,
):
    """Read a table with a header: csv, also gzip-compressed, an .xlsx workbook, or Parquet.

    `separator` None means the comma, semicolon, tab or | that is most frequent in the header;
    `decimal` None means a point. `missing`, one string or several, marks missing values in addition
    to `MISSING_MARKS`, or to Parquet's own gaps; (): no marks at all. Only existing `columns` are
    read; None: all. With `text`, cells are not converted; in the columns `codes`, leading zeros are
    kept. Neither applies to Parquet, whose columns have types, nor does `max_rows`, the most rows
    that are read. Raises a `DatasetError` that names the line if the file cannot be read.
    """
    path, named = files.as_file(path), marks_of(missing)
    with reading(path, "a table"):
        if path.suffix in (".parquet", ".pq") or files.starts_with(path, files.PARQUET):
            return _read_parquet(path, named, columns)
        if files.is_workbook(path):
            with reading(path, "a workbook (.xlsx)"):
                path, separator = files.workbook_as_csv(path, decimal or "."), ","
        encoding = files.encoding_of(path)
        with files.opened(path, encoding) as stream:
            first = next(filter(str.strip, iter(partial(stream.readline, 1_000_000), "")), "")
        if separator is None and "\0" in first:
            raise DatasetError(files.NOT_TEXT.format(path.name))
        separator = separator or files.separator_of(first)
    marks = [*MISSING_MARKS, *named] if named or missing is None else named
    how = {"decimal": decimal or ".", "missing": marks, "encoding": encoding, "max_rows": max_rows}
    frame = _stripped(read_frame(path, separator, columns=columns, text=text, **how), path)
    if codes:
        written = read_frame(path, separator, columns=codes, text=True, **how)
        for name, cells in _stripped(written, path).items():
            if (zeros := cells.str.match(r"0\d", na=False)).any():
                frame[name] = cells.where(zeros, as_words(frame[name]))
    return frame


def _read_parquet(path, missing, columns):
    with extra("tables", "reading Parquet"):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    with reading(path, "a Parquet table"), path.open("rb") as stream:
        file = parquet.ParquetFile(stream)
        if not file.metadata.num_rows:
            raise DatasetError(f"{path.name} has column names, but no rows.")
        for batch in file.iter_batches():
            batch.validate(full=True)  # invalid text would cause errors much later
        stream.seek(0)
        frame = pd.read_parquet(stream)
    # An index with a name is stored as a column.
    frame = frame.reset_index() if any(frame.index.names) else frame
    # pandas reads decimals as objects, which would look like text.
    decimals = {kind.name for kind in file.schema_arrow if arrow.types.is_decimal(kind.type)}
    frame = _stripped(frame.astype(dict.fromkeys(decimals.intersection(frame), float)), path)
    frame = frame[[name for name in frame.columns if columns is None or name in columns]]
    if not missing:
        return frame
    # Marks may occur as text or as numbers.
    marks = [*missing, *pd.to_numeric(pd.Series(missing), errors="coerce")]
    # Only columns that may contain text are stripped, because this is slow.
    words = frame.select_dtypes(["object", "string", "category"])
    plain = words.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    return frame.mask(frame.assign(**plain).isin(marks))


def _stripped(frame, path):
    """Return a frame with plain names, like those read from price lists."""
    frame = frame.set_axis([files.plain_name(name) for name in frame.columns], axis=1)
    _refuse_repeated(frame.columns, path)
    return frame
