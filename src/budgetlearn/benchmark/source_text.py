"""What one source file says, of Python or Cython: its imports, the names it makes, its code."""

import ast
import hashlib
import re
from dataclasses import dataclass
from functools import cache

_CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+(?P<from>c?)import[ \t]+"
    r"(?P<names>\([^)]*\)|[^\n;]+)|(?P<c>c?)import[ \t]+(?P<plain>[^\n;]+))",
    re.MULTILINE,
)
_LATER_SYNTAX = ("type_params", "type_comment", "kind")  # of newer Pythons, or without effect


@dataclass(frozen=True)
class Import:
    """One import of a file: a module, and the name taken from it (None: the module itself).

    One that Cython compiles in, `cimport`, says so.
    """

    module: str
    name: str | None = None
    compiled: bool = False


@dataclass(frozen=True)
class Facts:
    """What a source file says.

    Attributes
    ----------
    imports : tuple of Import
        Wherever in the file they stand; a compiled kernel tells none.
    passed_on : dict of str to Import
        How a Python file gets each name that it imports from another at its top level.
    made : frozenset of str
        The names that a Python file itself makes at its top level.
    digest : str
        Hash of what the file does; of its bytes where that cannot be told.
    """

    imports: tuple
    passed_on: dict
    made: frozenset
    digest: str


def read_facts(path, content):
    """Return the `Facts` of a file.

    Parameters
    ----------
    path : Path
        A ``.py``, ``.pyx`` or ``.pxd`` file, or any other, of which the bytes are all.
    content : bytes
        What is in it.

    Returns
    -------
    Facts
    """
    package = package_of(path)
    if path.suffix == ".py":
        tree = ast.parse(content)
        imports, names = (
            tuple(_python_imports(tree, package)),
            (_passed_on(tree, package), _made(tree)),
        )
        return Facts(imports, *names, digest_of(path, _shape(_without_docstrings(tree)).encode()))
    if path.suffix in (".pyx", ".pxd"):
        code = code_text(content.decode())
        imports = tuple(_cython_imports(code, package))
        return Facts(imports, {}, frozenset(), digest_of(path, code.encode()))
    return Facts((), {}, frozenset(), digest_of(path, content))


def digest_of(path, content):
    """Return a hash of a file's name and content."""
    return digest([path.name, hashlib.sha256(content).hexdigest()])


def digest(parts):
    """Return one hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


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


def _passed_on(tree, package):
    return {
        alias.asname or alias.name: Import(_absolute(package, node.level, node.module), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _made(tree):
    names = set()
    for statement in tree.body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            names.add(statement.name)
            continue
        stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        names |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return frozenset(names)


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
