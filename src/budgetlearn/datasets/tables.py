"""Readers of delimited text and spreadsheets: raw files to a `Table`."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xlrd

from ..exceptions import DatasetError

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")


@dataclass(frozen=True)
class Table:
    """What a reader returns: numbers, and a target that still is as the files have it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets) or None
        Raw target; None where the order of the rows implies it.
    feature_names : tuple of str
        One for each column.
    part, groups : ndarray of shape (n_samples,) or None
        Given split and query of each row.
    """

    X: np.ndarray
    y: np.ndarray | None
    feature_names: tuple[str, ...]
    part: np.ndarray | None = None
    groups: np.ndarray | None = None


def read_table(
    paths,
    separator=",",
    header=False,
    skip_rows=0,
    max_rows=None,
    missing=None,
    parts=None,
    drop=(),
    **columns,
):
    """Read delimited text; several files are put one below the other.

    Parameters
    ----------
    paths : list of Path
        The files.
    separator : str, default=","
        Between fields; ``whitespace`` for runs of blanks.
    header : bool, default=False
        Whether the first row holds names.
    skip_rows : int, default=0
        Rows to ignore at the top of each file.
    max_rows : int, default=None
        Rows to read of each file, all if None; for a file that was cut off.
    missing : str, default=None
        What stands for a missing value; the rows that hold one are left out.
    parts : list of int, default=None
        Split that each file is: 0 train, 1 validation, 2 test.
    drop : list of int or str, default=()
        Columns to leave out.
    **columns : dict
        What the other columns are; see `table_from_frame`.

    Returns
    -------
    Table
    """
    blanks = separator == "whitespace"
    options = {
        "sep": r"\s+" if blanks else separator,
        "header": 0 if header else None,
        "skiprows": skip_rows,
        "nrows": max_rows,
        # Blanks after a comma belong to no field, and an empty column at the end is none.
        "skipinitialspace": not blanks,
        # Only an empty field is missing by itself: "NA" is a word in the census data.
        "keep_default_na": False,
        "na_values": [""] if missing is None else ["", missing],
    }
    frames = [_read_csv(path, options) for path in paths]
    part = None
    if parts is not None:
        part = np.repeat(np.array(parts, np.int8), [len(frame) for frame in frames])
    frame = pd.concat(frames, ignore_index=True)
    if missing is not None:
        whole = frame.drop(columns=frame.columns[_places(frame, drop)]).notna().all(axis=1)
        frame, part = frame[whole], None if part is None else part[whole]
    return table_from_frame(frame, drop=drop, part=part, **columns)


def read_excel(paths, **columns):
    """Read the first sheet of an ``.xls`` spreadsheet whose first row holds names.

    Parameters
    ----------
    paths : list of Path
        One file.
    **columns : dict
        What the columns are; see `table_from_frame`.

    Returns
    -------
    Table
    """
    try:
        sheet = xlrd.open_workbook(paths[0]).sheet_by_index(0)
    except (xlrd.XLRDError, OSError) as error:
        raise DatasetError(f"{paths[0].name} is not a spreadsheet: {error}.") from error
    if sheet.nrows < 2:
        raise DatasetError(f"{paths[0].name}: its first sheet holds no table.")
    header, *rows = (sheet.row_values(row) for row in range(sheet.nrows))
    frame = pd.DataFrame(rows, columns=[str(name).strip() for name in header])
    return table_from_frame(frame, **columns)


def read_paired(paths, parts=None, names=None):
    """Read files that alternate: features, then their labels, both separated by blanks.

    Parameters
    ----------
    paths : list of Path
        Features, labels, features, labels, …
    parts : list of int, default=None
        Split that each pair is: 0 train, 1 validation, 2 test.
    names : list of str, default=None
        As in `table_from_frame`.

    Returns
    -------
    Table
    """
    features = read_table(paths[0::2], "whitespace", parts=parts, target=None, names=names)
    labels = read_table(paths[1::2], "whitespace", target=None)
    if len(labels.X) != len(features.X):
        raise DatasetError(f"{len(features.X)} rows of features, but {len(labels.X)} labels.")
    return Table(features.X, labels.X[:, 0], features.feature_names, features.part)


def table_from_frame(
    frame,
    target=-1,
    drop=(),
    names=None,
    categorical="refuse",
    one_hot=(),
    ratios=None,
    standardise=False,
    part=None,
    part_column=None,
    group=None,
):
    """Tell features from target, and make all features numbers.

    Parameters
    ----------
    frame : DataFrame
        All columns of the files.
    target : int, str, list of these, or None, default=-1
        Column or columns to predict, by place or by name.
    drop : list of int or str, default=()
        Columns to leave out.
    names : list of str, default=None
        Names of the features that are left; ``x{1..9}`` stands for x1 to x9.
    categorical : {"refuse", "codes"}, default="refuse"
        Columns of words become integers in the order of the sorted words, or are an error.
    one_hot : list of int or str, default=()
        Columns to spread out, one indicator for each word.
    ratios : dict, default=None
        ``add``: name of a new feature to the two features whose ratio it is; ``drop``: features
        that these stand in for.
    standardise : bool, default=False
        Whether features are brought to mean 0 and standard deviation 1.
    part : ndarray of int8, default=None
        Given split.
    part_column : dict, default=None
        ``column`` that holds the split, and ``values`` in it to 0, 1 or 2.
    group : str, default=None
        Column with the query of each row.

    Returns
    -------
    Table
    """
    y = _columns(frame, target)
    left_out = [*_places(frame, drop), *_places(frame, target), *_places(frame, group)]
    if part_column is not None:
        part = _part_of(frame, **part_column)
        left_out += _places(frame, part_column["column"])
    groups = None if group is None else pd.factorize(_columns(frame, group))[0]
    features = _features(frame, left_out, names, _places(frame, one_hot))
    if ratios is not None:
        features = _with_ratios(features, **ratios)
    X = _numbers(features, categorical)
    if standardise:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Table(X, y, tuple(str(name) for name in features.columns), part, groups)


def _read_csv(path, options):
    try:
        return pd.read_csv(path, **options)
    except (ValueError, OSError, EOFError) as error:  # pandas' parser errors are ValueErrors
        raise DatasetError(f"{path.name} cannot be read as a table: {error}.") from error


def _places(frame, columns):
    """Return the positions of columns given by place or by name."""
    if columns is None:
        return []
    if isinstance(columns, (int, str)):
        columns = [columns]
    places = []
    for column in columns:
        if isinstance(column, str):
            if column not in frame.columns:
                known = ", ".join(str(name) for name in frame.columns[:30])
                raise DatasetError(f"There is no column {column!r}. The columns are: {known}.")
            places.append(frame.columns.get_loc(column))
        elif not -frame.shape[1] <= column < frame.shape[1]:
            raise DatasetError(f"There is no column {column}: the table has {frame.shape[1]}.")
        else:
            places.append(column % frame.shape[1])
    return places


def _columns(frame, columns):
    places = _places(frame, columns)
    if not places:
        return None
    if isinstance(columns, list):
        return frame.iloc[:, places].to_numpy()
    return frame.iloc[:, places[0]].to_numpy()


def _part_of(frame, column, values):
    raw = _columns(frame, column)
    if not set(np.unique(raw)) <= set(values):
        raise DatasetError(f"Column {column} must hold {list(values)}, found {np.unique(raw)}.")
    return np.array([values[value] for value in raw], np.int8)


def _is_number(column):
    return pd.api.types.is_numeric_dtype(column.dtype)


def _features(frame, left_out, names, spread):
    """Return the features, named, with the columns at the places `spread` as indicators."""
    kept = [place for place in range(frame.shape[1]) if place not in left_out]
    features = frame.iloc[:, kept]
    if names is not None:
        features.columns = _named(names, len(kept))
    elif not isinstance(frame.columns[0], str):
        features.columns = [f"x{place + 1}" for place in range(len(kept))]
    if not spread:
        return features
    columns = [features.columns[kept.index(place)] for place in spread]
    return pd.get_dummies(features, columns=columns, prefix_sep="=", dtype=float)


def _with_ratios(features, add, drop):
    new = {name: features[over] / features[under] for name, (over, under) in add.items()}
    return features.assign(**new).drop(columns=drop)


def _named(names, n_features):
    expanded = []
    for name in names:
        match = _RANGE.search(name)
        if match is None:
            expanded.append(name)
        else:
            first, last = int(match[1]), int(match[2])
            expanded += [_RANGE.sub(str(i), name, count=1) for i in range(first, last + 1)]
    if len(expanded) != n_features:
        raise DatasetError(f"{len(expanded)} feature names for {n_features} features.")
    return expanded


def _numbers(features, categorical):
    """Return the features as float64, words by their rank in the alphabet."""
    words = [name for name in features.columns if not _is_number(features[name])]
    if words and categorical == "refuse":
        sample = features[words[0]].iloc[0]
        raise DatasetError(
            f"Columns of words where numbers were expected: {', '.join(map(str, words))} "
            f"(the first starts with {sample!r})."
        )
    features = features.copy()
    for name in words:
        codes = pd.Categorical(features[name].astype(object)).codes.astype(float)
        features[name] = np.where(codes < 0, np.nan, codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
        return features.to_numpy(np.float64)
