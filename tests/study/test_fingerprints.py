"""Fingerprints: an edit of code changes those of the jobs that it can touch, and no others."""

import itertools
import os
import shutil
from pathlib import Path

import pytest

from budgetbench.study import source_code
from budgetbench.study.methods import classes_of
from budgetbench.study.source_code import (
    ROOT,
    compiled_into,
    kernel_of,
    module_files,
    report_fingerprint,
    script_fingerprint,
)
from budgetlearn.exceptions import ConfigError

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
FIT = SCRIPTS / "fit.py"
METHODS = {
    "gif": {
        "class": "budgetlearn.peers.GIFNodeShares",
        "parameters": {"estimator": {"class": "budgetlearn.gif.GIFClassifier"}},
    },
    "forest": {"class": "budgetlearn.budgetrf.BudgetRFClassifier", "parameters": {}},
    "msb": {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {"estimator": {"class": "budgetlearn.forests.RandomForestClassifier"}},
    },
}
EVERY = set(METHODS)


def fit_fingerprint(spec):
    return script_fingerprint(FIT, *classes_of(spec))


def forget():
    for function in (source_code._top, source_code.module_files, source_code.is_followed):
        function.cache_clear()


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of both packages, kernels included, of which fingerprints are taken."""
    copy = tmp_path_factory.mktemp("packages")
    for name in source_code.OWN:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_code, "ROOT", copy)
        forget()
        yield copy
    forget()


@pytest.fixture
def package(copied):
    """The copy, which a test may edit."""
    files = [path for path in copied.rglob("*") if path.is_file()]
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}
    yield copied
    for path, (written, content) in before.items():
        if not path.exists() or path.stat().st_mtime_ns != written:
            path.write_bytes(content)
            os.utime(path, ns=(written, written))
    forget()


def prints():
    found = {name: fit_fingerprint(spec) for name, spec in METHODS.items()}
    return found | {"data": script_fingerprint(SCRIPTS / "split.py")}


TICKS = itertools.count(1)


def changed_by(path, edit):
    """Return which fingerprints an edit of a file's text changes, its kernel as young as before."""
    first, written, text = prints(), path.stat().st_mtime_ns, path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    os.utime(path, ns=(written, written + next(TICKS)))
    second = prints()
    return {name for name in first if first[name] != second[name]}


@pytest.mark.parametrize(
    ("file", "touched"),
    [
        ("budgetlearn/msb/search.py", {"msb"}),
        ("budgetlearn/peers/ensembles.py", {"gif"}),
        ("budgetlearn/peers/baselines.py", {"gif"}),  # the room of its class
        ("budgetlearn/sequential/fmcc.py", set()),
        ("budgetbench/report/page.py", set()),
        ("budgetbench/study/study.py", set()),
        ("budgetbench/study/source_code.py", set()),
        ("budgetlearn/__init__.py", set()),
        ("budgetlearn/cascade/pool.py", set()),
        ("budgetbench/datasets/fetching.py", set()),  # they read what was prepared
        ("budgetlearn/gif/forest.py", {"gif"}),
        ("budgetlearn/forests/random_forest.py", {"gif", "msb"}),
        ("budgetlearn/tree/growth.py", EVERY),
        ("budgetbench/study/experiment.py", EVERY),
        ("budgetbench/datasets/dataset.py", {*EVERY, "data"}),
        ("budgetlearn/costs.py", {*EVERY, "data"}),
    ],
)
def test_an_edit_touches_what_depends_on_it(package, file, touched):
    assert changed_by(package / file, lambda text: f"{text}\nmore = 1\n") == touched


def test_a_kernel_counts_beside_its_source(package):
    first = prints()
    kernel = kernel_of(package / "budgetlearn" / "gif" / "grower.pyx")
    kernel.write_bytes(kernel.read_bytes() + b"\0")
    second = prints()
    assert {name for name in first if first[name] != second[name]} == {"gif"}


@pytest.mark.parametrize("file", ["grower.pyx", "nodes.pxd"])
def test_a_kernel_older_than_its_source_is_refused(package, file):
    later = kernel_of(package / "budgetlearn" / "gif" / "grower.pyx").stat().st_mtime_ns + 10**9
    os.utime(package / "budgetlearn" / "gif" / file, ns=(later, later))
    with pytest.raises(ConfigError, match=rf"was compiled before .*{file}.*make setup"):
        fit_fingerprint(METHODS["gif"])
    assert fit_fingerprint(METHODS["forest"])  # which does without


def test_a_missing_kernel_is_named(package):
    kernel_of(package / "budgetlearn" / "gif" / "grower.pyx").unlink()
    forget()
    with pytest.raises(ConfigError, match=r"gif\.grower is not compiled.*make setup"):
        fit_fingerprint(METHODS["gif"])


def test_the_kernels_of_this_clone_are_up_to_date():
    for source in ROOT.rglob("*.pyx"):
        source_code._check_kernel(source)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's own, which takes part of its work from another one beside it."""
    (tmp_path / "own_methods.py").write_text(
        "import own_help\nfrom budgetlearn.peers import FreeConstantClassifier\n\n\n"
        "class Own(FreeConstantClassifier):\n    level = own_help.LEVEL\n"
    )
    (tmp_path / "own_help.py").write_text("LEVEL = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    forget()


@pytest.mark.parametrize("file", ["own_methods.py", "own_help.py"])
def test_a_class_of_ones_own_counts_with_what_it_imports(own, file):
    spec = {"class": "own_methods.Own"}
    before = fit_fingerprint(spec)
    with (own / file).open("a") as stream:
        stream.write("MORE = 2\n")
    assert fit_fingerprint(spec) != before
    files = source_code._reached(FIT, module_files("own_methods"))
    assert {"own_methods.py", "own_help.py", "baselines.py"} <= {path.name for path in files}


def test_a_class_that_budgetlearn_loads_on_demand_counts_with_the_whole_library(own):
    (own / "own_methods.py").write_text("from budgetlearn import FMCCClassifier as Own\n")
    for start in ("own_methods", "budgetlearn.FMCCClassifier"):
        names = {path.name for path in source_code._reached(FIT, module_files(start))}
        assert {"fmcc.py", "_margin_walk.pyx"} <= names


def test_installed_packages_are_known_by_their_version():
    files = source_code._reached(FIT, module_files("sklearn.ensemble"))
    assert module_files("sklearn.ensemble")
    assert not [path for path in files if "sklearn" in path.parts]


def test_the_report_depends_on_its_templates(package):
    style = package / "budgetbench" / "report" / "more.css"
    seen = set()
    for text in ("a {}", "b {}", "b {}"):
        style.write_text(text)
        seen.add(report_fingerprint(SCRIPTS / "report.py"))
    style.unlink()
    assert len(seen) == 2


@pytest.mark.parametrize("file", ["report/sections/fixed_cost.py", "analysis/budgets.py"])
def test_the_report_depends_on_sections_that_no_import_names(package, file):
    before = report_fingerprint(SCRIPTS / "report.py")
    with (package / "budgetbench" / file).open("a") as stream:
        stream.write("MORE = 1\n")
    assert report_fingerprint(SCRIPTS / "report.py") != before


def test_a_kernel_is_compiled_of_all_headers_that_its_headers_name():
    names = {path.name for path in compiled_into(ROOT / "budgetlearn" / "gif" / "grower.pyx")}
    assert {"grower.pyx", "loss_kernels.pxd", "nodes.pxd"} <= names
    assert "nodes.pyx" not in names


def test_imports_of_cython_are_read(tmp_path):
    source = tmp_path / "kernel.pyx"
    source.write_text(
        '"""import nothing"""\ncimport numpy as cnp, cython  # import this\n'
        "from libc.math cimport (\n    log,  # natural, of\n    sqrt,\n)\nimport a.b as c\n"
        'from .x import y\ntext = "import z"\n'
    )
    found = {(module, compiled) for module, compiled in source_code._imports(source)}
    assert {
        ("numpy", True),
        ("cython", True),
        ("libc.math", True),
        ("libc.math.sqrt", True),
    } < found
    assert {("libc.math.log", True), ("a.b", False), (".x.y", False)} < found
    assert not {name for name, _ in found if "natural" in name or "this" in name}


def test_nested_classes_are_found():
    spec = {"class": "a.B", "parameters": {"x": [{"class": "c.D", "parameters": {}}, "cost"]}}
    assert list(classes_of(spec)) == ["a.B", "c.D"]
