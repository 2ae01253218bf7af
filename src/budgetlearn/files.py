"""Files: reads users' text files and workbooks and YAML, and writes files safely."""

import codecs
import csv
import gzip
import io
import os
import re
import secrets
import unicodedata
import warnings
from contextlib import contextmanager
from datetime import datetime, time
from functools import cache
from pathlib import Path

from .exceptions import BudgetlearnWarning, ConfigError, DatasetError, extra

SEPARATORS = (",", ";", "\t", "|")
NOT_TEXT = "{} is not text: expected csv, .xlsx or Parquet. Save text in UTF-16 as UTF-8."
# The first bytes of such files, by which they are recognised.
WORKBOOK, OLD_WORKBOOK, PARQUET = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1"
_CHUNK = 1 << 20
_WORD = re.compile(r"\w*[^\x00-\x7f]\w*")  # a word with a letter that depends on the encoding


class InMemory:
    """A file in memory, which, unlike a pipe, can be read twice; messages call it `name`."""

    suffix = ""

    def __init__(self, name, content):
        self.name, self._content = name, content

    def __str__(self):
        return self.name

    def open(self, mode="rb"):
        """Return the content as a binary file."""
        return io.BytesIO(self._content)


def as_file(source):
    """Return an `InMemory` file as it is, and anything else as a `Path`."""
    return source if isinstance(source, InMemory) else Path(source)


def starts_with(path, magic):
    """Return whether a file starts with the bytes `magic`."""
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def is_gzip(path):
    """Return whether a file is gzip-compressed."""
    return starts_with(path, b"\x1f\x8b")


@contextmanager
def _opened_bytes(path):
    with path.open("rb") as stream:
        yield gzip.GzipFile(fileobj=stream) if is_gzip(path) else stream


@contextmanager
def opened(path, encoding="utf-8-sig"):
    """Open a text file, plain or gzip-compressed; by default, a byte order mark is skipped."""
    with _opened_bytes(path) as binary, io.TextIOWrapper(binary, encoding, newline="") as stream:
        yield stream


def encoding_of(path):
    """Return the encoding of a text file: UTF-8, UTF-16, or (with a warning) Windows-1252."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _opened_bytes(path) as stream:
        chunk = stream.read(_CHUNK)
        if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        try:
            while chunk:
                decoder.decode(chunk)
                last, chunk = chunk, stream.read(_CHUNK)
                # At the end of the file, half a character is an error, too.
                decoder.decode(b"", final=not chunk)
        except UnicodeDecodeError:
            _tell_windows_1252(path, chunk or last)
            return "cp1252"
    return "utf-8-sig"


def _tell_windows_1252(path, chunk):
    """Warn that a file is read as Windows-1252, quoting a word; raise if the chunk cannot be."""
    if b"\0" in chunk:
        raise DatasetError(NOT_TEXT.format(path.name))
    try:
        text = chunk.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path.name} is text in an encoding that is neither UTF-8, UTF-16 nor Windows-1252. "
            "Save it as UTF-8."
        ) from error
    word = next(iter(_WORD.findall(text)), "")
    text = f"{path.name} is not UTF-8 and is read as Windows-1252 (Latin-1), for example {word!r}."
    text = f"{text} If that looks wrong, save it as UTF-8."
    warnings.warn(text, BudgetlearnWarning, stacklevel=3)


def separator_of(header):
    """Return the separator that splits a header into the most fields."""
    widths = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in SEPARATORS}
    return max(SEPARATORS, key=widths.__getitem__)


def plain_name(name):
    """Return a name as text, with each accented letter as one character, not two."""
    return unicodedata.normalize("NFC", str(name).strip())


def is_workbook(path):
    """Return whether a file is an Excel workbook (.xlsx); raise for the old format and ARFF."""
    if path.name.lower().endswith(".arff"):
        raise DatasetError(f"{path.name} is in Weka's format (ARFF). Save it as csv or Parquet.")
    if starts_with(path, OLD_WORKBOOK):
        raise DatasetError(
            f"{path.name} is a workbook of the old form (.xls). Save it as .xlsx or csv."
        )
    return starts_with(path, WORKBOOK)


def workbook_as_csv(path, decimal="."):
    """Return the first sheet of an .xlsx workbook as csv, to be read like other tables."""
    # Line numbers are row numbers; the first row that is not empty has the names.
    with extra("tables", "reading an .xlsx workbook"):
        import openpyxl
    rows, formulas = _sheet(openpyxl, path, values=False)
    if formulas:
        rows, _ = _sheet(openpyxl, path, values=True)
        empty = [(row, column) for row, column in formulas if rows[row][column] is None]
        if empty:
            row, column = empty[0]
            place = f"{openpyxl.utils.get_column_letter(column + 1)}{row + 1}"
            raise DatasetError(
                f"{path.name}, cell {place}: a formula without a stored value ({len(empty)} such "
                "cells). Open the file in a spreadsheet program and save it again."
            )
    width = next(filter(None, map(_width, rows)), 0)
    if not width:
        raise DatasetError(f"{path.name} is empty: its first sheet holds no table.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        full = _width(row)
        # Cells beyond the table are kept, to be refused later; an empty row becomes an empty line.
        cells = [_cell_text(cell, decimal) for cell in row[: max(width, full)]]
        writer.writerow([*cells, *[""] * (width - len(cells))] if full else [])
    return InMemory(path.name, text.getvalue().encode())


def _sheet(openpyxl, path, values):
    """Return the rows of the first sheet, and the places of its formulas."""
    with path.open("rb") as stream, warnings.catch_warnings():
        # These warnings are about styles and extensions, which are not read.
        warnings.simplefilter("ignore", UserWarning)
        book = openpyxl.load_workbook(stream, read_only=True, data_only=values)
        sheet = book.worksheets[0]
        # The size stated in the file may be wrong.
        sheet.reset_dimensions()
        rows, formulas = [], []
        for number, row in enumerate(sheet.iter_rows()):
            rows.append([cell.value for cell in row])
            formulas += [(number, at) for at, cell in enumerate(row) if cell.data_type == "f"]
        names = book.sheetnames
    if len(names) > 1 and not values:
        text = f"{path.name} has {len(names)} sheets: the first one, {names[0]!r}, is read."
        warnings.warn(text, BudgetlearnWarning, stacklevel=3)
    return rows, formulas


def _width(row):
    """Return the number of cells of a row up to the last one that is not empty."""
    return max((place for place, cell in enumerate(row, 1) if cell not in (None, "")), default=0)


def _cell_text(cell, decimal):
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell).removesuffix(".0").replace(".", decimal)
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    return str(cell)


@cache
def _strict_loader():
    """Return a YAML loader that raises for repeated keys, and the module yaml."""
    # The safe loader would silently use the last one. Keys from `<<` may be replaced, as usual.
    # ruamel.yaml reads YAML 1.2, where `yes` is a word, and Snakemake reads the same files as 1.1.
    with extra("workflow", "reading a configuration"):
        import yaml

    class Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        def __init__(self, stream):
            super().__init__(stream)
            self.checked = set()

        def flatten_mapping(self, node):
            """Check the keys of a mapping, and resolve `<<`: own keys come before merged ones."""
            if id(node) in self.checked:
                return
            self.checked.add(id(node))
            own = {}
            for key, value in node.value:
                first, _ = own.setdefault((key.tag, str(key.value)), (key, value))
                if first is not key:
                    raise yaml.composer.ComposerError(
                        f"the key {key.value!r} appears twice in one mapping: first",
                        first.start_mark,
                        "and again; keep one of them",
                        key.start_mark,
                    )
            _, merging = own.pop(("tag:yaml.org,2002:merge", "<<"), (None, None))
            super().flatten_mapping(node)
            # Merged here again, as PyYAML 6.0.4 prefers later mappings to earlier ones.
            if merging is not None:
                merged = merging.value if isinstance(merging, yaml.SequenceNode) else [merging]
                pairs = [pair for each in reversed(merged) for pair in each.value]
                pairs = {(key.tag, str(key.value)): (key, value) for key, value in pairs}
                node.value = [*(pairs | own).values()]

    return Strict, yaml


def read_yaml(path, what=None):
    """Return the content of a YAML file; messages put `what` before its path."""
    named = f"{what} {path}" if what else str(path)
    loader, yaml = _strict_loader()
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), loader)
    except OSError as error:
        raise ConfigError(f"{named} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        hint = ". Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else ""
        raise ConfigError(f"{named} is not valid YAML: {error}{hint}") from error


# The start of cells that a spreadsheet would evaluate as formulas.
_FORMULA = re.compile(r"[=+\-@\t\r](?=.)", re.DOTALL)


def csv_text(frame):
    """Return a frame as csv whose texts are not formulas to a spreadsheet; numbers are kept."""
    plain = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        plain[name] = frame[name].map(_plain)
    return plain.rename(columns=_plain).to_csv(index=False, lineterminator="\n")


def _plain(cell):
    """Return a cell, with a quote mark before a formula."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    # Text such as -5 looks like a formula but is a number, which stays as it is.
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextmanager
def whole_file(path, through_links=False):
    """Yield a temporary path in the file's folder, renamed to the file when writing is complete.

    With `through_links`, writing to a symbolic link replaces its target; otherwise the link.
    """
    named, path = path, Path(os.path.realpath(path) if through_links else path)
    if path.exists() and not path.is_file():
        raise OSError(f"{named} is not a file and is not replaced: give another path.")
    path.parent.mkdir(parents=True, exist_ok=True)
    # An unpredictable name, so that nobody can prepare a file or link there; cut, as most file
    # systems limit names to 255 bytes.
    # A name has at most 255 bytes, and a letter up to four of them.
    shown = path.name.encode()[:200].decode(errors="ignore")
    partial = path.with_name(f".{shown}.{secrets.token_hex(6)}")
    try:
        yield partial
        # Atomic, because both files are in the same file system.
        os.replace(partial, path)
    except OSError as error:
        if error.errno and error.filename is None:  # a full disk is reported without a file
            error.filename = str(named)
        raise
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path, content, through_links=False):
    """Write text, as UTF-8, or bytes with `whole_file`."""
    with whole_file(path, through_links) as partial:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode())
