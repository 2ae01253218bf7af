"""A user's table: features, target, prices and task, checked together."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import pandas as pd

from ..costs import FeatureCosts
from ..exceptions import CostError, DatasetError
from ..preprocessing.categories import is_number, refuse_blank_twins, refuse_numbers
from ..preprocessing.reading import read_table
from ..validation import in_row
from .output import shown

CLASSIFICATION, REGRESSION = "classification", "regression"
FEWEST_ROWS = 10
# A target of more different numbers than the first, and no more than the last, may be meant as
# amounts or as names of classes.
FEWEST_AMOUNTS, SURELY_AMOUNTS = 2, 100
MOST_CLASSES = 20  # a target of whole numbers with more different values is one to be estimated


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table with a target and prices, as a command line names it.

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
    left_out : tuple of str
        Columns that number the rows and were not kept.
    notes : tuple of str
        What was taken for granted and could be meant otherwise.
    reading : dict
        How cells are written: decimal and na, as options name them.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    target: str
    task: str
    costs: FeatureCosts
    left_out: tuple = ()
    notes: tuple = ()
    reading: dict = field(default_factory=dict)


def read_own_table(path, target, costs, drop, task, separator, decimal, na, keep=()):
    """Return the `OwnTable` that options of the command line describe.

    Columns that number the rows are left out, unless `keep` names them or is None.

    Raises
    ------
    DatasetError, CostError
        When they do not fit each other; the message names the option to change.
    """
    frame = read_table(path, separator, decimal, na)
    wanted = (target, *drop, *(keep or ()))
    # Checked first: a wrong separator shows here, as one column with all names.
    unknown = [name for name in wanted if name not in frame.columns]
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
    y, task, note = _target(y, task)
    if len(y) < FEWEST_ROWS:
        raise DatasetError(
            f"{Path(path).name} has {len(y)} row{'s' * (len(y) != 1)}: too few to train, to "
            f"validate and to hold out. Give at least {FEWEST_ROWS}, better hundreds."
        )
    # An identifier predicts the training rows perfectly, and new ones not at all.
    left_out = () if keep is None else _identifiers(X, keep)
    X = X.drop(columns=list(left_out))
    if not X.shape[1]:
        raise DatasetError(
            f"{Path(path).name} has only columns with a different whole number in each row, as "
            f"identifiers have: {_listed(left_out)}. Name those that are measurements with --keep."
        )
    prices = _prices(costs, X, target, (*drop, *left_out))
    notes = (*map(_left_out, left_out), *([note] if note else []))
    reading = {"decimal": decimal, "na": na}
    return OwnTable(Path(path).name, X, y, target, task, prices, left_out, notes, reading)


def described(options):
    """Return the options of a command that `read_own_table` takes, as a dict.

    What is named as categorical or to be spread out is no identifier.
    """
    names = ("target", "costs", "drop", "task", "separator", "decimal", "na")
    known = (*options["keep"], *options["categorical"], *options.get("one_hot", ()))
    return {name: options[name] for name in names} | {"keep": known}


def tell_notes(own):
    """Say on the screen what of a table was taken for granted."""
    for note in own.notes:
        click.echo(f"Note: {note}", err=True)


def _hint(frame):
    return " Is --separator right?" if frame.shape[1] <= 1 else ""


def _listed(names, most=20):
    first = ", ".join(map(repr, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def _identifiers(X, keep):
    """Return the columns that may number the rows: a different whole number in each."""
    return tuple(name for name in X.columns if name not in keep and _numbers_rows(X[name]))


def _numbers_rows(column):
    # Different in each row, whole and without gaps: as identifiers are, and few measurements.
    known = is_number(column) and column.notna().all() and column.is_unique
    return bool(known and (column % 1 == 0).all())


def _left_out(name):
    return (
        f"{shown(name)} has a different whole number in each row, as an identifier has, and is "
        f"left out. If it is a measurement: --keep {shlex.quote(name)}"
    )


def _target(column, task):
    """Return the target as labels or numbers, the task, and what to tell of how it was taken."""
    rows = np.flatnonzero(column.isna())
    if rows.size:
        raise DatasetError(
            f"The target {column.name!r} is empty {in_row(rows)}. Leave these rows out."
        )
    numbers, note = is_number(column), None
    if task is None:
        task, note = _suggested(column) if numbers else (CLASSIFICATION, None)
        if not numbers:
            _refuse_amounts(column)
    if task == REGRESSION:
        if not numbers or not np.isfinite(column.astype(float)).all():
            raise DatasetError(
                f"The target {column.name!r} must be finite numbers for regression; the first is "
                f"{column.iloc[0]!r}. Use --task classification, or correct it."
            )
        return column.to_numpy(np.float64), task, note
    labels = column.astype(object).map(_label).to_numpy(dtype=str)
    refuse_blank_twins(np.unique(labels).tolist(), f"The target {column.name!r}")
    if len(set(labels)) < 2:
        raise DatasetError(
            f"The target {column.name!r} has one class only, {str(labels[0])!r}: there is "
            "nothing to tell apart."
        )
    return labels, task, note or _twins(labels)


def _twins(labels):
    """Return a note where two classes differ only in capitals, else None."""
    # Capitals are a frequent slip; yet both may be meant, so that it is a note and no error.
    seen = {}
    for label in np.unique(labels).tolist():
        first = seen.setdefault(label.casefold(), label)
        if first != label:
            return f"the classes {first!r} and {label!r} differ in capitals only: taken as two."
    return None


def _refuse_amounts(column):
    """Refuse numbers with some text between them: they would become classes."""
    try:
        refuse_numbers(column)
    except DatasetError as error:
        raise DatasetError(f"{error} If its cells name classes: --task classification.") from error


def _suggested(column):
    """Return the task that a target of numbers suggests, and a note where it could be another."""
    n_values, whole = column.nunique(), bool((column % 1 == 0).all())
    what = f"the target {shown(column.name)} holds {n_values} different numbers"
    if n_values <= FEWEST_AMOUNTS:
        return CLASSIFICATION, None
    if whole and n_values <= MOST_CLASSES:
        return CLASSIFICATION, (
            f"{what}, taken as names of classes. If they are amounts to estimate: --task regression"
        )
    if n_values > SURELY_AMOUNTS:
        return REGRESSION, None
    return REGRESSION, (
        f"{what}, taken as amounts to estimate (regression). If they name classes: --task "
        "classification"
    )


def _label(value):
    # A column with gaps elsewhere reads 1 as 1.0.
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
    # Prices of columns that are left out do no harm; any other name is a mistake.
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
