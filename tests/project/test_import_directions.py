"""Imports run one way through the package, in Python and in Cython alike."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from Cython.Compiler.Errors import init_thread
from Cython.Compiler.TreeFragment import StringParseContext, parse_from_strings
from Cython.Compiler.Visitor import TreeVisitor

PACKAGE = Path(__file__).parents[2] / "src" / "budgetlearn"

# A unit is a module or subpackage directly under budgetlearn; "" is the package's own __init__.
LAYERS = [
    {""},
    {"exceptions"},
    {"_extras", "_counting"},
    {"_validation", "_parallel", "_files", "price_lists"},
    {"features"},
    {"costs", "curves", "metrics"},
    {"preprocessing"},
    {"base"},
    {"tree"},
    {"forest"},
    {"msb", "sequential", "peers", "testing", "displays"},
    {"datasets", "benchmark"},
    {"analysis"},
    {"report"},
    {"cli"},
]
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units}
# datasets is used from above like the methods are, but knows none of them.
ONLY = {
    "datasets": {
        *("", "exceptions", "_extras", "_validation", "_parallel", "_files"),
        *("price_lists", "costs", "preprocessing"),
    }
}


def package_of(path):
    """Return the dotted package that relative imports of a source file start from."""
    return ".".join(("budgetlearn", *path.relative_to(PACKAGE).parent.parts))


def absolute(package, level, module):
    """Return the dotted name of `module`, imported with `level` leading dots from `package`."""
    if not level:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [module])])


class ImportCollector(TreeVisitor):
    """Collect (level, module, names) of every import and cimport of a Cython syntax tree."""

    def __init__(self):
        super().__init__()
        self.found = []

    def visit_Node(self, node):
        self.visitchildren(node)

    def visit_CImportStatNode(self, node):
        self.found.append((0, str(node.module_name), []))

    def visit_FromCImportStatNode(self, node):
        names = [str(item[1]) for item in node.imported_names]
        self.found.append((node.relative_level or 0, str(node.module_name or ""), names))

    def visit_ImportNode(self, node):
        names = [str(name.value) for name in node.imported_names or []]
        self.found.append((max(node.level or 0, 0), str(node.module_name.value), names))


def cython_imports(source, suffix):
    """List (level, module, names) of the imports in Cython source."""
    context = StringParseContext("source", cpp=True)
    context.set_language_level(3)
    init_thread()
    level = "module_pxd" if suffix == ".pxd" else "module"
    collector = ImportCollector()
    collector.visit(parse_from_strings("source", source, level=level, context=context))
    return collector.found


def python_imports(source):
    """List (level, module, names) of the imports in Python source."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", [alias.name for alias in node.names]))
    return found


def imported_units(source, suffix, package):
    """Return the units of budgetlearn that a source file imports."""
    imports = python_imports(source) if suffix == ".py" else cython_imports(source, suffix)
    units = set()
    for level, module, names in imports:
        dotted = absolute(package, level, module)
        if dotted == "budgetlearn":
            units |= {name if name in LEVEL else "" for name in names or [""]}
        elif dotted.startswith("budgetlearn."):
            units.add(dotted.split(".")[1])
    return units


def allowed(importer, imported):
    if importer == imported:
        return True
    if importer in ONLY:
        return imported in ONLY[importer]
    return LEVEL.get(imported, len(LAYERS)) <= LEVEL.get(importer, 0)


def unit_of(path):
    name = path.relative_to(PACKAGE).parts[0].split(".")[0]
    return "" if name == "__init__" else name


SOURCES = sorted(path for path in PACKAGE.rglob("*.p*") if path.suffix in {".py", ".pyx", ".pxd"})
IMPORTS = {
    path: imported_units(path.read_text(), path.suffix, package_of(path)) for path in SOURCES
}


def test_every_unit_has_its_place():
    unplaced = {unit_of(path) for path in SOURCES} - LEVEL.keys()
    assert not unplaced, f"give {sorted(unplaced)} a place in LAYERS"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_file_imports_only_what_lies_below(path):
    unit = unit_of(path)
    wrong = {imported for imported in IMPORTS[path] if not allowed(unit, imported)}
    assert not wrong, f"{unit} must not import {sorted(wrong)}"


def test_units_of_one_layer_do_not_import_each_other_in_a_circle():
    graph = {}
    for path, imported in IMPORTS.items():
        unit = unit_of(path)
        graph.setdefault(unit, set()).update(imported - {unit})
    TopologicalSorter(graph).prepare()


def test_nothing_cimports_scikit_learn():
    for path in SOURCES:
        if path.suffix != ".py":
            found = cython_imports(path.read_text(), path.suffix)
            assert not [module for _, module, _ in found if module.startswith("sklearn")], path


@pytest.mark.parametrize(
    ("suffix", "source", "unit"),
    [
        (".py", "import budgetlearn.gif", "forest"),
        (".py", "from budgetlearn import forest", "forest"),
        (".py", "def f():\n    from ..forest import gif", "forest"),
        (".py", "from .. import __version__, report", "report"),
        (".py", "from ..costs import FeatureCosts\nfrom . import structure", "costs"),
        (".pyx", "from ..forest cimport gif", "forest"),
        (".pyx", "from .. cimport forest", "forest"),
        (".pyx", "cimport budgetlearn.gif as gif", "forest"),
        (".pyx", "def f():\n    from budgetbench.report.page import write", "report"),
        (".pyx", "import numpy as np\nimport budgetlearn.msb as msb", "msb"),
        (".pxd", "from ..forest.gif cimport (\n    grow,\n    prune,\n)", "forest"),
        (".pxd", "from libc.math cimport log\nfrom ..costs cimport c", "costs"),
    ],
)
def test_import_is_seen_however_it_is_written(suffix, source, unit):
    assert unit in imported_units(source, suffix, "budgetlearn.tree")


def test_directions_are_enforced():
    assert allowed("forest", "tree")
    assert allowed("benchmark", "datasets")
    assert allowed("report", "analysis")
    assert not allowed("benchmark", "analysis")
    assert not allowed("tree", "forest")
    assert not allowed("datasets", "metrics")
    assert not allowed("msb", "datasets")
