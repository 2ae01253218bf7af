"""Errors and warnings that users see: what was expected, what came and what to do."""

import warnings
from contextlib import contextmanager


class BudgetlearnError(Exception):
    """Base of every error that budgetlearn raises on its own account."""


class BudgetlearnWarning(UserWarning):
    """Work done, but not as well as it should: parameters much worse than others, a path cut."""


class IncompletePathWarning(BudgetlearnWarning):
    """A path of models that ends early, because its solver did not come to its end."""


class CostError(BudgetlearnError, ValueError):
    """Feature costs that cannot be used: negative, not finite, or of the wrong length."""


class BudgetError(BudgetlearnError, ValueError):
    """A budget that no model can meet; the message names the cheapest affordable one.

    Parameters
    ----------
    message : str
        What was asked for and what it would take.
    cheapest : float, default=None
        The least budget that some model would meet.
    """

    def __init__(self, message, cheapest=None):
        super().__init__(message)
        self.cheapest = cheapest

    def __reduce__(self):
        return type(self), (self.args[0], self.cheapest)


class MissingValueError(BudgetlearnError, ValueError):
    """A cell that a prediction has to look at is missing; the message names row and column."""


class GuaranteeError(BudgetlearnError, ValueError):
    """No operating point keeps the limits with the confidence that was asked for."""


class DatasetError(BudgetlearnError):
    """A data set that could not be fetched, read or verified."""


class ConfigError(BudgetlearnError, ValueError):
    """A study configuration that names unknown things or contradicts itself."""


class MissingExtraError(BudgetlearnError, ImportError):
    """A package that only some classes need is not installed; the message names the extra."""


@contextmanager
def extra(name, user):
    """Turn a failing import into a `MissingExtraError`: `user` needs what extra `name` holds.

    None: a package by itself, which no extra holds.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == __package__:  # a fault of our own
            raise
        wanted = f"'budgetlearn[{name}]'" if name else error.name
        raise MissingExtraError(
            f"{user} needs the package {error.name!r}, which is not installed. Install it with: "
            f"pip install {wanted}"
        ) from error


@contextmanager
def heard(category, note):
    """Call `note` with the text of each warning of a category; show all others as ever."""
    shown = warnings.showwarning

    def show(message, kind, *rest, **named):
        if issubclass(kind, category):
            note(str(message))
        else:
            shown(message, kind, *rest, **named)

    with warnings.catch_warnings():
        warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield
