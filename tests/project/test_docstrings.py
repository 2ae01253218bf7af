"""Every public name says what it takes and gives, in numpydoc's form."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
from numpydoc.validate import validate

import budgetlearn

# What a reader needs; taste (capitals, full stops, See Also, examples) is left to the author.
CHECKS = {
    "GL05", "GL06", "GL07", "GL08", "SS01", "SS03",
    "PR01", "PR02", "PR03", "PR04", "PR10", "RT01", "YD01",
}  # fmt: skip
# Arguments of compiled functions are typed in their signature, which numpydoc cannot read.
COMPILED_CHECKS = {"GL08", "SS01"}


def public_modules():
    """Yield the modules with no private part in their name."""
    for info in pkgutil.walk_packages(budgetlearn.__path__, "budgetlearn."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield importlib.import_module(info.name)


def is_callable_member(member):
    return inspect.isroutine(member) or isinstance(member, (classmethod, staticmethod, property))


def public_names(module):
    """Yield the dotted names of what a module defines: functions, classes and their methods."""
    for name, item in vars(module).items():
        here = getattr(item, "__module__", None) == module.__name__
        if name.startswith("_") or not here or not (inspect.isclass(item) or callable(item)):
            continue
        yield f"{module.__name__}.{name}"
        if inspect.isclass(item):
            for key, member in vars(item).items():
                if not key.startswith("_") and is_callable_member(member):
                    yield f"{module.__name__}.{name}.{key}"


MODULES = list(public_modules())
NAMES = {
    name: CHECKS if module.__file__.endswith(".py") else COMPILED_CHECKS
    for module in MODULES
    for name in public_names(module)
}


def problems(name, checks):
    return [message for code, message in validate(name)["errors"] if code in checks]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_module_says_what_it_is_for(module):
    assert module.__doc__ or not Path(module.__file__).read_bytes().strip()


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_documented(name):
    assert not problems(name, NAMES[name])


def undocumented_argument(costs):
    """Return something.

    Parameters
    ----------
    prices : float
        Not what the argument is called.
    """
    return costs


def test_check_sees_a_missing_argument_and_a_missing_return():
    found = " ".join(problems(f"{__name__}.undocumented_argument", CHECKS))
    assert "{'costs'} not documented" in found
    assert "Unknown parameters {'prices'}" in found
    assert "No Returns section" in found
