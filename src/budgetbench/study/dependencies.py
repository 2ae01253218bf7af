"""Which source files a class or a script depends on, and what each of them does.

They are kept beside Python's bytecode, and under the same rule. Each is found by the content of its
file, and by that of the code that reads it, so that none can be outdated.

Followed are imports inside both packages and inside code of the user's own; what pip installed is
known by its version instead. A package's ``__init__`` that only passes a name on is looked through:
code that takes one class from a package does not depend on its neighbours.
"""

import ast
import hashlib
import importlib
import importlib.util
import json
import re
import sys
from dataclasses import astuple, dataclass
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from budgetlearn.files import whole_file

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


HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]  # where both packages lie
OWN = ("budgetlearn", "budgetbench")
KEPT = HERE.parents[1] / "__pycache__" / f"source_facts.{sys.implementation.cache_tag}.json"
MOST = 2000  # facts to keep: some states of each file of the package
SOURCES = (".py", ".pyx", ".pxd")


def facts_of(path):
    """Return what a file says, as it was last written.

    Parameters
    ----------
    path : Path
        Any file.

    Returns
    -------
    Facts
    """
    return _facts(path, path.stat().st_mtime_ns)


_new = []  # keys of what this process read and has not kept yet


@cache
def _facts(path, written):
    content = path.read_bytes()
    if path.suffix not in SOURCES:
        return read_facts(path, content)
    known, key = _known(), digest_of(path, _reader() + package_of(path).encode() + content)
    if key in known:
        return _unpacked(*known[key])
    facts = read_facts(path, content)
    known[key] = (*astuple(facts)[:2], sorted(facts.made), facts.digest)
    _new.append(key)
    return facts


def keep_facts():
    """Keep what was read anew for later processes, where bytecode may be written."""
    if not _new or sys.dont_write_bytecode:
        return
    _new.clear()
    latest = dict(list(_known().items())[-MOST:])
    try:
        with whole_file(KEPT) as partial:
            partial.write_text(json.dumps(latest))
    except OSError:
        return  # an installation that only others may write


@cache
def _known():
    """Return {key: facts} as they were kept, or nothing where they cannot be read."""
    try:
        known = json.loads(KEPT.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


@cache
def _reader():
    """Return a hash of the code that reads files."""
    return hashlib.sha256(HERE.read_bytes()).digest()


def _unpacked(imports, passed_on, made, digest):
    passed_on = {name: Import(*each) for name, each in passed_on.items()}
    return Facts(tuple(Import(*each) for each in imports), passed_on, frozenset(made), digest)


INSTALLED = ("site-packages", "dist-packages")
SUFFIXES = (".py", ".pyx", ".pxd", *EXTENSION_SUFFIXES)


@cache
def _top(name):
    """Return where a top-level module lies, None if its source is not to be followed."""
    if name in OWN:
        return ROOT / name
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
    """Tell whether a file is the project's or the user's own, rather than an installed one."""
    own = any(path.is_relative_to(ROOT / name) for name in OWN)
    return own or not set(INSTALLED) & set(path.parts)


def is_own(module):
    """Tell whether a module is the user's own: source that neither pip nor Python brought."""
    if module.split(".")[0] in OWN:
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
