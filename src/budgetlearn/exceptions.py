"""Errors and warnings, which state what was expected, what was found and what to do."""

import warnings
from contextlib import contextmanager


class BudgetlearnError(Exception):
    """Base class of budgetlearn's own errors."""


class BudgetlearnWarning(UserWarning):
    """A result that is worse than it should be, or an input that may be a mistake."""


class IncompletePathWarning(BudgetlearnWarning):
    """A path of models that ends early, because its solver did not finish."""


class CostError(BudgetlearnError, ValueError):
    """Invalid feature costs, such as negative, infinite or too few ones."""


class BudgetError(BudgetlearnError, ValueError):
    """A budget that no model can meet; the message names the smallest budget that would do.

    Parameters
    ----------
    message : str
        What was requested, and the budget that would be needed.
    cheapest : float, default=None
        The smallest budget that a model can meet.
    """

    def __init__(self, message, cheapest=None):
        super().__init__(message)
        self.cheapest = cheapest

    def __reduce__(self):
        return type(self), (self.args[0], self.cheapest)


class MissingValueError(BudgetlearnError, ValueError):
    """A cell that a prediction needs is missing; the message names row and column."""


class GuaranteeError(BudgetlearnError, ValueError):
    """No operating point keeps the limits with the requested confidence."""


class DatasetError(BudgetlearnError):
    """A data set that could not be fetched, read or verified."""


class ConfigError(BudgetlearnError, ValueError):
    """A study configuration or a pipeline that names unknown things or contradicts itself."""


class MissingExtraError(BudgetlearnError, ImportError):
    """A package that only some classes need is not installed; the message names the extra."""


@contextmanager
def extra(name, user):
    """Turn a failing import into a `MissingExtraError`, which names `user` and the extra `name`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == __package__:  # a bug in this package
            raise
        wanted = f"'budgetlearn[{name}]'" if name else error.name  # None: it is in no extra
        what = f"{user} needs the package {error.name!r}, which is not installed"
        raise MissingExtraError(f"{what}. Install it with: pip install {wanted}") from error


@contextmanager
def heard(category, note):
    """Call `note` with the text of each warning of a category; show others as usual."""
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
