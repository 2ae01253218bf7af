"""A user's table: features, target, prices and task, checked together."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .._validation import in_row
from ..costs import FeatureCosts
from ..exceptions import CostError, DatasetError
from ..preprocessing.categories import is_number
from ..preprocessing.reading import read_table

CLASSIFICATION, REGRESSION = "classification", "regression"
FEWEST_ROWS = 10
MOST_CLASSES = 20  # a target of numbers with more different values is one to be estimated


@dataclass(frozen=True, eq=False)
class OwnTable:
    """What a command line names: a table with a target and prices.

    Attributes
    ----------
    name : str
        The file.
    X : DataFrame
        The features, as the file has them.
    y : ndarray of shape (n_samples,)
        Class labels as text, or numbers.
    target : str
        Its column.
    task : str
        "classification" or "regression".
    costs : FeatureCosts
        Prices of the columns of X.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    target: str
    task: str
    costs: FeatureCosts


def read_own_table(path, target, costs, drop, task, separator, decimal, na):
    """Return the `OwnTable` that options of the command line describe.

    Raises
    ------
    DatasetError, CostError
        When they do not fit each other; the message names the option to change.
    """
    frame = read_table(path, separator, decimal, na)
    unknown = [name for name in (target, *drop) if name not in frame.columns]
    if unknown:
        raise DatasetError(
            f"{Path(path).name} has no column {unknown[0]!r}. It has: "
            f"{_listed(frame.columns)}.{_hint(frame)}"
        )
    y, X = frame[target], frame.drop(columns=[target, *drop])
    if not X.shape[1]:
        raise DatasetError(
            f"{Path(path).name} has no column beside the target {target!r}: nothing to buy."
            f"{_hint(frame)}"
        )
    y, task = _target(y, task)
    if len(y) < FEWEST_ROWS:
        raise DatasetError(
            f"{Path(path).name} has {len(y)} row{'s' * (len(y) != 1)}: too few to train, to "
            f"validate and to hold out. Give at least {FEWEST_ROWS}, better hundreds."
        )
    return OwnTable(Path(path).name, X, y, target, task, _prices(costs, X, target, drop))


def _hint(frame):
    return " Is --separator right?" if frame.shape[1] <= 1 else ""


def _listed(names, most=20):
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _target(column, task):
    """Return the target as labels or numbers, and the task."""
    rows = np.flatnonzero(column.isna())
    if rows.size:
        raise DatasetError(
            f"The target {column.name!r} is empty {in_row(rows)}. Leave these rows out."
        )
    numbers = is_number(column)
    if task is None:
        many = numbers and column.nunique() > MOST_CLASSES
        task = REGRESSION if many else CLASSIFICATION
    if task == REGRESSION:
        if not numbers or not np.isfinite(column.astype(float)).all():
            raise DatasetError(
                f"The target {column.name!r} must be finite numbers for regression; the first is "
                f"{column.iloc[0]!r}. Use --task classification, or correct it."
            )
        return column.to_numpy(np.float64), task
    labels = column.astype(object).map(_label).to_numpy(dtype=str)
    if len(set(labels)) < 2:
        raise DatasetError(
            f"The target {column.name!r} has one class only, {str(labels[0])!r}: there is "
            "nothing to tell apart."
        )
    return labels, task


def _label(value):
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _prices(path, X, target, drop):
    """Return the prices in the order of the columns; those of columns left out are not needed."""
    names = [str(name) for name in X.columns]
    if path is None:
        costs = FeatureCosts(dict.fromkeys(names, 1.0))
        return FeatureCosts.of(costs, len(names), names)
    costs = FeatureCosts.read(path)
    place, known = {name: k for k, name in enumerate(costs.names)}, {*names, target, *drop}
    unknown = [name for name in place if name not in known]
    missing = [name for name in names if name not in place]
    if unknown:
        raise CostError(
            f"{Path(path).name} has unknown features: {_listed(unknown, 5)}. Take them out, or "
            f"write the names as in the table: {_listed(names, 10)}."
        )
    if missing:
        raise CostError(
            f"{Path(path).name} has no price for: {_listed(missing, 5)}. Add them (0 if they are "
            "free), or leave these columns out with --drop."
        )
    kept = [place[name] for name in names]
    groups = None if costs.groups is None else costs.groups[kept]
    prices = dict(zip(names, costs.costs[kept], strict=True))
    return FeatureCosts(prices, groups, costs.group_costs)
