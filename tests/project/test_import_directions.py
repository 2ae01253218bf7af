"""Imports run one way, in Python and in Cython alike, which import-linter does not read."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.looping import for_each

ROOT = Path(__file__).parents[2] / "src"

# A unit is a module or subpackage directly under a package, "" the package's own __init__.
LAYERS = [
    {"budgetlearn."},
    {"budgetlearn.exceptions"},
    {f"budgetlearn.{name}" for name in ("validation", "parallel", "files")},
    {"budgetlearn.fit_counts", "budgetlearn.per_feature"},
    {f"budgetlearn.{name}" for name in ("costs", "curves", "metrics")},
    {"budgetlearn.preprocessing"},
    {"budgetlearn.protocol"},
    {"budgetlearn.tree"},
    {"budgetlearn.export"},
    {f"budgetlearn.{name}" for name in ("forests", "budgetrf", "gif")},
    {f"budgetlearn.{name}" for name in ("msb", "sequential", "cascade", "peers", "policies")},
    {"budgetlearn.auto"},
    {f"budgetlearn.{name}" for name in ("testing", "displays")},
    {"budgetbench."},
    {"budgetbench.datasets"},
    {"budgetbench.study"},
    {"budgetbench.analysis"},
    {"budgetbench.report"},
    {"budgetlearn.cli"},
    {"budgetlearn.__main__"},
]
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units}
# datasets is used from above like the methods are, but knows none of them.
ONLY = {
    "budgetbench.datasets": {
        *("budgetlearn.", "budgetlearn.exceptions", "budgetlearn.validation"),
        *("budgetlearn.parallel", "budgetlearn.files", "budgetlearn.per_feature"),
        *("budgetlearn.costs", "budgetlearn.preprocessing"),
    }
}
# The commands that compare reach the benchmark, and only once they are called.
LAZY = {"compare.py"}


def package_of(path):
    """Return the dotted package that relative imports of a source file start from."""
    return ".".join(path.relative_to(ROOT).parent.parts)


def absolute(package, level, module):
    """Return the dotted name of `module`, imported with `level` leading dots from `package`."""
    if not level:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [module])])


@cache
def import_collector():
    """Return a visitor that collects (level, module, names) of the imports of a syntax tree."""
    # Imported late, as in cython_imports: every worker collects this module, one needs Cython.
    from Cython.Compiler.Visitor import TreeVisitor

    class ImportCollector(TreeVisitor):
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

    return ImportCollector


@cache
def cython_imports(source, suffix):
    """List (level, module, names) of the imports in Cython source."""
    from Cython.Compiler.Errors import init_thread
    from Cython.Compiler.TreeFragment import StringParseContext, parse_from_strings

    context = StringParseContext("source", cpp=True)
    context.set_language_level(3)
    init_thread()
    level = "module_pxd" if suffix == ".pxd" else "module"
    collector = import_collector()()
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
    """Return the units of both packages that a source file imports."""
    imports = python_imports(source) if suffix == ".py" else cython_imports(source, suffix)
    units = set()
    for level, module, names in imports:
        dotted = absolute(package, level, module)
        first, _, rest = dotted.partition(".")
        if first not in ("budgetlearn", "budgetbench"):
            continue
        if rest:
            units.add(f"{first}.{rest.split('.')[0]}")
        else:
            named = {f"{first}.{name}" for name in names or [""]}
            units |= {name if name in LEVEL else f"{first}." for name in named}
    return units


def allowed(importer, imported):
    if importer == imported:
        return True
    if importer in ONLY:
        return imported in ONLY[importer]
    return LEVEL.get(imported, len(LAYERS)) <= LEVEL.get(importer, 0)


def unit_of(path):
    first, second = path.relative_to(ROOT).parts[:2]
    name = second.split(".")[0]
    return f"{first}." if name == "__init__" else f"{first}.{name}"


SOURCES = sorted(path for path in ROOT.rglob("*.p*") if path.suffix in {".py", ".pyx", ".pxd"})


@cache
def imports():
    """Return the units that each source imports; parsed once it is asked, not by every worker."""
    return {
        path: imported_units(path.read_text(), path.suffix, package_of(path)) for path in SOURCES
    }


def test_every_unit_has_its_place():
    unplaced = {unit_of(path) for path in SOURCES} - LEVEL.keys()
    assert not unplaced, f"give {sorted(unplaced)} a place in LAYERS"


def test_every_file_imports_only_what_lies_below():
    for path in SOURCES:
        wrong = {imported for imported in imports()[path] if not allowed(unit_of(path), imported)}
        assert not wrong, f"{path.relative_to(ROOT)} must not import {sorted(wrong)}"


def test_units_of_one_layer_do_not_import_each_other_in_a_circle():
    graph = {}
    for path, imported in imports().items():
        unit = unit_of(path)
        graph.setdefault(unit, set()).update(imported - {unit})
    TopologicalSorter(graph).prepare()


def test_nothing_cimports_scikit_learn():
    for path in SOURCES:
        if path.suffix != ".py":
            found = cython_imports(path.read_text(), path.suffix)
            assert not [module for _, module, _ in found if module.startswith("sklearn")], path


def test_the_library_reaches_the_benchmark_only_in_calls_of_the_commands_that_compare():
    for path in (ROOT / "budgetlearn").rglob("*.py"):
        top = [
            n
            for n in ast.parse(path.read_text()).body
            if isinstance(n, ast.ImportFrom | ast.Import)
        ]
        source = "\n".join(map(ast.unparse, top))
        if path.parent.name == "cli" and path.name in LAZY:
            reached = imported_units(source, ".py", package_of(path))
        else:
            reached = imports()[path]
        assert not [unit for unit in reached if unit.startswith("budgetbench")], path


@for_each(
    "suffix, source, unit",
    [
        (".py", "import budgetlearn.gif.forest", "budgetlearn.gif"),
        (".py", "from budgetlearn import forests", "budgetlearn.forests"),
        (".py", "def f():\n    from ..forests import importance", "budgetlearn.forests"),
        (".py", "from .. import __version__, forests", "budgetlearn.forests"),
        (".py", "from ..costs import FeatureCosts\nfrom . import structure", "budgetlearn.costs"),
        (".pyx", "from ..gif cimport pool", "budgetlearn.gif"),
        (".pyx", "from .. cimport gif", "budgetlearn.gif"),
        (".pyx", "cimport budgetlearn.gif.pool as pool", "budgetlearn.gif"),
        (".pyx", "def f():\n    from budgetbench.report.page import write", "budgetbench.report"),
        (".pyx", "import numpy as np\nimport budgetlearn.msb as msb", "budgetlearn.msb"),
        (".pxd", "from ..gif.pool cimport (\n    grow,\n    prune,\n)", "budgetlearn.gif"),
        (".pxd", "from libc.math cimport log\nfrom ..costs cimport c", "budgetlearn.costs"),
    ],
)
def test_import_is_seen_however_it_is_written(suffix, source, unit):
    assert unit in imported_units(source, suffix, "budgetlearn.tree")


def test_directions_are_enforced():
    assert allowed("budgetlearn.forests", "budgetlearn.tree")
    assert allowed("budgetbench.study", "budgetbench.datasets")
    assert allowed("budgetbench.report", "budgetbench.analysis")
    assert allowed("budgetbench.study", "budgetlearn.forests")
    assert not allowed("budgetlearn.forests", "budgetbench.study")
    assert not allowed("budgetbench.study", "budgetbench.analysis")
    assert not allowed("budgetlearn.tree", "budgetlearn.forests")
    assert not allowed("budgetbench.datasets", "budgetlearn.metrics")
