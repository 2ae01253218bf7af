"""Prices by name: price lists that users write, and the cost profiles that studies draw."""

import csv
import difflib
import math
import re
from itertools import chain

import numpy as np
import pandas as pd

from .exceptions import CostError, MissingExtraError
from .files import as_file, encoding_of, is_workbook, opened, separator_of, workbook_as_csv

COLUMNS = ("feature", "cost", "group", "group_cost")


def read_prices(source):
    """Read a price list or a file of cost profiles; names stay as they are written.

    It is a csv file (comma, semicolon or tab; decimal points or commas), an .xlsx workbook or a
    frame, with the columns feature and cost and, where features share a charge, group and
    group_cost; in cost profiles also run. The result has these columns: feature and group are text
    (None: no group), run is a whole number, cost and group_cost are numbers (NaN: no charge). A
    `CostError` that names the line says what is wrong.
    """
    path, header, rows = _from_frame(source) if hasattr(source, "columns") else _from_file(source)
    _check_header(path, header)
    if not rows:
        raise CostError(f"{path} has a header, but no prices.")
    records = [_record(path, line, header, row) for line, row in rows]
    commas = _has_decimal_commas(path, records)
    return pd.DataFrame([_with_numbers(path, record, commas) for record in records]).drop(
        columns="line"
    )


def _from_frame(frame):
    """Return the name of a frame in messages, its header, and its rows as text, as of a file."""
    cells = frame.astype(object).where(frame.notna(), "").map(lambda cell: str(cell).strip())
    rows = list(enumerate(cells.to_numpy().tolist(), 1))
    return "the price list", [str(name) for name in frame.columns], rows


def _from_file(path):
    """Return the path, the header, and (line number, fields) of each row."""
    try:
        file = as_file(path)
        if is_workbook(file):
            file = workbook_as_csv(file)
        with opened(file, encoding_of(file)) as stream:
            first = stream.readline()
            reader = csv.reader(
                chain([first], stream), delimiter=separator_of(first), skipinitialspace=True
            )
            lines = [(reader.line_num, [field.strip() for field in row]) for row in reader if row]
    except FileNotFoundError as error:
        raise CostError(f"{path} cannot be read: {error.strerror}.") from error
    except (MissingExtraError, Warning):
        raise
    except Exception as error:  # of the readers of text, gzip and workbooks
        what = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise CostError(f"{path} cannot be read as a price list: {what}.") from error
    if not lines:
        raise CostError(f"{path} is empty. {_EXPECTED}")
    (_, header), *rows = lines
    return path, header, rows


_EXPECTED = (
    "A price list starts with the line 'feature,cost' (or 'feature,cost,group,group_cost' where "
    "features share a charge) and has one line for each feature."
)


def _check_header(path, header):
    # Checked before names: else every name would be reported as unknown.
    unknown = [name for name in header if name not in (*COLUMNS, "run")]
    missing = [name for name in COLUMNS[:2] if name not in header]
    # Either both or none: a charge without a group would be lost silently.
    if "group" in header or "group_cost" in header:
        missing += [name for name in COLUMNS[2:] if name not in header]
    if not unknown and not missing and len(set(header)) == len(header):
        return
    close = {name: difflib.get_close_matches(name.lower(), COLUMNS, n=1) for name in unknown}
    hints = [f"Is {name!r} meant to be {match[0]!r}?" for name, match in close.items() if match]
    first = ", ".join(map(repr, header))
    raise CostError(" ".join([f"{path}: the first line holds {first}.", *hints, _EXPECTED]))


def _record(path, line, header, row):
    if len(row) != len(header):
        raise CostError(
            f"{path}, line {line}: {len(row)} fields, but {len(header)} in the header. Put a name "
            "with a comma in double quotes; between decimals with a comma write semicolons."
        )
    record = dict(zip(header, row, strict=True)) | {"line": line}
    if not record["feature"]:
        raise CostError(f"{path}, line {line}: the name of the feature is missing.")
    return record


_PRICES = ("cost", "group_cost")
_COMMA = re.compile(r"[-+]?\d+,\d+")
_MAYBE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def _has_decimal_commas(path, records):
    """Return whether a list writes decimals with a comma; refuse what may be meant in two ways."""
    prices = [(record["line"], record.get(name, "")) for record in records for name in _PRICES]
    commas = [(line, text) for line, text in prices if _COMMA.fullmatch(text)]
    if not commas:
        return False
    points = [(line, text) for line, text in prices if "." in text]
    if points:
        (line, one), (_, other) = points[0], commas[0]
        raise CostError(
            f"{path}, line {line}: {one!r} has a point and another price, {other!r}, a comma. "
            "Write all decimals with the one or with the other, and no mark between thousands."
        )
    # 1,500 is one and a half beside 2,5; alone it may be fifteen hundred.
    if all(_MAYBE_THOUSANDS.fullmatch(text) for _, text in commas):
        line, text = commas[0]
        raise CostError(
            f"{path}, line {line}: {text!r} may be {text.replace(',', '')} or "
            f"{float(text.replace(',', '.')):g}. Write it without a comma, or with a point."
        )
    return True


def _with_numbers(path, record, commas):
    """Return a record with its prices as numbers."""
    where = f"{path}, line {record['line']}"
    # An empty group_cost is NaN, none; an empty cost is refused below.
    for name in _PRICES:
        if name in record:
            text = record[name].replace(",", ".") if commas else record[name]
            record[name] = _number(text, name, where)
    if "run" in record:
        record["run"] = _number(record["run"], "run", where, int)
    if math.isnan(record["cost"]):
        raise CostError(f"{where}: the cost of {record['feature']!r} is missing.")
    if "group" in record:
        record["group"] = record["group"] or None
    return record


def _number(text, name, where, kind=float):
    try:
        return math.nan if kind is float and not text else kind(text)
    except ValueError as error:
        raise CostError(f"{where}: {name} must be a number, got {text!r}.") from error


def profile_of(table):
    """Return names, prices, groups (-1: none) and charges of one list; the last two may be None."""
    names = table["feature"].tolist()
    twice = table["feature"][table["feature"].duplicated()].unique().tolist()
    if twice:
        raise CostError(f"the price list names features more than once: {', '.join(twice)}.")
    costs = table["cost"].tolist()
    if "group" not in table:
        return names, costs, None, None
    # Such a charge would never fall due.
    alone = table[table["group"].isna() & table["group_cost"].notna()]
    if len(alone):
        raise CostError(
            f"{alone.iloc[0]['feature']!r} has a group_cost, but no group: name the group too."
        )
    if table["group"].isna().all():
        return names, costs, None, None
    groups, labels = pd.factorize(table["group"])
    return names, costs, groups, [_charge(table, label) for label in labels]


def _charge(table, group):
    """Return the one charge that all members of a cost group share."""
    # NaN counts as a value of its own here, so that a gap beside a number is two.
    charges = table["group_cost"][table["group"] == group].unique()
    if charges.size != 1 or math.isnan(charges[0]):
        raise CostError(
            f"the members of cost group {group!r} must have the same group_cost, found "
            f"{', '.join(f'{charge:g}' for charge in charges)} (nan: none). It is charged once for "
            "the whole group: write it in the line of each member."
        )
    return charges[0]


def nonnegative(values, name):
    """Return `values` as a read-only float64 vector, refusing what cannot be a price."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CostError(f"{name} must be numbers, got {values!r}.") from error
    if array.ndim != 1:
        raise CostError(f"{name} must be a vector (one number each), got shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if bad.size:
        raise CostError(
            f"{name} must be finite and >= 0; entry {bad[0]} is {array[bad[0]]} "
            f"({bad.size} such of {array.size}). Correct the price list."
        )
    # Prices are shared by many estimators, so nobody may change them in place.
    array.flags.writeable = False
    return array
