"""Matching of values given for each feature (prices, groups, importances) to a table.

An array is in the order of the columns. A dict or a Series has its values by label, in any order.
Labels are column names, or 0, 1, 2 … for a table without names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .validation import ParameterError, listed


def columns_of(X):
    """Return the names of a table's columns; None if it has none, or only numbers from 0."""
    names = own_names(_labels(X, "columns"))
    if names is not None and len(set(names)) < len(names):
        raise ParameterError(
            f"columns of X must have different names, but several are called {_repeated(names)}. "
            "Rename them."
        )
    return names


def _labels(values, attribute):
    """Return a list-like attribute as a tuple; None if there is none, or if it is a method."""
    # A table of pyarrow has its values in `columns`, and its names in `column_names`.
    own = "column_names" if hasattr(type(values), "column_names") else attribute
    labels = getattr(values, own, None)
    return None if labels is None or callable(labels) else tuple(labels)


def own_names(names):
    """Return names as a tuple, or None if they are numbers from 0 in order."""
    names = None if names is None else tuple(names)
    return None if names is None or names == tuple(range(len(names))) else names


def check_same_columns(X, names):
    """Raise if a frame's columns differ from those in training where scikit-learn is silent."""
    given = _labels(X, "columns")
    # scikit-learn checks names that are text. Without names in training, positions count.
    if given is None or _is_text(names) or (names is None and not _is_count(given)):
        return
    # A frame with columns 0, 1, 2 …, in this order, is treated like an array.
    expected = tuple(range(len(given))) if names is None else names
    if given != expected:
        raise ParameterError(
            "The feature names should match those that were passed during fit, in the same order: "
            f"expected {listed(expected)}, got {listed(given)}. Select the columns in that "
            "order, or pass an array in that order."
        )


def _is_text(names):
    return bool(names) and all(isinstance(name, str) for name in names)


def _repeated(labels):
    return ", ".join(sorted({str(label) for label in labels if labels.count(label) > 1}))


@dataclass(frozen=True)
class PerFeature:
    """A kind of input with one value for each feature, and the words for it in messages."""

    what: str  # name of the input
    value: str  # word for one of its values
    error: type  # exception for labels that do not match
    each: str = "feature"  # word for the items that have values
    table: str = "X"  # name of the object that names the items

    def labelled(self, values):
        """Return the labels of a dict or Series (None for others), and the values."""
        if isinstance(values, Mapping):
            return tuple(values), list(values.values())
        labels = _labels(values, "index")
        if labels is None:
            return None, values
        if len(set(labels)) < len(labels):
            raise self.error(f"{self.what} name {self.each}s more than once: {_repeated(labels)}.")
        return labels, np.asarray(values)

    def in_order(self, values, names, n_features=None):
        """Return the values in the order of the features; without labels, they are unchanged.

        `names` are the names of the features; None: 0, 1, 2 … `n_features` is their number; None:
        the number of values.
        """
        labels, values = self.labelled(values)
        if labels is None:
            return values
        return np.asarray(values)[self.places(labels, names, n_features)]

    def places(self, labels, names, n_features=None):
        """Return the index of each feature's value among values with labels."""
        counted = range(len(labels) if n_features is None else n_features)
        wanted = counted if names is None else names
        # Reported together, because a misspelt name causes both.
        place = {label: k for k, label in enumerate(labels)}
        missing = [name for name in wanted if name not in place]
        unknown = sorted(set(labels) - set(wanted), key=str)
        if missing or unknown:
            raise self.error(self._mismatch(labels, names, missing, unknown))
        return np.array([place[name] for name in wanted], dtype=np.intp)

    def _mismatch(self, labels, names, missing, unknown):
        """Return the error message about labels that do not match the names of the features."""
        in_order = f"the {self.value}s as an array in the order of the {self.each}s"
        if names is None and missing and self.each == "feature" and not _is_count(labels):
            return (
                f"{self.what} are given by name, but {self.table} has no feature names: pass X as "
                f"a DataFrame, or pass {in_order}."
            )
        if _is_text(names) and _is_count(labels):
            return (
                f"{self.what} are given for features 0 to {len(labels) - 1}, but {self.table} "
                f"calls its features {listed(names, 3)}: give them by these names, or pass "
                f"{in_order} (of a Series: .to_numpy())."
            )
        parts = [
            f"{said} {self.each}s: {listed(names)}"
            for said, names in (("unknown", unknown), (f"no {self.value} for", missing))
            if names
        ]
        # In a message, 1 and "1" look the same.
        alike = {str(name) for name in missing} & {str(label) for label in unknown}
        hint = " Some are numbers here and text there." if alike else ""
        return (
            f"{self.what} must name each {self.each} of {self.table} once; {'; '.join(parts)}. "
            f"Correct the names.{hint}"
        )


def _is_count(labels):
    """Return whether the labels are the numbers from 0, in any order."""
    return set(labels) == set(range(len(labels)))
