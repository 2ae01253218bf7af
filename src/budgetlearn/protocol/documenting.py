"""The parameters that most methods of an estimator take, described once for all of them."""

import inspect

X = """\
X : array-like of shape (n_samples, n_features)
    Examples. Cells that are not looked at may be NaN; columns that no example looks at may be
    left out of a DataFrame."""

LIMITS = """\
budget : float, default=None
    Most that a prediction may cost on average: the operating point with the best validation score
    among those whose mean cost on validation data is within it. None: the estimator's own choice.
max_cost : float, default=None
    Most that any single example may cost."""

FALLBACK = """\
fallback : bool, default=False
    Where the budget, the cap or missing values rule the chosen model out: whether to use the next
    best model that does without, in the end the constant prediction that costs nothing, instead of
    raising."""

REFUSALS = """\
BudgetError
    When no operating point is within the budget or the cap; the message names the cheapest one.
MissingValueError
    When a cell that has to be looked at is missing."""

_TEXTS = {
    "{X}": X,
    "{limits}": LIMITS,
    "{choice}": f"{LIMITS}\n{FALLBACK}",
    "{refusals}": REFUSALS,
}


def described(method):
    """Write what shared parameters mean where the docstring of a method has their mark.

    Parameters
    ----------
    method : callable
        With "{X}", "{limits}" (budget and max_cost), "{choice}" (those and fallback) or
        "{refusals}" on a line of its own.

    Returns
    -------
    callable
        The same.
    """
    if method.__doc__ is not None:  # python -OO has none
        lines = inspect.cleandoc(method.__doc__).split("\n")
        method.__doc__ = "\n".join(_TEXTS.get(line, line) for line in lines)
    return method
