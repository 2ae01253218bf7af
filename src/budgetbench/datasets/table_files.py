"""Read text tables and spreadsheets, the registry's and the user's, into a `Table`."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.costs import read_prices
from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.categories import (
    INDICATOR,
    MEDIAN,
    days,
    form_of,
    refuse_blank_twins,
    to_numbers,
)
from budgetlearn.preprocessing.reading import read_frame, reading
from budgetlearn.preprocessing.reading import read_table as read_user_table

from .dataset import Table
from .fetching import refuse_changed

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")


def parts_of(parts, lengths):
    """Return the part of each row, given the part and the number of rows of each file."""
    return None if parts is None else np.repeat(np.array(parts, np.int8), lengths)


def read_table(
    paths,
    separator=",",
    header=False,
    skip_rows=0,
    max_rows=None,
    missing=None,
    fill=None,
    parts=None,
    drop=(),
    **columns,
):
    """Read and concatenate files of delimited text; the registry's schema has the parameters."""
    # By default only an empty field is missing, because "NA" is a word in the census data.
    gaps = [""] if missing is None else ["", missing]
    frames = [read_frame(path, separator, header, skip_rows, max_rows, gaps) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if list(frame.columns) != list(frames[0].columns):
            raise DatasetError(f"{path.name} has different columns from {paths[0].name}.")
    part = parts_of(parts, [len(frame) for frame in frames])
    frame = pd.concat(frames, ignore_index=True)
    if fill == "mean":  # only features are filled, never the target
        target = frame.columns[_places(frame, columns.get("target", -1))]
        frame = frame.fillna(frame.drop(columns=target).mean(numeric_only=True))
    elif missing is not None:
        whole = frame.drop(columns=frame.columns[_places(frame, drop)]).notna().all(axis=1)
        frame, part = frame[whole], None if part is None else part[whole]
    return table_from_frame(frame, drop=drop, part=part, **columns)


def read_excel(paths, **columns):
    """Read the first sheet of an ``.xls`` file with names in row 1; see `table_from_frame`."""
    import xlrd  # here, as no other reader needs it

    path = paths[0]
    with reading(path, "a spreadsheet"):
        # Without a logfile, warnings about unusual records would be printed.
        sheet = xlrd.open_workbook(path, logfile=io.StringIO()).sheet_by_index(0)
        if sheet.nrows < 2:
            raise DatasetError(f"{path.name}: its first sheet holds no table.")
        for row in range(sheet.nrows):
            if xlrd.XL_CELL_ERROR in sheet.row_types(row):
                raise DatasetError(f"{path.name}, row {row + 1}: a cell has an error (#N/A …).")
        header, *rows = (sheet.row_values(row) for row in range(sheet.nrows))
        frame = pd.DataFrame(rows, columns=[str(name).strip() for name in header])
    return table_from_frame(frame.replace("", np.nan).infer_objects(), **columns)


def read_paired(paths, parts=None, names=None):
    """Read pairs of files, features followed by their labels, with values separated by blanks."""
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
):
    """Return a table with numeric features from a frame; columns are given by index or name.

    The registry's schema has the parameters; `part` is the given split of the rows.
    """
    y = _columns(frame, target)
    left_out = [*_places(frame, drop), *_places(frame, target)]
    if part_column is not None:
        column, values = part_column["column"], part_column["values"]
        raw = _columns(frame, column)
        found = pd.unique(raw).tolist()
        if not set(found) <= set(values):
            raise DatasetError(f"Column {column} must hold {list(values)}, found {found[:10]}.")
        part = np.array([values[value] for value in raw], np.int8)
        left_out += _places(frame, column)
    features = _features(frame, left_out, names, _places(frame, one_hot))
    if ratios is not None:
        features = _with_ratios(features, **ratios)
    names = [str(name).strip() for name in features.columns]
    if not names or len(set(names)) < len(names):
        raise DatasetError(f"Feature names must differ, found {', '.join(names) or 'none'}.")
    features = features.set_axis(names, axis=1)
    X, categories = to_numbers(features, categorical)
    if standardise:
        spread = X.std(axis=0)
        if constant := features.columns[spread == 0].tolist():
            raise DatasetError(f"Constant columns cannot be standardised: {', '.join(constant)}.")
        X = (X - X.mean(axis=0)) / spread
    return Table(X, y, tuple(features.columns), part, categories=categories)


def _places(frame, columns):
    if columns is None:
        return []
    if isinstance(columns, (int, str)):
        columns = [columns]
    places = []
    for column in columns:
        if isinstance(column, str):
            if column not in frame.columns:
                known = ", ".join(map(repr, frame.columns[:30]))
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
    return frame.iloc[:, places if isinstance(columns, list) else places[0]].to_numpy()


def _features(frame, left_out, names, spread):
    """Return the named features, with the columns at the indices `spread` as indicators."""
    kept = [place for place in range(frame.shape[1]) if place not in left_out]
    features = frame.iloc[:, kept]
    if names is not None:
        features.columns = _named(names, len(kept))
    elif not isinstance(frame.columns[0], str):
        features.columns = [f"x{place + 1}" for place in range(len(kept))]
    if not spread:
        return features
    columns = [features.columns[kept.index(place)] for place in spread]
    for name in columns:
        if features[name].isna().any():
            raise DatasetError(f"Column {name!r} has missing values: it cannot be one-hot encoded.")
        refuse_blank_twins(features[name].map(str).unique(), f"Column {name!r}")
    return pd.get_dummies(features, columns=columns, prefix_sep="=", dtype=float)


def _with_ratios(features, add, drop):
    used = {name for pair in add.values() for name in pair}
    _places(features, [*sorted(used), *drop])  # raises for missing columns
    if words := used.intersection(features.select_dtypes(exclude="number").columns):
        raise DatasetError(f"Ratios need numbers; these have text: {', '.join(sorted(words))}.")
    new = {name: features[over] / features[under] for name, (over, under) in add.items()}
    return features.assign(**new).drop(columns=drop)


def _named(names, n_features):
    expanded = []
    for name in names:
        # "x{1..3}" stands for x1, x2, x3; a name without a range counts once.
        first, last = map(int, match.groups()) if (match := _RANGE.search(name)) else (0, 0)
        expanded += [_RANGE.sub(str(i), name, count=1) for i in range(first, last + 1)]
    if len(expanded) != n_features:
        raise DatasetError(f"{len(expanded)} feature names for {n_features} features.")
    return expanded


def read_own(
    path, target, drop=(), group=None, missing=INDICATOR, categorical=(), dates=(), na=None, **how
):
    """Read the user's csv, .xlsx or Parquet table; the registry's schema has the parameters."""
    # Imported here, as planning a study does not need scikit-learn.
    from budgetlearn.preprocessing.preprocessor import BudgetPreprocessor

    frame = read_user_table(Path(path), missing=na, codes=categorical, **how)
    others = [target, *drop, *([] if group is None else [group])]
    _places(frame, [*others, *dates])  # raises for missing columns
    features = frame.drop(columns=others)
    for name in features.columns.intersection(dates):
        features[name] = days(features[name], form_of(features[name]))
    if group is not None and frame[group].isna().any():
        raise DatasetError(f"The group ({group!r}) is missing in some rows: remove these rows.")
    if not features.shape[1]:
        raise DatasetError(f"There is no column besides {', '.join(map(repr, others))}.")
    # For medians, gaps are restored after encoding, because each run fills them itself.
    encoder = BudgetPreprocessor(INDICATOR if missing == MEDIAN else missing, categorical)
    X = encoder.fit_transform(features)
    if missing == MEDIAN:
        X = X.mask(features.isna())
    groups = None if group is None else pd.factorize(frame[group])[0]
    y = frame[target].to_numpy()
    return Table(X.to_numpy(np.float64), y, tuple(X.columns), None, groups, encoder.categories_)


def own_prices(path, unpriced=(), content=None):
    """Return a price list without the `unpriced` columns; `content` is its sha256 (None: any)."""
    prices = read_prices(path)
    # All jobs of a study must have the same prices.
    refuse_changed(path, content)
    return prices[~prices["feature"].isin(unpriced)]
