"""What one source file says, of Python or Cython: its imports, the names it makes, its code."""

import ast
import re
from dataclasses import dataclass
from functools import cache, wraps
from importlib.machinery import EXTENSION_SUFFIXES

_CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+(?P<from>c?)import[ \t]+"
    r"(?P<names>\([^)]*\)|[^\n;]+)|(?P<c>c?)import[ \t]+(?P<plain>[^\n;]+))",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Import:
    """One import of a file: a module, and the name taken from it (None: the module itself).

    One that Cython compiles in, `cimport`, says so.
    """

    module: str
    name: str | None = None
    compiled: bool = False


@cache
def package_of(path):
    """Return the dotted package that relative imports of a file start from, "" for none."""
    parts = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _absolute(package, level, module):
    """Return the dotted name of `module`, imported with `level` leading dots from `package`."""
    if not level:
        return module
    parts = package.split(".")
    return ".".join(filter(None, [*parts[: len(parts) - level + 1], module]))


def cached(function):
    """Remember what a function of a file's path returns until the file is written again."""

    @cache
    def remembered(path, written):
        return function(path)

    @wraps(function)
    def look(path):
        return remembered(path, path.stat().st_mtime_ns)

    return look


@cached
def tree_of(path):
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cached
def imports_of(path):
    """Return the imports of a source file, wherever in it they stand.

    Parameters
    ----------
    path : Path
        A ``.py``, ``.pyx`` or ``.pxd`` file; a compiled kernel tells nothing.

    Returns
    -------
    tuple of Import
    """
    package = package_of(path)
    if path.suffix == ".py":
        return tuple(_python_imports(tree_of(path), package))
    if path.name.endswith(tuple(EXTENSION_SUFFIXES)):
        return ()
    return tuple(_cython_imports(code_text(path.read_text(encoding="utf-8")), package))


def _python_imports(tree, package):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(package, node.level, node.module)
            yield from (Import(module, alias.name) for alias in node.names)


def _cython_imports(text, package):
    for found in _CYTHON_IMPORT.finditer(text):
        listed = (found["names"] or found["plain"]).strip("() \t\n").split(",")
        names = [part.split()[0] for part in listed if part.strip()]
        compiled = bool(found["from"] or found["c"])
        if found["plain"]:
            yield from (Import(name, compiled=compiled) for name in names)
            continue
        base = found["base"].lstrip(".")
        module = _absolute(package, len(found["base"]) - len(base), base)
        yield from (Import(module, name, compiled) for name in names)


def code_text(text):
    """Return Cython source without comments, docstrings and blank lines."""
    literal = r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''"
    bare = re.sub(
        rf"{literal}|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?P<comment>#[^\n]*)",
        lambda found: "" if found["comment"] else found[0],
        text,
        flags=re.DOTALL,
    )
    bare = re.sub(rf"(\A|:[ \t]*\n)(?:\s*\n)*[ \t]*(?:{literal})[ \t]*\n", r"\1", bare, flags=re.S)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())


@cached
def passed_on(path):
    """Return how a Python file gets each name that it imports from another: name → Import."""
    package = package_of(path)
    return {
        alias.asname or alias.name: Import(_absolute(package, node.level, node.module), alias.name)
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cached
def made(path):
    """Return the names that a Python file itself makes at its top level."""
    names = set()
    for statement in tree_of(path).body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            names.add(statement.name)
            continue
        stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        names |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return names
