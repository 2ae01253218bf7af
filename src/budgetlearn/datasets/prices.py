"""Tables of prices: price lists that users write, and the cost profiles that studies draw."""

import csv
import difflib
import math

import pandas as pd

from ..exceptions import CostError

COLUMNS = ("feature", "cost", "group", "group_cost")


def read_prices(path):
    """Read a price list or a file of cost profiles; names stay as they are written.

    Parameters
    ----------
    path : path-like
        Comma-separated: feature, cost and, where features share a charge, group and group_cost;
        in cost profiles also run.

    Returns
    -------
    DataFrame
        With these columns: feature and group are text (group None where a feature has none), run
        is a whole number, cost and group_cost are numbers (group_cost NaN where there is none).

    Raises
    ------
    CostError
        When the file cannot be read, has no or another header, or a price is not a number; the
        message names the line.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, skipinitialspace=True)
            lines = [(reader.line_num, [field.strip() for field in row]) for row in reader if row]
    except OSError as error:
        raise CostError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, csv.Error) as error:
        raise CostError(f"{path} is not comma-separated text: {error}.") from error
    if not lines:
        raise CostError(f"{path} is empty. {_EXPECTED}")
    (_, header), *rows = lines
    _check_header(path, header)
    if not rows:
        raise CostError(f"{path} has a header, but no prices.")
    return pd.DataFrame([_record(path, line, header, row) for line, row in rows])


_EXPECTED = (
    "A price list starts with the line 'feature,cost' (or 'feature,cost,group,group_cost' where "
    "features share a charge) and has one line for each feature."
)


def _check_header(path, header):
    if len(header) == 1 and ";" in header[0]:
        raise CostError(f"{path} is separated by semicolons: write commas instead. {_EXPECTED}")
    unknown = [name for name in header if name not in (*COLUMNS, "run")]
    missing = [name for name in COLUMNS[:2] if name not in header]
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
            f"{path}, line {line}: {len(row)} fields, but {len(header)} in the header. A name that "
            "holds a comma stands in double quotes; decimals are written with a point."
        )
    record = dict(zip(header, row, strict=True))
    if not record["feature"]:
        raise CostError(f"{path}, line {line}: the name of the feature is missing.")
    where = f"{path}, line {line}"
    for name in ("cost", "group_cost"):
        if name in record:
            record[name] = _number(record[name], name, where)
    if "run" in record:
        record["run"] = _number(record["run"], "run", where, int)
    if math.isnan(record["cost"]):
        raise CostError(f"{path}, line {line}: the cost of {record['feature']!r} is missing.")
    if "group" in record:
        record["group"] = record["group"] or None
    return record


def _number(text, name, where, kind=float):
    try:
        return math.nan if kind is float and not text else kind(text)
    except ValueError as error:
        raise CostError(f"{where}: {name} must be a number, got {text!r}.") from error
