"""Targets as the papers make them: raw columns to class codes, relevance or numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.categories import refuse_blank_twins


def make_target(table, task, rules):
    """Apply a label rule to a table that a reader returned; return it, and the class names.

    `task` is "classification", "regression" or "ranking". `rules` has at most one of
    ``first_classes``, ``quantiles``, ``both_above_median``, ``one_hot``, ``blocks``, ``at_least``,
    ``unit``, after an optional ``keep``. Empty: numbers as they are in regression and ranking,
    sorted values as classes in classification. The table comes back with codes or numbers as `y`,
    and fewer rows if the rule keeps some classes only; there are no class names in regression and
    ranking.
    """
    rules = dict(rules)
    kept = rules.pop("keep", None)
    # Before the rule: classes are counted among the rows that are kept.
    if kept is not None:
        table = with_rows(table, np.isin(table.y, kept))
    if not len(table.X):
        raise DatasetError("No row is left: all have a missing value, or a class left out.")
    if table.y is not None:
        _refuse_missing(table.y)
    if rules:
        # The schema allows one rule at most.
        ((rule, argument),) = rules.items()
        y, names = _RULES[rule](table.y, argument, len(table.X))
    elif task == "classification":
        y, names = _classes(table.y)
    else:
        y, names = _as_numbers(table.y, task), ()
    return replace(table, y=y), tuple(names) if task == "classification" else ()


def _refuse_missing(raw):
    missing = np.count_nonzero(pd.isna(raw).reshape(len(raw), -1).any(axis=1))
    if missing:
        raise DatasetError(
            f"The target is missing in {missing} rows (an empty cell; in a table of your own also "
            "NA, NaN, None or null). Leave these rows out, or spell out what is meant."
        )


def with_rows(table, chosen):
    """Return the table with the chosen rows (a boolean mask) only."""
    cut = {
        name: getattr(table, name)[chosen]
        for name in ("X", "y", "part", "groups")
        if getattr(table, name) is not None
    }
    return replace(table, **cut)


def _name(value):
    # Files with a missing cell turn whole numbers to floats; class 1 stays "1".
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _classes(raw):
    try:
        # Sorted, so that codes do not depend on the order of the rows.
        values, codes = np.unique(raw, return_inverse=True)
    except TypeError as error:
        message = "The target mixes text and numbers: make it one or the other."
        raise DatasetError(message) from error
    refuse_blank_twins((str(value) for value in values), "The classes")
    return codes, [_name(value) for value in values]


def _as_numbers(raw, task):
    try:
        numbers = np.asarray(raw, np.float64)
    except ValueError as error:
        raise DatasetError(f"The target of {task} must be numbers: {error}.") from error
    if task == "ranking" and not np.array_equal(numbers, np.round(numbers)):
        raise DatasetError("The target of ranking must be whole numbers (grades of relevance).")
    return numbers


def _first_classes(raw, count, _):
    """The first `count` classes against the others (binary letter, vowel, satellite, MNIST)."""
    codes, names = _classes(raw)
    if not count < len(names):
        raise DatasetError(f"{count} classes against the others, but there are {len(names)}.")
    return codes >= count, [_span(names[:count]), _span(names[count:])]


def _span(names):
    return names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}"


def _quantiles(raw, count, _):
    """Equally filled classes, split at the quantiles; a value on a border is in the lower one."""
    numbers = _as_numbers(raw, "quantiles")
    borders = np.quantile(numbers, np.arange(1, count) / count)
    # Left: a value on a border is in the lower class, as the papers count.
    return np.searchsorted(borders, numbers, side="left"), [f"q{i + 1}" for i in range(count)]


def _both_above_median(raw, _, __):
    """Naval propulsion: maintenance is due where every decay coefficient is above its median."""
    numbers = _as_numbers(raw, "both_above_median")
    return (numbers > np.median(numbers, axis=0)).all(axis=1), ["no", "yes"]


def _one_hot(raw, names, _):
    raw = _as_numbers(raw, "one_hot")
    # A row with two indicators, or none, would silently become the first class.
    if raw.shape[1] != len(names) or not np.array_equal(raw.sum(axis=1), np.ones(len(raw))):
        raise DatasetError(f"Each row must have exactly one of the {len(names)} indicators set.")
    return raw.argmax(axis=1), names


def _blocks(_, counts, n_rows):
    # Files without a target column, whose classes stand one below the other (mfeat).
    if sum(counts.values()) != n_rows:
        raise DatasetError(f"The blocks hold {sum(counts.values())} rows, the data {n_rows}.")
    return np.repeat(np.arange(len(counts)), list(counts.values())), list(counts)


def _unit(raw, unit, _):
    return _as_numbers(raw, "unit") / unit, ()


def _at_least(raw, threshold, _):
    return _as_numbers(raw, "at_least") >= threshold, [f"below {threshold}", f"{threshold} or more"]


_RULES = {
    "first_classes": _first_classes,
    "quantiles": _quantiles,
    "both_above_median": _both_above_median,
    "one_hot": _one_hot,
    "blocks": _blocks,
    "at_least": _at_least,
    "unit": _unit,
}
