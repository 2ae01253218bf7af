"""Renew src/budgetlearn/__init__.pyi (`make docs`): the types of all that the package exports.

A stub, because classes of scikit-learn, which has no types, would make every attribute of an
estimator `Any`. Types that no signature has are those of the docstrings.
"""

import inspect
import re
import textwrap
from pathlib import Path

from sklearn.base import BaseEstimator

import budgetlearn as b
from budgetlearn.protocol.documenting import COMMON, entries_of, sections_of

STUB = Path(b.__file__).with_name("__init__.pyi")
HEAD = '''"""Types of the public names, written by docs/write_types.py: run `make docs`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .auto.device import Recommended
from .budgetrf.forest import Growth, Leaves
from .protocol.operating_points import Certificate
from .protocol.prediction import Session
from .protocol.feature_requests import Decisions
from .protocol.feature_requests import Stage as Stage
from .protocol.scoring import BudgetScorer

__version__: str
'''
PLAIN = {
    **dict.fromkeys(("float", "int", "bool", "str"), None),
    "dict": "dict[Any, Any]",
    "DataFrame": "pd.DataFrame",
    "pandas.DataFrame": "pd.DataFrame",
    "ndarray": "NDArray[Any]",
    "None": "None",
}
# What each instance of scikit-learn has, typed here because its own classes are not.
PARAMETERS = {
    "get_params": "(self, deep: bool = ...) -> dict[str, Any]",
    "set_params": "(self, **params: Any) -> Self",
}
INHERITED = {
    b.BudgetedEstimator: PARAMETERS,
    b.BudgetPreprocessor: PARAMETERS
    | {
        "fit_transform": "(self, X: Any, y: Any = ...) -> Any",
        "get_feature_names_out": "(self, input_features: Any = ...) -> Any",
    },
    b.BudgetPipeline: PARAMETERS,
}


def type_of(text):
    """Return the type that a numpydoc description names, Any where it is not a plain one."""
    text, _, default = text.partition(", default=")
    text = re.sub(r" of (shape|float|int|bool|str|object)\b.*", "", text)
    if text.startswith("{") and text.endswith("}") and '"' in text:
        text = "str"
    parts = [part.strip() for part in re.split(r" or |, ", text)]
    if default.startswith("None"):
        parts.append("None")
    if not all(part in PLAIN for part in parts):
        return "Any"
    return " | ".join(dict.fromkeys(PLAIN[part] or part for part in parts))


def named_types(doc, section):
    """Return the type of each name in a section of a docstring."""
    found = {}
    for name, entry in entries_of(sections_of(doc).get(section, "")).items():
        found[name] = type_of(entry.split("\n")[0].partition(" : ")[2])
    return found


def annotation(value):
    """Return an annotation as the stub writes it; None where there is none."""
    if value is inspect.Signature.empty:
        return None
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    # The stub imports our classes by their names.
    text = re.sub(r"\bbudgetlearn\.[\w.]*\.(\w+)", r"\1", text)
    text = re.sub(r"\bArray\b|\bnumpy\.ndarray\b", "NDArray[Any]", text)
    return re.sub(
        r"\btuple\b(?!\[)", "tuple[Any, ...]", re.sub(r"\blist\b(?!\[)", "list[Any]", text)
    )


def signature(function, known=None, bound=True):
    """Return the parameters and the result of a function, with types, as the stub writes them."""
    made, types = inspect.signature(function), named_types(inspect.getdoc(function), "Parameters")
    types |= known or {}
    parts, star = [], False
    for place, (name, each) in enumerate(made.parameters.items()):
        if bound and place == 0 and name in ("self", "cls"):
            parts.append(name)
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            parts.append("*")
        star |= each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        mark = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        kind = annotation(each.annotation) or types.get(name, "Any")
        parts.append(f"{mark}{name}: {kind}{'' if each.default is each.empty else ' = ...'}")
        if each.kind is each.POSITIONAL_ONLY:
            parts.append("/")
    returned = named_types(inspect.getdoc(function), "Returns")
    result = annotation(made.return_annotation) or next(iter(returned.values()), "Any")
    return f"({', '.join(parts)}) -> {'None' if function.__name__ == '__init__' else result}"


def own_members(cls):
    """Return what a class and its bases define by name, but for what the stub has of a base."""
    shown = {}
    for base in reversed(cls.__mro__):
        ours = base.__module__.startswith("budgetlearn")
        if ours and (cls is base or base is not b.BudgetedEstimator):
            shown |= {name: each for name, each in vars(base).items() if not name.startswith("_")}
    if issubclass(cls, b.BudgetedEstimator) and cls is not b.BudgetedEstimator:
        # Those that are called as the base's are have the base's types.
        shown = {name: each for name, each in shown.items() if not as_in_base(name, each)}
    return dict(sorted(shown.items()))


def as_in_base(name, member):
    """Return True where the base of all estimators has a member that takes the same."""
    base = getattr(b.BudgetedEstimator, name, None)
    return base is not None and called(member) == called(base)


def called(member):
    """Return the names of the parameters of a method, or of a property's getter."""
    names = ("fget", "func", "fn", "__func__")
    function = next((getattr(member, n) for n in names if hasattr(member, n)), member)
    return list(inspect.signature(function).parameters) if callable(function) else None


def written(name, member):
    """Return the lines of a property or method; None for anything else."""
    getter = getattr(member, "fget", None) or getattr(member, "func", None)
    if getter is not None:
        return f"@property\ndef {name}{signature(getter)}: ..."
    if isinstance(member, classmethod):
        return f"@classmethod\ndef {name}{signature(member.__func__)}: ..."
    if inspect.isfunction(member) or hasattr(member, "fn"):  # of `available_if`
        return f"def {name}{signature(getattr(member, 'fn', member))}: ..."
    return None


def shared_attributes():
    """Return the attributes of all estimators, and their types."""
    found = named_types(COMMON, "Attributes") | {"feature_costs": "Any"}
    del found["classes_"]  # of classifiers alone
    return found


def members(cls):
    """Yield the lines of the public members of a class."""
    doc, estimates = inspect.getdoc(cls), issubclass(cls, BaseEstimator)
    types = named_types(doc, "Parameters")
    attributes = named_types(doc, "Attributes")
    if not issubclass(cls, Exception):
        yield f"def __init__{signature(cls.__init__, types)}: ..."
    if estimates:  # parameters are attributes
        attributes |= {name: types.get(name, "Any") for name in inspect.signature(cls).parameters}
    if cls is b.BudgetedEstimator:
        attributes = shared_attributes()
    elif issubclass(cls, b.BudgetedEstimator):
        attributes = {n: kind for n, kind in attributes.items() if n not in shared_attributes()}
    if cls in INHERITED:
        yield from (f"def {name}{text}: ..." for name, text in INHERITED[cls].items())
    own = {name: written(name, each) for name, each in own_members(cls).items()}
    yield from filter(None, own.values())
    properties = {name for name, line in own.items() if line and line.startswith("@property")}
    for name, kind in sorted(attributes.items()):
        if name.isidentifier() and name not in properties:
            yield f"{name}: {kind}"


def by_name(lines):
    """Return the lines of members by the name of each."""
    return {re.match(r"(?:.*\n)?(?:def )?(\w+)", line)[1]: line for line in lines}


def shared_bases(classes, shown):
    """Add the bases of several public classes to those shown, with what these have in common."""
    bases = {base for cls in classes for base in cls.__mro__[1:]} - set(classes)
    for base in bases:
        heirs = [shown[cls].items() for cls in classes if issubclass(cls, base)]
        common = set(heirs[0]).intersection(*heirs[1:])
        ours = base.__module__.startswith("budgetlearn")
        if ours and len(heirs) > 1 and common:
            shown[base] = dict(line for line in heirs[0] if line in common)


def nearest(cls, shown):
    """Yield the nearest bases of a class that the stub shows."""
    for base in cls.__bases__:
        yield from (base,) if base in shown or issubclass(cls, Exception) else nearest(base, shown)


def class_text(cls, shown):
    """Return a class as the stub writes it, without what its bases have alike."""
    bases = list(dict.fromkeys(nearest(cls, shown)))
    # Of a base and one that is derived from it the latter is enough.
    bases = [base for base in bases if sum(issubclass(other, base) for other in bases) == 1]
    inherited = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= shown.get(base, {})
    own = [line for name, line in shown[cls].items() if inherited.get(name) != line]
    listed = ", ".join(written_name(base) for base in bases)
    head = f"class {written_name(cls)}({listed}):" if bases else f"class {written_name(cls)}:"
    return head + "\n" + textwrap.indent("\n".join(own), "    ") if own else f"{head} ..."


def written_name(cls):
    """Return the name of a class; what is not public begins with an underscore."""
    public = hasattr(b, cls.__name__) or issubclass(cls, Exception)
    return cls.__name__ if public else f"_{cls.__name__.lstrip('_')}"


def stub():
    """Return the text of the stub."""
    items = [getattr(b, name) for name in b.__all__[1:] if name != "Stage"]
    classes = [item for item in items if inspect.isclass(item)]
    shown = {cls: by_name(members(cls)) for cls in classes}
    shared_bases(classes, shown)
    parts = {written_name(cls): class_text(cls, shown) for cls in shown}
    for item in items:
        if item not in shown:
            parts[item.__name__] = f"def {item.__name__}{signature(item, bound=False)}: ..."
    return "\n\n".join([HEAD, *(parts[name] for name in sorted(parts))]) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
