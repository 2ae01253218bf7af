"""Public names say what they take and give, in numpydoc's form.

What budgetlearn exports, what its methods return, and the data sets of the benchmark are the
interface: every argument and result is documented. Other names without an underscore serve the
project itself: a sentence is enough, but it must not be wrong. The settings of numpydoc's linter
have one list of checks for all names.
"""

import dataclasses
import functools
import importlib
import inspect
import pkgutil
from pathlib import Path

import numpydoc.validate
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import Validator, validate

import budgetbench
import budgetlearn
from budgetlearn import protocol

# Taste (capitals, See Also, examples) is left to the author.
NOT_WRONG = {"GL05", "GL06", "GL07", "GL08", "SS01", "SS03", "PR02", "PR03", "PR10"}
COMPLETE = NOT_WRONG | {"PR01", "PR04", "RT01", "YD01"}
# Modules beside the package that users import from.
INTERFACES = {"budgetlearn.curves", "budgetlearn.metrics"}
RETURNED = {
    getattr(protocol, name) for name in ("BudgetedTags", "Certificate", "Decisions", "Session")
}
# Arguments of compiled functions are typed in their signature, which numpydoc cannot read.
COMPILED = {"GL08", "SS01"}


def public_modules():
    """Yield the modules with no private part in their name."""
    for package in (budgetlearn, budgetbench):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part.startswith("_") for part in info.name.split(".")):
                yield importlib.import_module(info.name)


def public_items(module):
    """Yield the functions and classes that a module defines."""
    for name, item in vars(module).items():
        here = getattr(item, "__module__", None) == module.__name__
        if here and not name.startswith("_") and callable(item):
            yield item


def members(item):
    """Yield the names of the public methods and properties that a class itself defines."""
    kinds = (classmethod, staticmethod, property)
    for name, member in vars(item).items() if inspect.isclass(item) else ():
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, kinds)):
            inherited = any(getattr(vars(b).get(name), "__doc__", None) for b in item.__mro__[1:])
            if member.__doc__ or not inherited:  # else it is described at the base
                yield name


MODULES = list(public_modules())
# Of the benchmark users import the data sets only; the rest serves the workflow.
PACKAGES = [budgetlearn, *(m for m in MODULES if m.__name__.startswith("budgetbench.datasets"))]
EXPORTED = {getattr(each, name) for each in PACKAGES for name in getattr(each, "__all__", ())}
EXPORTED |= RETURNED


def fields_are_attributes(item):
    """Tell whether this is a dataclass with all its fields described as attributes."""
    if not dataclasses.is_dataclass(item):
        return False
    attributes = NumpyDocString(inspect.getdoc(item))["Attributes"]
    described = {part.strip() for attribute in attributes for part in attribute.name.split(",")}
    own = inspect.get_annotations(item)  # inherited fields are described at the base
    return {f.name for f in dataclasses.fields(item) if f.init and f.name in own} <= described


def checks_of(module, item):
    """Return the checks that a function or class, and its methods, must pass."""
    if not module.__file__.endswith(".py"):
        return COMPILED
    return COMPLETE if item in EXPORTED or module.__name__ in INTERFACES else NOT_WRONG


def public_names(module):
    """Yield (dotted name, checks) of a module's functions, classes and methods."""
    for item in public_items(module):
        name, checks = f"{module.__name__}.{item.__name__}", checks_of(module, item)
        yield name, checks - {"PR01"} if fields_are_attributes(item) else checks
        for member in members(item):
            yield f"{name}.{member}", checks


def problems(name, checks):
    """Return what numpydoc finds wrong with a docstring."""
    return [message for code, message in validate(name)["errors"] if code in checks]


def test_modules_and_their_public_names_are_documented(monkeypatch):
    # Of what takes most of the time the line of a name is not asked for, nor comments that excuse
    # a fault; the titles of a docstring are asked for fifteen times.
    monkeypatch.setattr(Validator, "source_file_def_line", 0)
    monkeypatch.setattr(numpydoc.validate, "extract_ignore_validation_comments", lambda *_: {})
    titles = functools.cache(Validator.section_titles.fget)
    monkeypatch.setattr(Validator, "section_titles", property(titles))
    assert len(MODULES) > 150
    found = {}
    for module in MODULES:
        if Path(module.__file__).read_bytes().strip() and not module.__doc__:
            found[module.__name__] = ["no docstring"]
        found |= {name: problems(name, checks) for name, checks in public_names(module)}
    assert not {name: wrong for name, wrong in found.items() if wrong}


def undocumented_argument(costs):
    """Return something.

    Parameters
    ----------
    prices : float
        Not what the argument is called.
    """
    return costs


def test_check_sees_a_missing_argument_and_a_missing_return():
    found = " ".join(problems(f"{__name__}.undocumented_argument", COMPLETE))
    assert "{'costs'} not documented" in found
    assert "Unknown parameters {'prices'}" in found
    assert "No Returns section" in found
