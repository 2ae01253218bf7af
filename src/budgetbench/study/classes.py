"""The classes that methods name: whether they can be had and trusted, and which were meant."""

import importlib
import os
import pkgutil
import re
import sys

from budgetlearn.exceptions import ConfigError

from .configuration import close_to
from .fingerprints import OWN, is_followed, module_base
from .methods import classes_of, resolve

# Packages whose estimators do what their parameters say, and nothing else.
TRUSTED = ("budgetlearn", "lightgbm", "sklearn")
# Parameters of theirs that name files or folders, to write to or to unpickle from.
FILES = {"checkpoint", "memory"}


def refuse_untrusted(method, spec):
    """Refuse a specification that asks for other code than that of `TRUSTED`, or for files.

    Nothing is imported for the answer; a `ConfigError` says what to look at.
    """
    foreign = [name for name in classes_of(spec) if name.split(".")[0] not in TRUSTED]
    files = sorted(FILES.intersection(_parameters_of(spec)))
    if foreign or files:
        what = f"runs code of {foreign[0]}" if foreign else f"names a file in {files[0]!r}"
        raise ConfigError(
            f"method {method} {what}. Look at it first, then add --trust; without it all classes "
            f"come from {', '.join(TRUSTED)}."
        )


def _parameters_of(spec):
    """Yield the names of all parameters in a specification, nested ones by their last part."""
    if isinstance(spec, dict):
        for name, value in spec.items():
            yield str(name).rpartition("__")[2]
            yield from _parameters_of(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _parameters_of(value)


def find_classes_in(folder):
    """Let this process, and those it starts, import the user's own modules from a folder."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise ConfigError(f"there is no folder {folder} to import methods from (methods_path).")
    # At the end: a file of the user's must not hide a library of the same name.
    sys.path.append(folder)
    known = filter(None, [os.environ.get("PYTHONPATH"), folder])
    os.environ["PYTHONPATH"] = os.pathsep.join(known)


def _hint(name):
    """Return " Did you mean …?" for the first part of a dotted name that is not there, or ""."""
    parts = name.split(".")
    # The first part that cannot be had is the misspelt one.
    for end in range(1, len(parts)):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except Exception:
            siblings = _siblings(parts[: end - 1])
            return close_to(parts[end - 1], siblings) if parts[end - 1] not in siblings else ""
    return "" if hasattr(module, parts[-1]) else close_to(parts[-1], dir(module))


def _siblings(package):
    """Return the names of the modules in a package; outside of one, those methods come from."""
    if not package:
        return ["budgetlearn", "lightgbm", "sklearn"]
    paths = getattr(importlib.import_module(".".join(package)), "__path__", [])
    return [module.name for module in pkgutil.iter_modules(paths)]


def check_classes(method, spec):
    """Refuse a specification that names a class which cannot be had, before any job starts.

    Nested classes count. What budgetlearn and installed packages have is looked up in their source,
    which is fast; modules of the user's own are imported. A `ConfigError` names the closest names.
    """
    for name in classes_of(spec):
        if not _is_in_source(name):
            try:
                resolve(name)
            except ConfigError as error:
                raise ConfigError(f"method {method}: {error}{_hint(name)}") from error


def _is_in_source(name):
    """Return whether the source of a package that is not the user's own has the name of a class."""
    module, _, attribute = name.rpartition(".")
    base = module_base(module)
    own = base is None or (is_followed(base) and module.split(".")[0] not in OWN)
    if own:
        return False
    word = re.compile(rf"^(?:class |from .*|    |    \"){attribute}\b", re.MULTILINE)
    places = (base / "__init__.py", base.with_name(f"{base.name}.py"))
    return any(word.search(path.read_text(encoding="utf-8")) for path in places if path.is_file())
