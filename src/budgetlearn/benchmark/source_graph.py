"""Which source files a class or a script depends on, read without importing any of them.

Followed are imports inside budgetlearn and inside code of the user's own; what pip installed is
known by its version instead. A package's ``__init__`` that only passes a name on is looked through:
code that takes one class from a package does not depend on its neighbours.
"""

import importlib
import importlib.util
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from .source_facts import facts_of

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = ("site-packages", "dist-packages")
SUFFIXES = (".py", ".pyx", ".pxd", *EXTENSION_SUFFIXES)


@cache
def _top(name):
    """Return where a top-level module lies, None if its source is not to be followed."""
    if name == "budgetlearn":
        return PACKAGE
    if name in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    places += [spec.origin] if spec is not None and spec.has_location else []
    return Path(places[0]) if places else None


def _base(module):
    """Return the path of a module without its suffix; None where it cannot be known."""
    first, *rest = module.split(".")
    top = _top(first)
    if top is None:
        return None
    return top.joinpath(*rest) if rest or top.is_dir() else top.with_suffix("")


def _tracked(path):
    """Tell whether a file is budgetlearn's or the user's own, rather than an installed one."""
    return path.is_relative_to(PACKAGE) or not set(INSTALLED) & set(path.parts)


def is_own(module):
    """Tell whether a module is the user's own: source that neither pip nor Python brought."""
    if module.split(".")[0] == "budgetlearn":
        return False
    base = _base(module)
    return base is None or _tracked(base)


@cache
def source_files(module):
    """Return the files that make a module: source of Python or Cython, and the compiled kernel.

    Parameters
    ----------
    module : str
        Dotted name.

    Returns
    -------
    tuple of Path
    """
    base = _base(module)
    if base is None:
        return ()
    names = [base.with_name(base.name + suffix) for suffix in SUFFIXES]
    return tuple(path for path in (base / "__init__.py", *names) if path.is_file())


def kernel_of(source):
    """Return the compiled kernel beside a ``.pyx`` file, None if it was never built."""
    places = (source.with_name(source.stem + suffix) for suffix in EXTENSION_SUFFIXES)
    return next((path for path in places if path.is_file()), None)


@cache
def home_of(module, name):
    """Return the module that makes `name`, which `module` may only pass on.

    Parameters
    ----------
    module : str
        Dotted module that `name` is taken from.
    name : str
        A class, function or submodule.

    Returns
    -------
    str or None
        None when the source shows no such name, which may be made while the module is imported.
    """
    if source_files(f"{module}.{name}"):
        return f"{module}.{name}"
    for path in source_files(module):
        if path.suffix != ".py":
            return module
        facts = facts_of(path)
        origin = facts.passed_on.get(name)
        if origin is not None and source_files(origin.module):
            return home_of(origin.module, origin.name)
        if origin is not None or name == "*" or name in facts.made:
            return module
    return None


def _target(wanted):
    """Return the module that an import leads to, None if that is not to be followed."""
    files = source_files(wanted.module)
    if wanted.name is None or not (files or source_files(f"{wanted.module}.{wanted.name}")):
        return wanted.module
    home = home_of(wanted.module, wanted.name)
    if home is None and _tracked(files[0]):
        # A name that the source does not show: made by ``__getattr__``, so it has to be asked.
        found = getattr(importlib.import_module(wanted.module), wanted.name, None)
        home = getattr(found, "__module__", None) or wanted.module
    return home


def compiled_into(source):
    """Return a ``.pyx`` file and every file that Cython compiles into its kernel.

    Parameters
    ----------
    source : Path
        The ``.pyx`` file.

    Returns
    -------
    list of Path
    """
    reached, waiting = [], [source, *source.parent.glob(f"{source.stem}.pxd")]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.append(path)
        for wanted in facts_of(path).imports:
            module = _target(wanted) if wanted.compiled else None
            waiting += [file for file in source_files(module or "") if file.suffix == ".pxd"]
    return reached


def closure(imports):
    """Return every source file that a set of imports leads to.

    Parameters
    ----------
    imports : iterable of Import
        Where to start.

    Returns
    -------
    dict of str to tuple of Path
        Module → its files, for modules of budgetlearn and of the user's own.
    """
    reached, waiting = {}, list(imports)
    while waiting:
        module = _target(waiting.pop())
        if module is None or module in reached:
            continue
        files = tuple(path for path in source_files(module) if _tracked(path))
        reached[module] = files
        for path in files:
            waiting += facts_of(path).imports
    return {module: files for module, files in reached.items() if files}
