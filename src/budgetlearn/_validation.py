"""Checks of numbers and tables that several modules share."""

import hashlib
import numbers

import numpy as np

from .exceptions import BudgetlearnError


class ParameterError(BudgetlearnError, ValueError):
    """A parameter outside its range."""


def check_number(value, name, *, low=None, high=None, integer=False, low_open=False):
    """Return `value` if it is a number inside [low, high], else raise `ParameterError`.

    Parameters
    ----------
    value : object
        The candidate.
    name : str
        How the message names it.
    low, high : float, default=None
        Bounds, inclusive unless `low_open`.
    integer : bool, default=False
        Whether only whole numbers are accepted.
    low_open : bool, default=False
        Whether `low` itself is refused.

    Returns
    -------
    int or float
        The value, unchanged.
    """
    kind = numbers.Integral if integer else numbers.Real
    wanted = "an integer" if integer else "a number"
    if low is not None:
        wanted += f" {'>' if low_open else '>='} {low}"
    if high is not None:
        wanted += f" and <= {high}"
    good = isinstance(value, kind) and not isinstance(value, (bool, np.bool_)) and value == value
    if good and low is not None:
        good = value > low if low_open else value >= low
    if good and high is not None:
        good = value <= high
    if not good:
        raise ParameterError(f"{name} must be {wanted}, got {value!r}.")
    return value


def check_choice(value, name, choices):
    """Return `value` if it is one of `choices`, else raise `ParameterError`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be one of {listed}, got {value!r}.")
    return value


def derive_seed(*parts):
    """Return a 32-bit seed that depends on `parts` only, not on order of work or machine.

    Parameters
    ----------
    *parts : object
        Anything with a stable `str`; integers and strings in practice.

    Returns
    -------
    int
        In [0, 2**32).
    """
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "little")
