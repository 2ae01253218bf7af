"""Shared parameters of estimators and their methods, and the shared parts of docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import wraps
from typing import dataclass_transform

from sklearn.base import BaseEstimator, ClassifierMixin

from ..validation import check_choice, check_flag, check_number

# What must be within the budget: the measured mean cost, or its upper confidence bound.
EXPECTED, GUARANTEED = "expected", "guaranteed"

SHARED = """\
X : array-like of shape (n_samples, n_features)
    Examples. Cells that are not acquired may be NaN. Columns that no example acquires may be
    absent from a DataFrame.
y : array-like of shape (n_samples,)
    Their true targets.
groups : array-like of shape (n_samples,), default=None
    Group of each example, such as a patient. Standard errors then treat groups, not rows, as
    independent.
budget : float, default=None
    Largest mean cost of a prediction. Selects the operating point with the best score among those
    whose mean cost is within the budget, measured on validation data or, if `fit` had none, out of
    fold (see `operating_points_`). None: the estimator's own choice.
max_cost : float, default=None
    Largest cost of any single example.
fallback : bool, default=False
    What to do if the budget, the cap or missing values rule out the chosen model. True: use the
    next best model that is possible, in the end the constant prediction, which costs nothing.
    False: raise an error.
budget_mode : {"expected", "guaranteed"}, default="expected"
    What must be within the budget. "expected": the measured mean cost, which new examples exceed
    about as often as not. "guaranteed": an upper bound of it with confidence 0.95."""

REFUSALS = """\
BudgetError
    When no operating point is within the budget or the cap; the message names the cheapest one.
MissingValueError
    When a cell that the prediction needs is missing."""


@dataclass
class Limits:
    """The caller's limits on the cost of predictions."""

    budget: float | None = None
    max_cost: float | None = None
    _: KW_ONLY
    fallback: bool = False
    budget_mode: str = EXPECTED

    def __post_init__(self):
        for name in ("budget", "max_cost"):
            check_number(getattr(self, name), name, low=0, none=True)
        check_choice(self.budget_mode, "budget_mode", (EXPECTED, GUARANTEED))
        check_flag(self.fallback, "fallback")


_LIMITS = inspect.signature(Limits).parameters


def limited(method):
    """Replace the last parameter, `limits`, of a method by the four parameters of `Limits`."""
    own = inspect.signature(method)
    before = [each for name, each in own.parameters.items() if name != "limits"]
    taken = own.replace(parameters=[*before, *_LIMITS.values()])

    @wraps(method)
    def called(*args, **named):
        try:
            given = taken.bind(*args, **named).arguments
        except TypeError as error:  # names the method and its public parameters
            raise TypeError(f"{method.__qualname__}() {error}") from None
        limits = {name: given.pop(name) for name in _LIMITS if name in given}
        return method(**given, limits=Limits(**limits))

    called.__signature__ = taken
    return described(called)


def described(method, shared=SHARED):
    """Add the shared parameters, and errors about budgets, to the docstring of a method."""
    # Parameters come in the order of the signature. Descriptions in the docstring itself are kept.
    if method.__doc__ is not None:  # python -OO has none
        sections = sections_of(method.__doc__)
        summary, own = sections.pop(""), entries_of(sections.pop("Parameters", ""))
        taken, known = inspect.signature(method).parameters, entries_of(shared) | own
        described = dict.fromkeys(known[name] for name in taken if name not in ("self", "cls"))
        parameters = "\n".join(described)
        if {"self", "fallback"} <= taken.keys():
            sections.setdefault("Raises", REFUSALS)
        method.__doc__ = _joined({"": summary, "Parameters": parameters, **sections})
    return method


# Descriptions for parameters that neither a class nor its bases describe.
COMMON = """\
Parameters
----------
feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
    Cost of each feature; None: 1 each. The charge of a cost group is paid once. Where features are
    considered one by one, each counts with its group's charge.
n_estimators : int, default=100
    Number of trees.
max_depth : int, default=None
    Largest depth of a tree; None: grow until the leaves are pure.
min_samples_leaf : int, default=1
    Smallest number of examples on each side of a split. An example counts as often as the tree
    drew it, times its weight.
learning_rate : float, default=0.2
    Shrinkage of each tree.
num_leaves : int, default=8
    Largest number of leaves of a tree.
min_child_samples : int, default=5
    Smallest number of training examples in a leaf.
max_bins : int, default=None
    Number of quantile bins for each feature; 255 is fast. None: exact splits.
monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
    1: the probability of the second of two classes must not fall as the feature rises; -1: it must
    not rise; 0: no constraint. A dict by name may leave out features without a constraint. Splits
    that violate a constraint are not made.
budget : float, default=None
    Budget of `predict` when it is called without one.
scoring : str or callable, default=None
    Score, as in scikit-learn, of the operating points on validation data; `budget` selects the
    operating point by it. None: accuracy, or R² in regression.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes in each fit, as in scikit-learn.
validation_fraction : float, default=0.25
    Share of each class held out to compare models if `fit` gets no validation data.
random_state : int, RandomState instance or None, default=None
    Source of randomness.
n_jobs : int, default=None
    Threads, as in joblib. The model does not depend on it.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Class labels.
feature_costs_ : FeatureCosts
    The costs in use.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
    Names of the features, if X had names.
categories_ : dict
    By name of each categorical feature (pandas' type category): the categories in the order of
    their codes 0, 1, …; without an order of their own, that of their mean targets in training.
"""
_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}$\n?", re.MULTILINE)


def sections_of(doc):
    """Return the text of each section by its heading; the summary's heading is empty."""
    summary, *rest = _HEADING.split(inspect.cleandoc(doc or ""))
    return {"": summary.strip(), **dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))}


def _joined(sections):
    """Return the docstring of some sections, without empty ones."""
    parts = [f"{h}\n{'-' * len(h)}\n{text}" if h else text for h, text in sections.items() if text]
    return "\n\n".join(parts) + "\n"


def entries_of(section):
    """Return the description of each name in a section of parameters or attributes."""
    found = {}
    for entry in re.split(r"\n(?=\S)", section) if section else ():
        for name in re.split(r" :|\n", entry)[0].split(", "):
            found[name.lstrip("*")] = entry
    return found


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator_class(cls):
    """Turn the fields of a class into keyword parameters, and complete its docstring."""
    return documented(dataclass(eq=False, repr=False, kw_only=True)(cls))


def check_flags(estimator):
    """Raise `ParameterError` if a parameter declared as bool is none of True, False, 1 and 0."""
    for each in fields(estimator):
        value = getattr(estimator, each.name)
        number = isinstance(value, int) and value in (0, 1)  # as in verbose=1
        if each.type in (bool, "bool") and not number:
            check_flag(value, each.name)


def documented(estimator):
    """Complete the docstring of a class with parameters and attributes that its bases describe."""
    # Missing descriptions come from the nearest base, or else from `COMMON`. Parameters are in the
    # order of the constructor. References come from the nearest class that has some.
    if estimator.__doc__ is None:  # python -OO
        return estimator
    # The original docstrings, because those of bases may already have been completed.
    written = (vars(cls).get("_written_doc", vars(cls).get("__doc__")) for cls in estimator.__mro__)
    own, *bases = map(sections_of, written)
    common = [sections_of(COMMON)] if issubclass(estimator, BaseEstimator) else []
    parameters, attributes = {}, {}
    for sections in (own, *bases, *common):  # the nearest first: it wins
        parameters = entries_of(sections.get("Parameters", "")) | parameters
        for name, entry in entries_of(sections.get("Attributes", "")).items():
            attributes.setdefault(name, entry)
    if not issubclass(estimator, ClassifierMixin):
        attributes.pop("classes_", None)
    references = next((each["References"] for each in (own, *bases) if "References" in each), "")
    taken = (parameters.get(name) for name in inspect.signature(estimator).parameters)
    described = {
        "": own.pop(""),
        "Parameters": "\n".join(dict.fromkeys(filter(None, taken))),
        "Attributes": "\n".join(dict.fromkeys(attributes.values())),
    }
    last = {"References": references, "Examples": own.pop("Examples", "")}
    # Kept for subclasses: a base without a constructor may describe their parameters.
    estimator._written_doc = estimator.__doc__
    # `described` comes twice: first for the order of sections, again to replace the class's own.
    estimator.__doc__ = _joined(described | own | described | last)
    return estimator
