"""Hashes of the code that results depend on: an edit reruns the jobs that it can touch.

Counted are the files that a script and its classes import, one through another, and compiled
kernels, because compiler and flags decide their last bits. An edit of a comment counts too: finer
would need the meaning of the source, which took four times this file. What pip installed is known
by its version. Imports nothing heavy: the Snakefile asks at every start.
"""

import hashlib
import importlib
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
INSTALLED = ("site-packages", "dist-packages")
SUFFIXES = (".py", ".pyx", ".pxd", *EXTENSION_SUFFIXES)
# What a report is drawn with beside its code.
REPORT_PARTS = (".j2", ".css", ".js", ".html", ".svg", ".yaml")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+(?P<c>c?)import[ \t]+(?P<names>\([^)]*\)|[^\n;#]+)"
    r"|(?P<pure_c>c?)import[ \t]+(?P<modules>[^\n;#]+))",
    re.MULTILINE,
)


def script_fingerprint(script, *classes):
    """Return a hash of the code that a job runs, with that of the classes that it builds."""
    places = (place for name in classes for place in (name.rpartition(".")[0], name))
    return _digest(_reached(Path(script), *map(module_files, places)))


def report_fingerprint(script):
    """Return a hash of what draws the report: code, templates, style and scripts of the page."""
    report = ROOT / "budgetbench" / "report"
    shared = ROOT / "budgetlearn" / "cli" / "templates"  # head and style, as of the model page
    files = *report.rglob("*"), shared / "base.html.j2", shared / "style.css"
    parts = [path for path in files if path.suffix in REPORT_PARTS]
    # The page finds its sections by looking: no import names them.
    sections = (report / "sections").glob("[!_]*.py")
    return _digest([*_reached(Path(script), sections), *parts])


def _reached(script, *starts):
    """Return every file of the project and of the user that a script and other files lead to."""
    reached, waiting = set(), [script, *(path for files in starts for path in files)]
    while waiting:
        path = waiting.pop()
        # Modules may import each other in a circle, as headers of Cython do.
        if path not in reached and is_followed(path):
            reached.add(path)
            waiting += [file for module, _ in _imports(path) for file in module_files(module)]
            _check_kernel(path)
    return reached


def _digest(files):
    # By name, not by path: a copied project is the same code.
    parts = sorted((path.name, _hash(path, path.stat().st_mtime_ns)) for path in files)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _hash(path, written):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _imports(path):
    return _imports_of(path, path.stat().st_mtime_ns) if path.suffix in SUFFIXES[:3] else ()


@cache
def _imports_of(path, written):
    """Return (dotted module, whether Cython compiles it in) of all imports of a source file."""
    found, package = [], _package_of(path)
    for one in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        names = [part.split()[0] for part in _listed(one["names"] or one["modules"])]
        compiled = bool(one["c"] or one["pure_c"])
        if one["modules"]:
            found += [(name, compiled) for name in names]
            continue
        relative = one["base"].startswith(".") and package
        base = importlib.util.resolve_name(one["base"], package) if relative else one["base"]
        found += [(module, compiled) for module in (base, *(f"{base}.{n}" for n in names))]
    return found


def _listed(names):
    bare = re.sub(r"#[^\n]*", "", names).strip("() \t\n")
    return [part for part in bare.split(",") if part.strip()]


def _package_of(path):
    folder, parts = path.parent, []
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


@cache
def module_files(module):
    """Return the files that make a module: source of Python or Cython, and the compiled kernel."""
    base = module_base(module)
    if base is None:
        return ()
    places = [base / "__init__.py", *(base.with_name(base.name + suffix) for suffix in SUFFIXES)]
    found = tuple(path for path in places if path.is_file())
    if not found and module.rpartition(".")[0] == OWN[0] and not base.name.startswith("_"):
        # A name that budgetlearn loads when it is asked for, from any of its modules.
        return tuple(path for path in base.parent.rglob("*") if path.suffix in SUFFIXES)
    return found


def module_base(module):
    """Return the path of a module without its suffix; None where it has no source."""
    first, *rest = module.split(".")
    if first in OWN:
        return (ROOT / first).joinpath(*rest)
    top = _top(first)
    return None if top is None else top.joinpath(*rest) if rest else top


@cache
def _top(name):
    if name in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.has_location:
        return None
    place = Path(spec.origin)
    return place.parent if place.stem == "__init__" else place.with_suffix("")


@cache
def is_followed(path):
    """Return True if a file is the project's or the user's own, rather than an installed one."""
    ours = any(path.is_relative_to(ROOT / name) for name in OWN)
    return ours or not set(INSTALLED) & set(path.parts)


def kernel_of(source):
    """Return the compiled kernel beside a ``.pyx`` file, None if it was never built."""
    places = (source.with_name(source.stem + suffix) for suffix in EXTENSION_SUFFIXES)
    return next((path for path in places if path.is_file()), None)


def compiled_into(source):
    """Return a ``.pyx`` file and every ``.pxd`` file that Cython compiles into its kernel."""
    reached, waiting = [], [source, *source.parent.glob(f"{source.stem}.pxd")]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.append(path)
            headers = (file for module, c in _imports(path) if c for file in module_files(module))
            waiting += [file for file in headers if file.suffix == ".pxd" and is_followed(file)]
    return reached


def _check_kernel(source):
    """Refuse a ``.pyx`` file without a kernel, or with one that was compiled of something else."""
    if source.suffix != ".pyx":
        return
    kernel = kernel_of(source)
    name = f"{_package_of(source)}.{source.stem}"
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


def _is_in_source(name):
    """Return True if the source of a package that is not the user's own has the name of a class."""
    module, _, attribute = name.rpartition(".")
    base = module_base(module)
    own = base is None or (is_followed(base) and module.split(".")[0] not in OWN)
    if own:
        return False
    word = re.compile(rf"^(?:class |from .*|    |    \"){attribute}\b", re.MULTILINE)
    places = (base / "__init__.py", base.with_name(f"{base.name}.py"))
    return any(word.search(path.read_text(encoding="utf-8")) for path in places if path.is_file())
