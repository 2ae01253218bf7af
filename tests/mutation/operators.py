"""Mutants of Python source: the places that can be changed, and the changed trees.

Code that cannot give a wrong number is left alone: docstrings, annotations, decorators, the words
of errors and log lines, `__repr__`, and keywords that only set the size of work units or the
output.
"""

import ast
import copy
import itertools
from dataclasses import dataclass
from functools import singledispatch

_SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
_QUIET_CALLS = ("log", "tqdm", "warnings")
_QUIET_KEYWORDS = ("n_jobs", "strict", "verbose", "unit", "disable")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes
    ----------
    path : str
        The file, relative to the repository.
    line : int
        Line of the change.
    text : str
        Text of that line.
    before, after : str
        The changed expression or statement.
    number : int
        Its number among the file's mutants.
    at_import : bool
        Whether it is outside of all functions, so that importing the file runs it.
    """

    path: str
    line: int
    text: str
    before: str
    after: str
    number: int
    at_import: bool

    def __str__(self):
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}  in  {self.text}"


def mutants_of(path, source):
    """Return all mutants of a file.

    Parameters
    ----------
    path : str
        Path of the file, for the mutants.
    source : str
        Text of the file.

    Returns
    -------
    list of Mutant
    """
    tree, found = ast.parse(source), []
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.Lambda))
        for part in (function.body if isinstance(function.body, list) else [function.body])
        for node in ast.walk(part)
    }
    lines = [line.strip() for line in source.splitlines()]
    for number, (node, new) in enumerate(_changes(tree)):
        before, after = (" ".join(ast.unparse(n).split())[:90] for n in (node, new))
        line, at_import = node.lineno, id(node) not in inside
        found.append(Mutant(path, line, lines[line - 1], before, after, number, at_import))
    return found


def mutated(source, number):
    """Return the syntax tree of a file with the change `number`, with the original line numbers."""
    tree = ast.parse(source)
    old, new = next(itertools.islice(_changes(tree), number, None))
    ast.copy_location(new, old)
    tree = _Replace(old, new).visit(tree)
    return ast.fix_missing_locations(tree)


class _Replace(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else super().visit(node)


def _changes(tree):
    """Yield (node, replacement), in the order of the source."""
    for node in _mutable(tree):
        for new in _variants(node):
            yield node, new


def _mutable(node):
    """Yield the nodes whose change could change a result."""
    yield node
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_quiet(child):
                yield from _mutable(child)


def _is_quiet(node):
    """Whether a change in the node could only change words."""
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__repr__", "__str__")
    if isinstance(node, ast.Expr):
        call = node.value
        if isinstance(call, ast.Constant):
            return True
        named = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        return named.split(".")[0] in _QUIET_CALLS
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr))


@singledispatch
def _variants(node):
    """Return the changed versions of one node."""
    return []


@_variants.register(ast.Raise)
@_variants.register(ast.Expr)
def _(node):
    return [ast.Pass()]


@_variants.register(ast.If)
@_variants.register(ast.IfExp)
@_variants.register(ast.While)
def _(node):
    return [_with(node, test=ast.UnaryOp(ast.Not(), node.test))]


@_variants.register
def _(node: ast.Compare):
    swapped = _SWAPS.get(type(node.ops[0]))
    return [_with(node, ops=[swapped(), *node.ops[1:]])] if swapped else []


@_variants.register(ast.BinOp)
@_variants.register(ast.AugAssign)
@_variants.register(ast.BoolOp)
def _(node):
    swapped = _SWAPS.get(type(node.op))
    return [_with(node, op=swapped())] if swapped else []


@_variants.register
def _(node: ast.UnaryOp):
    return [node.operand]


@_variants.register
def _(node: ast.Constant):
    if isinstance(node.value, bool):
        return [ast.Constant(not node.value)]
    return [ast.Constant(node.value + 1)] if isinstance(node.value, (int, float)) else []


@_variants.register(ast.Break)
@_variants.register(ast.Continue)
def _(node):
    return [_SWAPS[type(node)]()]


@_variants.register
def _(node: ast.Call):
    return [
        _with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
        for i, keyword in enumerate(node.keywords)
        if keyword.arg is not None and keyword.arg not in _QUIET_KEYWORDS
    ]


@_variants.register
def _(node: ast.Return):
    return [] if node.value is None else [ast.Return(ast.Constant(None))]


def _with(node, **changes):
    new = copy.copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new
