"""Files: text and workbooks as people have them, YAML, and what the project writes."""

import codecs
import csv
import gzip
import io
import os
import re
import secrets
import warnings
from contextlib import contextmanager
from datetime import datetime, time
from functools import cache
from pathlib import Path

from .exceptions import BudgetlearnWarning, ConfigError, DatasetError, extra

SEPARATORS = (",", ";", "\t", "|")
WORKBOOK, OLD_WORKBOOK, PARQUET = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1"
_CHUNK = 1 << 20
_WORD = re.compile(r"\w*[^\x00-\x7f]\w*")  # a word that shows whether the encoding is right


class InMemory:
    """A file held in memory: it can be read twice, as a pipe cannot. Messages call it `name`."""

    suffix = ""

    def __init__(self, name, content):
        self.name, self._content = name, content

    def __str__(self):
        return self.name

    def open(self, mode="rb"):
        """Return its content as a binary file."""
        return io.BytesIO(self._content)


def as_file(source):
    """Return a path, or what is held in memory, as it is opened here."""
    return source if isinstance(source, InMemory) else Path(source)


def starts_with(path, magic):
    """Return whether a file begins with some bytes."""
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def is_gzip(path):
    """Return whether a file starts as a gzip file does."""
    return starts_with(path, b"\x1f\x8b")


@contextmanager
def _opened_bytes(path):
    with path.open("rb") as stream:
        yield gzip.GzipFile(fileobj=stream) if is_gzip(path) else stream


@contextmanager
def opened(path, encoding="utf-8-sig"):
    """Open a text file, plain or gzip-compressed; a byte order mark is not part of a name."""
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
                decoder.decode(b"", final=not chunk)
        except UnicodeDecodeError:
            _tell_windows_1252(path, chunk or last)
            return "cp1252"
    return "utf-8-sig"


def _tell_windows_1252(path, chunk):
    """Warn with a word of the chunk in which UTF-8 ended, or refuse bytes of no such text."""
    if b"\0" in chunk:
        raise DatasetError(f"{path.name} is not text: expected csv, .xlsx or Parquet.")
    try:
        text = chunk.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path.name} is text in an encoding that is neither UTF-8, UTF-16 nor Windows-1252. "
            "Save it as UTF-8."
        ) from error
    word = next(iter(_WORD.findall(text)), "")
    warnings.warn(
        f"{path.name} is not UTF-8 and is read as Windows-1252 (Latin-1), for example {word!r}. If "
        "that looks wrong, save it as UTF-8.",
        BudgetlearnWarning,
        stacklevel=3,
    )


def separator_of(header):
    """Return the one of `SEPARATORS` that splits a header into most fields: cells may hold any."""
    widths = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in SEPARATORS}
    return max(SEPARATORS, key=widths.__getitem__)


def is_workbook(path):
    """Return whether a file is a workbook of Excel (.xlsx); refuse the old form (.xls)."""
    if starts_with(path, OLD_WORKBOOK):
        raise DatasetError(
            f"{path.name} is a workbook of the old form (.xls). Save it as .xlsx or csv."
        )
    return starts_with(path, WORKBOOK)


def workbook_as_csv(path, decimal="."):
    """Return the first sheet of an .xlsx workbook as csv, so that all tables are read one way.

    Line numbers are those of the rows; the first row that is not empty holds names.
    """
    with extra("tables", "reading an .xlsx workbook"):
        import openpyxl
    rows, formulas = _sheet(openpyxl, path, values=False)
    if formulas:
        rows, _ = _sheet(openpyxl, path, values=True)
        empty = [cell for cell in formulas if rows[cell[0]][cell[1]] is None]
        if empty:
            row, column = empty[0]
            place = f"{openpyxl.utils.get_column_letter(column + 1)}{row + 1}"
            raise DatasetError(
                f"{path.name}, cell {place}: a formula whose value the file does not hold "
                f"({len(empty)} such cells). Open it in a spreadsheet program and save it again."
            )
    width = next(filter(None, map(_width, rows)), 0)
    if not width:
        raise DatasetError(f"{path.name} is empty: its first sheet holds no table.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        full = _width(row)
        # Cells beside the table stay, and are refused as such; an empty row stays an empty line.
        cells = [_cell_text(cell, decimal) for cell in row[: max(width, full)]]
        writer.writerow([*cells, *[""] * (width - len(cells))] if full else [])
    return InMemory(path.name, text.getvalue().encode())


def _sheet(openpyxl, path, values):
    """Return the rows of the first sheet, and the places of its formulas."""
    with path.open("rb") as stream, warnings.catch_warnings():
        # About styles and extensions, which are not read.
        warnings.simplefilter("ignore", UserWarning)
        book = openpyxl.load_workbook(stream, read_only=True, data_only=values)
        sheet = book.worksheets[0]
        # The size that a file states may be wrong.
        sheet.reset_dimensions()
        rows, formulas = [], []
        for number, row in enumerate(sheet.iter_rows()):
            rows.append([cell.value for cell in row])
            formulas += [(number, k) for k, cell in enumerate(row) if cell.data_type == "f"]
        names = book.sheetnames
    if len(names) > 1 and not values:
        warnings.warn(
            f"{path.name} has {len(names)} sheets: the first one, {names[0]!r}, is read.",
            BudgetlearnWarning,
            stacklevel=3,
        )
    return rows, formulas


def _width(row):
    """Count the cells of a row up to its last one that is not empty."""
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
    """Return a variant of YAML's safe loader that refuses a key standing twice, and yaml.

    Plain YAML silently takes the last one. What `<<` brings in may be replaced, as always.
    """
    with extra("workflow", "reading a configuration"):
        import yaml

    class Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        def __init__(self, stream):
            super().__init__(stream)
            self.checked = set()

        def flatten_mapping(self, node):
            """Resolve `<<` in a mapping, which is checked first, once, as it is written."""
            if id(node) not in self.checked:
                self.checked.add(id(node))
                seen = {}
                for key, _ in node.value:
                    first = seen.setdefault((key.tag, str(key.value)), key)
                    if first is not key:
                        raise yaml.composer.ComposerError(
                            f"the key {key.value!r} appears twice in one mapping: first",
                            first.start_mark,
                            "and again; keep one of them",
                            key.start_mark,
                        )
            super().flatten_mapping(node)

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
        raise ConfigError(f"{named} is not valid YAML: {error}") from error


# What a spreadsheet takes a cell for a formula by, where more follows.
_FORMULA = re.compile(r"[=+\-@\t\r](?=.)", re.DOTALL)


def csv_text(frame):
    """Return a frame as csv in which no text is a formula to a spreadsheet; numbers stay."""
    plain = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        plain[name] = frame[name].map(_plain)
    return plain.rename(columns=_plain).to_csv(index=False, lineterminator="\n")


def _plain(cell):
    """Return a cell, a formula as text."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextmanager
def whole_file(path, through_links=False):
    """Yield a path to write to beside a file; it gets the file's name only when it is complete.

    With `through_links`, of a symbolic link the file that it leads to is written, and the link
    stays; else the link is replaced.
    """
    named, path = path, Path(os.path.realpath(path) if through_links else path)
    if path.exists() and not path.is_file():
        raise OSError(f"{named} is not a file, and is left alone: name another one to write.")
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that nobody can foresee, so that nothing waits there.
    partial = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}")
    try:
        yield partial
        # Atomic on one file system, which is why the partial file lies beside its place.
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path, content, through_links=False):
    """Write text, as UTF-8, or bytes by means of `whole_file`."""
    with whole_file(path, through_links) as partial:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode())
