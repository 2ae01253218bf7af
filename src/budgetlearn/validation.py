"""Checks of numbers and tables that several modules share."""

import hashlib
import numbers
from contextlib import contextmanager

import numpy as np
import pandas as pd

from .exceptions import BudgetlearnError

# The largest 32-bit integer: seeds are drawn below it; nodes and levels that kernels count fit it.
INT32_MAX = 2**31 - 1
MOST_AMOUNT = 1e100  # beyond it, and between numbers nearer than its inverse, scores were NaN


class ParameterError(BudgetlearnError, ValueError):
    """A parameter outside its range."""


def is_flag(value):
    """Return True for True and False, and for those of NumPy, which grids are made of."""
    return isinstance(value, (bool, np.bool_))


def check_number(
    value, name, *, low=None, high=None, integer=False, low_open=False, high_open=False, none=False
):
    """Return `value` if it is a number inside the bounds, inclusive unless open.

    `high=np.inf, high_open=True` wants a finite number; with `none` there may be None instead.
    """
    if none and value is None:
        return None
    kind = numbers.Integral if integer else numbers.Real
    wanted = "an integer" if integer else "a number"
    if low is not None:
        wanted += f" {'>' if low_open else '>='} {low}"
    if high is not None:
        wanted += f" and {'<' if high_open else '<='} {high}"
    # bool is an integer to Python, and NaN a number that compares with nothing.
    good = isinstance(value, kind) and not is_flag(value) and value == value
    if good and low is not None:
        good = value > low if low_open else value >= low
    if good and high is not None:
        good = value < high if high_open else value <= high
    if not good:
        raise ParameterError(f"{name} must be {wanted}, got {value!r}.")
    return value


def check_choice(value, name, choices):
    """Return `value` if it is one of some words, else raise `ParameterError`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise ParameterError(f"{name} must be one of {known}, got {value!r}.")
    return value


def listed(names, most=5, form=str):
    """Return some names for a message, and how many more there are."""
    shown = ", ".join(form(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def check_max_features(max_features, n_features):
    """Return the number of features that a node draws, 1 at least and `n_features` at most.

    None is all, a float in (0, 1] a share of them, "sqrt" their square root, both rounded down.
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if isinstance(max_features, numbers.Real) and not is_flag(max_features):
        # 1 is one feature, 1.0 all of them.
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
    """Return the class labels, two at least, and each example's index among them."""
    # Here: planning a study checks numbers only, and scikit-learn takes a second to load.
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
    """Return a 32-bit seed that depends on `parts` (as text) only, not on order or machine."""
    # The separator keeps ("ab", "c") and ("a", "bc") apart.
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def codes_of_groups(groups, X):
    """Return the number of each row's group; a row whose group is missing is one by itself."""
    if groups is None:
        return None
    from sklearn.utils import check_consistent_length  # here: plans of studies need none of it

    check_consistent_length(X, groups)
    codes, names = pd.factorize(np.asarray(groups))
    alone = codes < 0
    codes[alone] = len(names) + np.arange(alone.sum())
    return codes


def rows_of_groups(groups):
    """Return the first row of each group, and the place of each row's group among them."""
    codes = codes_of_groups(groups, groups)
    return np.unique(codes, return_index=True, return_inverse=True)[1:]


def holdout(y, fraction, random_state, classifies=True, groups=None):
    """Split rows into training and validation rows, class by class; return their ascending indices.

    Every class keeps at least one training row; one of a single row has none in the validation
    part. `fraction`, the `validation_fraction` of an estimator, is the share of each class. Numbers
    (not `classifies`) are split at random. Rows of one of `groups` go together, by its first row.
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
    # Class by class, and each keeps a row to train on: a rare one is never unseen.
    for label in np.unique(y):
        members = random_state.permutation(np.flatnonzero(y == label))
        wanted = round(fraction * members.size)
        learned |= wanted < members.size
        held_out[members[: min(wanted, members.size - 1)]] = True
    if not learned:
        raise ParameterError(
            f"validation_fraction={fraction!r} of {len(y)} rows leaves no training data. Give a "
            "smaller fraction, or X_val and y_val."
        )
    if not held_out.any():
        raise ParameterError(
            f"validation_fraction={fraction!r} of {len(y)} rows in {np.unique(y).size} classes "
            "leaves no validation data. Give more rows, a larger fraction, or X_val and y_val."
        )
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _holdout_of_numbers(y, fraction, random_state):
    order = random_state.permutation(len(y))
    n_valid = round(fraction * order.size)
    # R² needs two different targets. One swap, so that other seeds' draws are left as they are.
    differs = np.reshape(y != y[order[0]], (len(y), -1)).any(axis=1)
    places = np.flatnonzero(differs[order])
    if n_valid > 1 and places.size and places[0] >= n_valid:
        order[[n_valid - 1, places[0]]] = order[[places[0], n_valid - 1]]
    valid, train = np.sort(order[:n_valid]), np.sort(order[n_valid:])
    if not valid.size or not train.size:
        raise ParameterError(
            f"validation_fraction={fraction!r} of n_samples={order.size} leaves {train.size} to "
            f"train and {valid.size} to validate. Give more rows, another fraction, or X_val and "
            "y_val."
        )
    return train, valid


@contextmanager
def all_or_nothing(estimator):
    """Leave an estimator as it was where the block fails, be it by an error or an interruption."""
    # A shallow copy: what a fit sets is new, what it finds is not changed in place.
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def in_row(rows, what="rows"):
    """Return the place of the first of some rows (counted from 0), in the words of all messages."""
    more = f"; {rows.size} such {what}" if rows.size > 1 else ""
    return f"in row {rows[0] + 1} (counted from 1, without the header{more})"
