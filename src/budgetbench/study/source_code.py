"""Hashes of the code that results depend on: an edit of code reruns the jobs that may run it.

An edit of the library, or of the benchmark's data sets and studies, reruns fits and preparation. An
edit of analysis or report only draws the page again. The hashes cover whole packages, including
comments and the compiled kernels, whose last bits depend on compiler and flags. For a user's class,
they cover its package, or the modules in its folder. Of packages installed by pip, versions are
recorded. This module imports nothing slow, because the Snakefile calls it at every start.
"""

import hashlib
import importlib.util
import os
import re
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from budgetlearn.exceptions import ConfigError

from .methods import classes_of, nested, resolve

ROOT = Path(__file__).resolve().parents[2]  # the folder of both packages
OWN = ("budgetlearn", "budgetbench")
INSTALLED = {"site-packages", "dist-packages"}
CODE = (".py", ".pyx", ".pxd", *EXTENSION_SUFFIXES)
# Files that decide the report's appearance.
DRAWN_WITH = (".py", ".j2", ".css", ".js", ".html", ".svg", ".yaml")
_CIMPORT = re.compile(r"^from (\.+)([\w.]+) cimport", re.MULTILINE)
# Packages whose estimators do nothing but what their parameters say.
TRUSTED = ("budgetlearn", "lightgbm", "sklearn")
# Parameters of these estimators that are paths to write to or to unpickle from.
FILES = {"checkpoint", "memory"}


def script_fingerprint(script, *classes):
    """Return a hash of the code that a job may run, including that of the user's `classes`."""
    library, benchmark = ROOT / "budgetlearn", ROOT / "budgetbench"
    files = {path for path in _files(library) if not path.is_relative_to(library / "cli")}
    files.update(*(_files(benchmark / name) for name in ("datasets", "study")))
    for source in files:
        if source.suffix == ".pyx":
            _check_kernel(source)
    return _digest({Path(script), *files}.union(*map(own_files, classes)))


def report_fingerprint(script):
    """Return a hash of the code, templates, style and scripts of the report."""
    # The command line's templates have the page's head and style.
    folders = ("budgetbench/report", "budgetbench/analysis", "budgetlearn/cli/templates")
    return _digest({Path(script)}.union(*(_files(ROOT / name, DRAWN_WITH) for name in folders)))


def own_files(name):
    """Return the set of files that a user's class may depend on; empty for any other class."""
    top = name.partition(".")[0]
    spec = None if top in OWN else _spec_of(top)
    if spec is None or _is_installed(spec):
        return set()
    if spec.submodule_search_locations:
        return set().union(*map(_files, map(Path, spec.submodule_search_locations)))
    # A single module may import those in its folder. Subfolders could be anything.
    return {path for path in Path(spec.origin).parent.iterdir() if path.name.endswith(CODE)}


def _files(folder, endings=CODE):
    return {path for path in folder.rglob("*") if path.name.endswith(endings)}


def _digest(files):
    # Names without folders, so that a copied project has the same hash.
    parts = sorted((path.name, _hash(path, path.stat().st_mtime_ns)) for path in files)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _hash(path, written):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _spec_of(top):
    """Return the import spec of a package or module; None if there is none or Python brings it."""
    try:
        return None if top in sys.stdlib_module_names else importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None


def _is_installed(spec):
    """Return True if a package was installed by pip, and so is not the user's own."""
    places = spec.submodule_search_locations or [spec.origin]
    return any(INSTALLED & set(Path(place).parts) for place in places)


def kernel_of(source):
    """Return the compiled kernel of a ``.pyx`` file; None if it was never built."""
    places = (source.with_name(source.stem + suffix) for suffix in EXTENSION_SUFFIXES)
    return next((path for path in places if path.is_file()), None)


def compiled_into(source):
    """Return a ``.pyx`` file and every ``.pxd`` file that Cython compiles into its kernel."""
    reached, waiting = [], [source, *source.parent.glob(f"{source.stem}.pxd")]
    while waiting:
        path = waiting.pop()
        # Headers may include each other in a circle.
        if path not in reached and path.is_file():
            reached.append(path)
            for dots, module in _CIMPORT.findall(path.read_text(encoding="utf-8")):
                header = path.parents[len(dots) - 1].joinpath(*module.split("."))
                waiting.append(header.with_suffix(".pxd"))
    return reached


def _check_kernel(source):
    """Refuse a ``.pyx`` file whose kernel is missing or outdated."""
    kernel = kernel_of(source)
    name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
    remedy = "Run `make setup` (without make: python setup.py build_ext --inplace)."
    if kernel is None:
        raise ConfigError(f"the kernel {name} is not compiled: only {source} is there. {remedy}")
    newest = max(compiled_into(source), key=lambda path: path.stat().st_mtime_ns)
    if newest.stat().st_mtime_ns > kernel.stat().st_mtime_ns:
        what = f"the kernel {name} was compiled before {newest} was last written"
        raise ConfigError(f"{what}, so results would come from outdated code. {remedy}")


def refuse_untrusted(method, spec):
    """Refuse a specification with classes not in `TRUSTED` or with files, without importing any."""
    foreign = [name for name in classes_of(spec) if name.split(".")[0] not in TRUSTED]
    names = (str(name).rpartition("__")[2] for part in nested(spec) for name in part)
    files = sorted(FILES.intersection(names))
    if foreign or files:
        what = f"runs code of {foreign[0]}" if foreign else f"names a file in {files[0]!r}"
        raise ConfigError(
            f"method {method} {what}. Look at it first, then add --trust. Without --trust, all "
            f"classes must come from {', '.join(TRUSTED)}."
        )


def find_classes_in(folder):
    """Let this process, and those it starts, import the user's modules from a folder."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise ConfigError(f"there is no folder {folder} to import methods from (methods_path).")
    # Appended, so that a user's file cannot hide a library of the same name.
    sys.path.append(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))


def check_classes(method, spec):
    """Refuse a specification with a class that cannot be imported, before any job starts."""
    # Classes of budgetlearn and installed packages are looked up in the source, others imported.
    for name in classes_of(spec):
        if not _is_in_source(name):
            try:
                resolve(name)
            except ConfigError as error:
                raise ConfigError(f"method {method}: {error}") from error


def predicts_numbers(name):
    """Return True if a class is a regressor, by its name, or by its base if it is not trusted."""
    if name.endswith("Regressor") or name.partition(".")[0] in TRUSTED:
        return name.endswith("Regressor")
    from sklearn.base import RegressorMixin  # imported here because it is slow and rarely needed

    return isinstance(found := resolve(name), type) and issubclass(found, RegressorMixin)


def _is_in_source(name):
    """Return True if the source of budgetlearn or an installed package mentions the class."""
    module, _, attribute = name.rpartition(".")
    top, *rest = module.split(".")
    spec = _spec_of(top)
    if spec is None or not spec.submodule_search_locations:
        return False
    if top not in OWN and not _is_installed(spec):
        return False
    base = Path(spec.submodule_search_locations[0], *rest)
    word = re.compile(rf"^(?:class |from .*|    |    \"){attribute}\b", re.MULTILINE)
    places = (base / "__init__.py", base.with_name(f"{base.name}.py"))
    return any(word.search(path.read_text(encoding="utf-8")) for path in places if path.is_file())
