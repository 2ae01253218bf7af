"""Hashes of the code that results depend on: an edit reruns the jobs that it can touch, no others.

Comments, docstrings and layout do not count. A compiled kernel counts beside its source, because
compiler and flags decide its last bits. Imports nothing heavy: the Snakefile asks at every start.
"""

import ast
import hashlib
from pathlib import Path

from ..exceptions import ConfigError
from .source_graph import PACKAGE, closure, compiled_into, kernel_of
from .source_text import Import, cached, code_text, imports_of, package_of, tree_of

# What a report is drawn with beside its code.
REPORT_PARTS = (".j2", ".css", ".js", ".html", ".svg")
_LATER_SYNTAX = ("type_params", "type_comment", "kind")  # of newer Pythons, or without effect


def script_fingerprint(script, *classes):
    """Return a hash of the code that a job runs.

    Parameters
    ----------
    script : path-like
        The job's Python script.
    *classes : str
        Dotted names of classes that the job builds by their names.

    Returns
    -------
    str
        Of every module of budgetlearn, and of the user's own, that script and classes import, one
        through another, and of their kernels.

    Raises
    ------
    ConfigError
        When a kernel is missing, or older than its source.
    """
    script = Path(script)
    named = (name.rpartition(".") for name in classes)
    roots = (*imports_of(script), *(Import(module, name) for module, _, name in named))
    return _combined({"script": (script,), **closure(roots)})


def report_fingerprint(script):
    """Return a hash of what draws the report: code, templates, style and scripts of the page."""
    parts = sorted(path for path in (PACKAGE / "report").rglob("*") if path.suffix in REPORT_PARTS)
    # The page finds its sections by looking: no import names them.
    modules = sorted(path.stem for path in (PACKAGE / "report" / "sections").glob("[!_]*.py"))
    sections = (f"budgetlearn.report.sections.{name}" for name in modules)
    return _digest([script_fingerprint(script, *sections), *(_file_digest(path) for path in parts)])


def _combined(modules):
    """Return one hash of modules, as `closure` gives them, after a look at their kernels."""
    parts = []
    for module, files in sorted(modules.items()):
        for path in files:
            _check_kernel(path)
        parts += [module, *map(_file_digest, files)]
    return _digest(parts)


def _check_kernel(source):
    """Refuse a ``.pyx`` file without a kernel, or with one that was compiled of something else."""
    if source.suffix != ".pyx":
        return
    kernel = kernel_of(source)
    name = f"{package_of(source)}.{source.stem}"
    remedy = "Run `make setup` (without make: python setup.py build_ext --inplace)."
    if kernel is None:
        raise ConfigError(f"the kernel {name} is not compiled: only {source} is there. {remedy}")
    newest = max(compiled_into(source), key=lambda path: path.stat().st_mtime_ns)
    if newest.stat().st_mtime_ns > kernel.stat().st_mtime_ns:
        raise ConfigError(
            f"the kernel {name} was compiled before {newest} was last written, so results would "
            f"come from outdated code. {remedy}"
        )


@cached
def _file_digest(path):
    """Return a hash of what a file does, or of its bytes where that cannot be told."""
    if path.suffix == ".py":
        content = _shape(_without_docstrings(tree_of(path))).encode()
    elif path.suffix in (".pyx", ".pxd"):
        content = code_text(path.read_text(encoding="utf-8")).encode()
    else:
        content = path.read_bytes()
    return _digest([path.name, hashlib.sha256(content).hexdigest()])


def _digest(parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _without_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree


def _shape(node):
    """Return a syntax tree as text, the same in every version of Python."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node))
        told = (
            f"{name}={_shape(value)}"
            for name, value in fields
            if value is not None and value != [] and name not in _LATER_SYNTAX
        )
        return f"{type(node).__name__}({','.join(told)})"
    if isinstance(node, list):
        return f"[{','.join(map(_shape, node))}]"
    return repr(node)
