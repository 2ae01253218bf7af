"""Checks of numbers and tables that are used by several modules."""

import hashlib
import numbers
import os
from contextlib import contextmanager

import numpy as np
import pandas as pd

from .exceptions import BudgetlearnError

# The largest 32-bit integer: an upper bound of seeds, and of nodes and levels in kernels.
INT32_MAX = 2**31 - 1
# The largest price or target, as sums and squares of larger numbers could be infinite. Targets must
# differ by its inverse or more, as the squares of smaller differences could vanish.
MOST_AMOUNT = 1e100


class ParameterError(BudgetlearnError, ValueError):
    """A parameter that is out of its range or otherwise invalid."""


def is_flag(value):
    """Return whether a value is True or False, of Python or of NumPy (as in parameter grids)."""
    return isinstance(value, (bool, np.bool_))


def check_flag(value, name):
    """Raise `ParameterError` if a value is neither True nor False."""
    if not is_flag(value):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")


def check_number(
    value, name, *, low=None, high=None, integer=False, low_open=False, high_open=False, none=False
):
    """Return `value` if it is a number within the bounds, which are inclusive unless open.

    `high=np.inf, high_open=True` requires a finite number; `none` also allows None.
    """
    if none and value is None:
        return None
    kind = numbers.Integral if integer else numbers.Real
    wanted = "an integer" if integer else "a number"
    if low is not None:
        wanted += f" {'>' if low_open else '>='} {low}"
    if high is not None:
        wanted += f" and {'<' if high_open else '<='} {high}"
    # Excludes bool, which is an integer in Python, and NaN, which is not equal to itself.
    good = isinstance(value, kind) and not is_flag(value) and value == value
    if good and low is not None:
        good = value > low if low_open else value >= low
    if good and high is not None:
        good = value < high if high_open else value <= high
    if not good:
        raise ParameterError(f"{name} must be {wanted}, got {value!r}.")
    return value


def check_numbers(values, name, *, alone=False, **limits):
    """Return one or more numbers, each checked, as a list; `alone` also allows a bare number."""
    array = np.asarray(values, dtype=object)
    if not array.size or array.ndim not in ((0, 1) if alone else (1,)):
        raise ParameterError(f"{name} must be a list of at least one number, got {values!r}.")
    return [check_number(value, name, **limits) for value in array.ravel().tolist()]


def check_list(values, name):
    """Return the values as a list; raise `ParameterError` if there are none, or for a string."""
    if isinstance(values, str) or not np.iterable(values) or not (found := list(values)):
        raise ParameterError(f"{name} must be a list of at least one, got {values!r}.")
    return found


def check_choice(value, name, choices):
    """Return `value` if it is one of the strings in `choices`, else raise `ParameterError`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise ParameterError(f"{name} must be one of {known}, got {value!r}.")
    return value


def check_path(value, name):
    """Return `value` if it is a path, as text or an object, or None; else raise an error."""
    if value is None or isinstance(value, (str, os.PathLike)):
        return value
    raise ParameterError(f"{name} must be a path or None, got {value!r}.")


def listed(names, most=5, form=str):
    """Return the first names as text for a message, and the number of others."""
    shown = ", ".join(form(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def check_max_features(max_features, n_features):
    """Return the number of features that a node draws, between 1 and `n_features`.

    None means all, a float in (0, 1] a share, "sqrt" the square root; both are rounded down, but
    to 1 at least.
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if isinstance(max_features, numbers.Real) and not is_flag(max_features):
        # 1 means one feature, but 1.0 means all.
        whole = isinstance(max_features, numbers.Integral)
        if whole and max_features >= 1:
            return min(int(max_features), n_features)
        if not whole and 0 < max_features <= 1:
            return max(1, int(max_features * n_features))
    raise ParameterError(
        "max_features must be an integer >= 1, a share > 0 and <= 1.0 as a float, 'sqrt' or None, "
        f"got {max_features!r}."
    )


def check_classes(y):
    """Return the class labels (at least two) and the index of each example's class."""
    # Imported here, as scikit-learn takes a second to load, and planning a study does not need it.
    from sklearn.utils.multiclass import check_classification_targets

    try:
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ParameterError("y mixes text and numbers or is bytes: write all as text.") from error
    if classes.size < 2:
        raise ParameterError(
            f"y must hold at least two classes, got one class only: {classes.tolist()[0]!r}."
        )
    return classes, labels


def derive_seed(*parts):
    """Return a 32-bit seed that depends on `parts` (as text) only, not on calls or machine."""
    # The separator keeps ("ab", "c") and ("a", "bc") apart.
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def codes_of_groups(groups, X):
    """Return each row's group as an integer (None without groups); rows without one stand alone."""
    if groups is None:
        return None
    from sklearn.utils import check_consistent_length  # as in `check_classes`

    check_consistent_length(X, groups)
    codes, names = pd.factorize(np.asarray(groups))
    alone = codes < 0
    codes[alone] = len(names) + np.arange(alone.sum())
    return codes


def rows_of_groups(groups):
    """Return the first row of each group, and the index of each row's group among them."""
    codes = codes_of_groups(groups, groups)
    return np.unique(codes, return_index=True, return_inverse=True)[1:]


def holdout(y, fraction, random_state, classifies=True, groups=None):
    """Return ascending indices of training and validation rows, stratified by class.

    Every class keeps at least one training row, so a class with a single row has no validation row.
    `fraction`, an estimator's `validation_fraction`, is the share of each class. Without
    `classifies`, rows are split at random. Groups stay together, in the class of their first row.
    """
    if groups is not None:
        first, place = rows_of_groups(groups)
        apart = np.isin(place, holdout(y[first], fraction, random_state, classifies)[1])
        return np.flatnonzero(~apart), np.flatnonzero(apart)
    check_number(fraction, "validation_fraction", low=0, high=1, low_open=True, high_open=True)
    if not classifies:
        return _holdout_of_numbers(y, fraction, random_state)
    held_out = np.zeros(len(y), dtype=bool)
    learned = False
    for label in np.unique(y):
        members = random_state.permutation(np.flatnonzero(y == label))
        wanted = round(fraction * members.size)
        # A fraction that asks for all rows of every class is refused, though each keeps a row.
        learned |= wanted < members.size
        held_out[members[: min(wanted, members.size - 1)]] = True
    if not learned:
        what = f"validation_fraction={fraction!r} of {len(y)} rows leaves no training data"
        raise ParameterError(f"{what}. Use a smaller fraction, or give X_val and y_val.")
    if not held_out.any():
        raise ParameterError(
            f"validation_fraction={fraction!r} of {len(y)} rows in {np.unique(y).size} classes "
            "leaves no validation data. Use more rows or a larger fraction, or give X_val and "
            "y_val."
        )
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _holdout_of_numbers(y, fraction, random_state):
    order = random_state.permutation(len(y))
    n_valid = round(fraction * order.size)
    # R² needs two different targets; a swap provides them, and no split changes without need.
    differs = np.reshape(y != y[order[0]], (len(y), -1)).any(axis=1)
    places = np.flatnonzero(differs[order])
    if n_valid > 1 and places.size and places[0] >= n_valid:
        order[[n_valid - 1, places[0]]] = order[[places[0], n_valid - 1]]
    valid, train = np.sort(order[:n_valid]), np.sort(order[n_valid:])
    if not valid.size or not train.size:
        raise ParameterError(
            f"validation_fraction={fraction!r} of n_samples={order.size} leaves {train.size} to "
            f"train and {valid.size} to validate. Use more rows or another fraction, or give X_val "
            "and y_val."
        )
    return train, valid


@contextmanager
def all_or_nothing(estimator):
    """Restore an estimator if the block fails, by an error or an interruption."""
    # A shallow copy is enough, because fits do not change attributes in place.
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def in_row(rows, what="rows"):
    """Return the position of the first of some rows (counted from 0), as text for messages."""
    more = f"; {rows.size} such {what}" if rows.size > 1 else ""
    return f"in row {rows[0] + 1} (counted from 1, without the header{more})"
