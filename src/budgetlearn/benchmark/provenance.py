"""Where results come from: code, versions, machine.

Imports nothing heavy, because the Snakefile imports it at every start.
"""

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = (".py", ".pyx", ".pxd")
# Packages of methods that stand beside each other: a method depends on those its entry names.
METHOD_PACKAGES = ("msb", "sequential", "peers")
# What comes after the fits, or decides which there are.
_LATER = ("aggregate", "deviations", "inside", "points", "provenance", "published", "ranking")
AFTER_FITS = ("report/", *(f"benchmark/{name}.py" for name in (*_LATER, "study")))
LIBRARIES = (
    "budgetlearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "python-glmnet",
    "lightgbm",
    "pandas",
    "snakemake",
)


def source_fingerprint(*parts, exclude=()):
    """Return a hash of the package's source, to rerun jobs when the code has changed.

    Parameters
    ----------
    *parts : str
        Files or folders of the package to read; none: all of it.
    exclude : tuple of str, default=()
        Files or folders to leave out.

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        inside = path.relative_to(PACKAGE).as_posix()
        listed = not parts or inside.startswith(tuple(parts))
        if path.suffix in SOURCES and listed and not inside.startswith(tuple(exclude)):
            digest.update(inside.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def fit_fingerprint(spec):
    """Return a hash of the source that decides the results of a method.

    Parameters
    ----------
    spec : dict
        The method's class and parameters, nested classes included.

    Returns
    -------
    str
        Code of other methods' packages, of the report and of what comes after the fits is left out.
    """
    unused = (name for name in METHOD_PACKAGES if f"budgetlearn.{name}." not in repr(spec))
    return _fit_fingerprint(tuple(unused))


@cache
def _fit_fingerprint(unused):
    return source_fingerprint(exclude=(*AFTER_FITS, *(f"{name}/" for name in unused)))


def config_hash(config):
    """Return a short hash of a study's settings."""
    return hashlib.sha256(repr(sorted(config.items())).encode()).hexdigest()[:16]


def git_commit(root):
    """Return the commit of the project's folder, "-dirty" if it was changed, None outside git."""
    try:
        run = {"cwd": root, "capture_output": True, "text": True, "check": True, "timeout": 20}
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], **run).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], **run).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}-dirty" if changed else commit


def versions():
    """Return {name: version} of Python and of the libraries that decide results."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        found[name] = importlib.metadata.version(name)
    return found


def machine():
    """Return a description of the machine: system, processor kind and number of cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
