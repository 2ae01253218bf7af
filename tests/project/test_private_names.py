"""A name that begins with an underscore is of its own room: no other room calls or imports it.

A room is a top-level module or subpackage of either package. Hooks that a subclass overrides keep
their underscore: they are called through `self` and `super()`, and of other objects by the protocol
alone.
"""

import ast
from collections import defaultdict
from pathlib import Path

from tests.looping import for_each

SRC = Path(__file__).resolve().parents[2] / "src"
PROTOCOL = ("budgetlearn", "protocol")


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name != "_"


def room_of(path):
    """Return ("budgetlearn", "protocol") of a module in it."""
    package, room, *_ = path.with_suffix("").parts
    return package, room


def defined(nodes):
    """Return the private names that a module defines for its objects: members and attributes."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            names |= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            stored = (name for item in node.body for name in ast.walk(item))
            names |= {
                name.id
                for name in stored
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            }
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return {name for name in names if is_private(name)}


def is_own(value):
    """Tell whether an attribute is looked up on `self`, `cls` or `super()`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def imported(node, path):
    """Return the parts of all names that an import from our packages brings in."""
    base = path.parts[: len(path.parts) - node.level] if node.level else ()
    module = (*base, *(node.module or "").split("."))
    return [(*module, alias.name) for alias in node.names] if module[0] == path.parts[0] else []


def borrowed(modules):
    """Yield "path:line name" for each private name of another room that a module uses.

    Parameters
    ----------
    modules : dict of Path to str
        Source by path, relative to src/.
    """
    nodes = {path: [*ast.walk(ast.parse(source))] for path, source in modules.items()}
    homes = defaultdict(set)
    for path, own in nodes.items():
        for name in defined(own):
            homes[name].add(room_of(path))
    for path, own in nodes.items():
        here = room_of(path)
        for node in own:
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                rooms = homes[node.attr]
                of_another = PROTOCOL in rooms and here != PROTOCOL and not is_own(node.value)
                strange = rooms and (here not in rooms or of_another)
                # A hook of the protocol that no other room overrides is none.
                hook = is_own(node.value) and homes[node.attr] != {PROTOCOL}
                if strange and not hook:
                    yield f"{path}:{node.lineno} {node.attr}"
            elif isinstance(node, ast.ImportFrom):
                for parts in imported(node, path):
                    if parts[:2] != here and any(map(is_private, parts)):
                        yield f"{path}:{node.lineno} {'.'.join(parts)}"


def test_no_room_uses_private_names_of_another():
    modules = {path.relative_to(SRC): path.read_text("utf-8") for path in SRC.rglob("*.py")}
    assert len(modules) > 120
    assert list(borrowed(modules)) == []


@for_each(
    "source",
    [
        "def f(model):\n    return model._chosen(3)",
        "class Own:\n    def _hook(self):\n        return self.inner._hook()",
        "class Own:\n    def f(self):\n        return self._chosen(3)",
        "class Own:\n    def f(self):\n        return super()._chosen(3)",
        "def _chosen(model):\n    return model._chosen(3)",
        "from ..protocol.base import _helper",
        "from ..protocol import _inner",
        "from budgetlearn.protocol._inner import helper",
    ],
)
def test_a_borrowed_name_is_seen(source):
    base = "class Base:\n    def _chosen(self):\n        pass\n    def _hook(self):\n        pass\n"
    modules = {
        Path("budgetlearn/protocol/base.py"): base,
        Path("budgetlearn/forests/own.py"): source,
    }
    assert len(list(borrowed(modules))) == 1


@for_each(
    "source",
    [
        "class Own:\n    def _chosen(self):\n        return super()._chosen()",
        "class Own:\n    def f(self):\n        self._own = 1\n        return self._own",
        "import os\nos._exit(1)",
        "from ._own import helper",
    ],
)
def test_own_names_and_overridden_hooks_are_fine(source):
    base = "class Base:\n    def _chosen(self):\n        pass\n"
    modules = {
        Path("budgetlearn/protocol/base.py"): base,
        Path("budgetlearn/forests/own.py"): source,
    }
    assert list(borrowed(modules)) == []
