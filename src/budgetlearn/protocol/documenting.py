"""What estimators and their methods have in common: parameters, and what is said of them."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass, field
from functools import wraps
from typing import dataclass_transform

from sklearn.base import BaseEstimator, ClassifierMixin

from ..validation import ParameterError, check_choice, check_number, is_flag

# How a mean cost keeps a budget: as it was measured, or beyond reasonable doubt.
EXPECTED, GUARANTEED = "expected", "guaranteed"

SHARED = """\
X : array-like of shape (n_samples, n_features)
    Examples. Cells that are not looked at may be NaN; columns that no example looks at may be
    left out of a DataFrame.
y : array-like of shape (n_samples,)
    Their true targets.
groups : array-like of shape (n_samples,), default=None
    What each example belongs to, such as a patient: standard errors are of as many groups.
budget : float, default=None
    Most that a prediction may cost on average: the operating point with the best score among those
    whose mean cost is within it, on validation data or, where `fit` had none, out of fold (see
    `operating_points_`). None: the estimator's own choice.
max_cost : float, default=None
    Most that any single example may cost.
fallback : bool, default=False
    Where the budget, the cap or missing values rule the chosen model out: whether to use the next
    best model that does without, in the end the constant prediction that costs nothing, instead of
    raising.
budget_mode : {"expected", "guaranteed"}, default="expected"
    Whether the measured mean cost has to be within the budget, which new examples then exceed
    about as often as not, or an upper bound of it with confidence 0.95."""

REFUSALS = """\
BudgetError
    When no operating point is within the budget or the cap; the message names the cheapest one.
MissingValueError
    When a cell that has to be looked at is missing."""


@dataclass
class Limits:
    """Limits of the cost of a prediction, as its caller sets them."""

    budget: float | None = None
    max_cost: float | None = None
    _: KW_ONLY
    fallback: bool = False
    budget_mode: str = EXPECTED

    def __post_init__(self):
        for name in ("budget", "max_cost"):
            check_number(getattr(self, name), name, low=0, none=True)
        check_choice(self.budget_mode, "budget_mode", (EXPECTED, GUARANTEED))
        if not is_flag(self.fallback):
            raise ParameterError(f"fallback must be True or False, got {self.fallback!r}.")


_LIMITS = inspect.signature(Limits).parameters


def limited(method):
    """Let a method whose last parameter is `limits` take the four, one by one, in its place.

    What it is called with, and messages about that, name the method and its parameters.
    """
    own = inspect.signature(method)
    before = [each for name, each in own.parameters.items() if name != "limits"]
    taken = own.replace(parameters=[*before, *_LIMITS.values()])

    @wraps(method)
    def called(*args, **named):
        try:
            given = taken.bind(*args, **named).arguments
        except TypeError as error:
            raise TypeError(f"{method.__qualname__}() {error}") from None
        limits = {name: given.pop(name) for name in _LIMITS if name in given}
        return method(**given, limits=Limits(**limits))

    called.__signature__ = taken
    return described(called)


def described(method, shared=SHARED):
    """Complete the docstring of a method by the shared parameters, and by what budgets raise.

    The parameters come in the order of the signature; one that the docstring describes itself is
    left as it is.
    """
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


# What a class may leave out of its docstring although no base of its own describes it.
COMMON = """\
Parameters
----------
feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
    Cost of each feature; None: 1 each. What the features of a group share is paid once; where
    features are weighed one by one, each counts with its group's charge.
n_estimators : int, default=100
    Number of trees.
max_depth : int, default=None
    Greatest depth; None: grow until the leaves are pure.
min_samples_leaf : int, default=1
    Least examples on each side of a split: each as often as its tree drew it, and times its
    weight.
learning_rate : float, default=0.2
    Shrinkage of each tree.
num_leaves : int, default=8
    Most leaves of a tree.
min_child_samples : int, default=5
    Least training examples in a leaf.
max_bins : int, default=None
    Quantile bins for each feature, 255 is fast; None: exact.
monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
    1 where the probability of the second of two classes must not fall as the feature rises, -1
    where it must not rise, 0 elsewhere; or a dict of some by name. Splits that break it are not
    taken.
budget : float, default=None
    Budget of `predict` where its call names none.
scoring : str or callable, default=None
    Score, as in scikit-learn, of the operating points on validation data, by which `budget`
    chooses; None: accuracy.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes in each fit, as in scikit-learn.
validation_fraction : float, default=0.25
    Share of each class held out to compare models when `fit` gets no validation data.
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
    Names of the features, where X had some.
categories_ : dict
    Of each feature of words, a column of pandas' type category, the words in the order of their
    codes 0, 1, …: that of their mean target, learned from the training examples.
"""
_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}$\n?", re.MULTILINE)


def sections_of(doc):
    """Return the text of each section by its heading; the summary has none."""
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
    """Make the fields of a class its parameters, by keyword, and complete its docstring."""
    return documented(dataclass(eq=False, repr=False, kw_only=True)(cls))


def documented(estimator):
    """Complete the docstring of a class by what its bases say of parameters and attributes.

    Parameters that the docstring leaves out are described as in the nearest base, those that
    estimators have alike as in `COMMON`; their order is that of the constructor. The references are
    the nearest ones.
    """
    if estimator.__doc__ is None:  # python -OO
        return estimator
    # As they were written: those of bases may have been completed already.
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
    # A base without a constructor has no parameters of its own, but its classes have them.
    estimator._written_doc = estimator.__doc__
    estimator.__doc__ = _joined(described | own | described | last)
    return estimator
