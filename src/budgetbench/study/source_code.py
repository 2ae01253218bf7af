"""Hashes of the code that results depend on: an edit reruns the jobs that may run it.

An edit of the library, or of the benchmark's data sets and studies, reruns fits and preparation; an
edit of analysis or report draws the page anew. Each package counts whole, comments and compiled
kernels too, because compiler and flags decide their last bits. Of a class of the user's own counts
the package that it is in, or the modules beside its own. What pip installed is known by its
version. Imports nothing heavy: the Snakefile asks at every start.
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

ROOT = Path(__file__).resolve().parents[2]  # where both packages lie
OWN = ("budgetlearn", "budgetbench")
INSTALLED = {"site-packages", "dist-packages"}
CODE = (".py", ".pyx", ".pxd", *EXTENSION_SUFFIXES)
# What a report is drawn with beside its code.
DRAWN_WITH = (".py", ".j2", ".css", ".js", ".html", ".svg", ".yaml")
_CIMPORT = re.compile(r"^from (\.+)([\w.]+) cimport", re.MULTILINE)


def script_fingerprint(script, *classes):
    """Return a hash of the code that a job may run, with that of classes of the user's own."""
    library, benchmark = ROOT / "budgetlearn", ROOT / "budgetbench"
    files = {path for path in _files(library) if not path.is_relative_to(library / "cli")}
    files.update(*(_files(benchmark / name) for name in ("datasets", "study")))
    for source in files:
        if source.suffix == ".pyx":
            _check_kernel(source)
    return _digest({Path(script), *files}.union(*map(own_files, classes)))


def report_fingerprint(script):
    """Return a hash of what draws the report: code, templates, style and scripts of the page."""
    # Head and style are those of the model page.
    folders = ("budgetbench/report", "budgetbench/analysis", "budgetlearn/cli/templates")
    return _digest({Path(script)}.union(*(_files(ROOT / name, DRAWN_WITH) for name in folders)))


def own_files(name):
    """Return the files that a class of the user's own may be made of, a set: none of another's."""
    top = name.partition(".")[0]
    spec = None if top in OWN else _spec_of(top)
    if spec is None or _is_installed(spec):
        return set()
    if spec.submodule_search_locations:
        return set().union(*map(_files, map(Path, spec.submodule_search_locations)))
    # A module alone may import those beside it; folders beside it may be anything.
    return {path for path in Path(spec.origin).parent.iterdir() if path.name.endswith(CODE)}


def _files(folder, endings=CODE):
    return {path for path in folder.rglob("*") if path.name.endswith(endings)}


def _digest(files):
    # By name, not by path: a copied project is the same code.
    parts = sorted((path.name, _hash(path, path.stat().st_mtime_ns)) for path in files)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _hash(path, written):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _spec_of(top):
    """Return where Python finds a package or module, None for nowhere or within Python itself."""
    try:
        return None if top in sys.stdlib_module_names else importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None


def _is_installed(spec):
    """Return True if pip installed a package, rather than that it is the user's own."""
    places = spec.submodule_search_locations or [spec.origin]
    return any(INSTALLED & set(Path(place).parts) for place in places)


def kernel_of(source):
    """Return the compiled kernel beside a ``.pyx`` file, None if it was never built."""
    places = (source.with_name(source.stem + suffix) for suffix in EXTENSION_SUFFIXES)
    return next((path for path in places if path.is_file()), None)


def compiled_into(source):
    """Return a ``.pyx`` file and every ``.pxd`` file that Cython compiles into its kernel."""
    reached, waiting = [], [source, *source.parent.glob(f"{source.stem}.pxd")]
    while waiting:
        path = waiting.pop()
        # Headers may name each other in a circle.
        if path not in reached and path.is_file():
            reached.append(path)
            for dots, module in _CIMPORT.findall(path.read_text(encoding="utf-8")):
                header = path.parents[len(dots) - 1].joinpath(*module.split("."))
                waiting.append(header.with_suffix(".pxd"))
    return reached


def _check_kernel(source):
    """Refuse a ``.pyx`` file without a kernel, or with one that was compiled of something else."""
    kernel = kernel_of(source)
    name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
    remedy = "Run `make setup` (without make: python setup.py build_ext --inplace)."
    if kernel is None:
        raise ConfigError(f"the kernel {name} is not compiled: only {source} is there. {remedy}")
    newest = max(compiled_into(source), key=lambda path: path.stat().st_mtime_ns)
    if newest.stat().st_mtime_ns > kernel.stat().st_mtime_ns:
        raise ConfigError(
            f"the kernel {name} was compiled before {newest} was last written, so results would "
            f"come from outdated code. {remedy}"
        )


# Packages whose estimators do what their parameters say, and nothing else.
TRUSTED = ("budgetlearn", "lightgbm", "sklearn")
# Parameters of theirs that name files or folders, to write to or to unpickle from.
FILES = {"checkpoint", "memory"}


def refuse_untrusted(method, spec):
    """Refuse a specification of other code than `TRUSTED`, or of files; nothing is imported."""
    foreign = [name for name in classes_of(spec) if name.split(".")[0] not in TRUSTED]
    names = (str(name).rpartition("__")[2] for part in nested(spec) for name in part)
    files = sorted(FILES.intersection(names))
    if foreign or files:
        what = f"runs code of {foreign[0]}" if foreign else f"names a file in {files[0]!r}"
        raise ConfigError(
            f"method {method} {what}. Look at it first, then add --trust; without it all classes "
            f"come from {', '.join(TRUSTED)}."
        )


def find_classes_in(folder):
    """Let this process, and those it starts, import the user's own modules from a folder."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise ConfigError(f"there is no folder {folder} to import methods from (methods_path).")
    # At the end: a file of the user's must not hide a library of the same name.
    sys.path.append(folder)
    known = filter(None, [os.environ.get("PYTHONPATH"), folder])
    os.environ["PYTHONPATH"] = os.pathsep.join(known)


def check_classes(method, spec):
    """Refuse a specification that names a class which cannot be had, before any job starts.

    What budgetlearn and installed packages have is looked up in their source, which is fast;
    modules of the user's own are imported.
    """
    for name in classes_of(spec):
        if not _is_in_source(name):
            try:
                resolve(name)
            except ConfigError as error:
                raise ConfigError(f"method {method}: {error}") from error


def predicts_numbers(name):
    """Return True if a class is a regressor: by its name, or by its base where it is not ours."""
    if name.endswith("Regressor") or name.partition(".")[0] in TRUSTED:
        return name.endswith("Regressor")
    from sklearn.base import RegressorMixin  # here: few plans need it

    return isinstance(found := resolve(name), type) and issubclass(found, RegressorMixin)


def _is_in_source(name):
    """Return True if the source of a package that is not the user's own has the name of a class."""
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
