"""Fingerprints: an edit of code changes those of the jobs that may run it, and no others."""

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
    own_files,
    report_fingerprint,
    script_fingerprint,
)
from budgetlearn.exceptions import ConfigError

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
FIT = SCRIPTS / "fit.py"


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of both packages, kernels included, of which fingerprints are taken."""
    copy = tmp_path_factory.mktemp("packages")
    for name in source_code.OWN:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_code, "ROOT", copy)
        yield copy


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


TICKS = itertools.count(1)
BOTH, FITS, REPORT, NONE = {"fits", "report"}, {"fits"}, {"report"}, set()


def prints():
    report = report_fingerprint(SCRIPTS / "report.py")
    return {"fits": script_fingerprint(FIT), "report": report}


@pytest.mark.parametrize(
    ("file", "touched"),
    [
        ("budgetlearn/costs.py", FITS),
        ("budgetlearn/msb/search.py", FITS),
        ("budgetlearn/gif/grower.pyx", FITS),
        ("budgetlearn/gif/nodes.pxd", FITS),
        ("budgetlearn/cli/fit.py", NONE),
        ("budgetlearn/cli/templates/style.css", REPORT),
        ("budgetlearn/cli/templates/base.html.j2", REPORT),
        ("budgetbench/datasets/dataset.py", FITS),
        ("budgetbench/datasets/datasets.yaml", NONE),  # its entries are parameters of their jobs
        ("budgetbench/study/experiment.py", FITS),
        ("budgetbench/analysis/budgets.py", REPORT),
        ("budgetbench/report/page.py", REPORT),
        ("budgetbench/report/sections/fixed_cost.py", REPORT),
        ("budgetbench/report/more.css", REPORT),
    ],
)
def test_an_edit_touches_what_may_run_it(package, file, touched):
    first, path = prints(), package / file
    written = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\n")
    os.utime(path, ns=(written, written + next(TICKS)))  # no kernel is older
    second = prints()
    if not written:
        path.unlink()
    assert {name for name in first if first[name] != second[name]} == touched


def test_a_kernel_counts_beside_its_source(package):
    first, kernel = prints(), kernel_of(package / "budgetlearn" / "gif" / "grower.pyx")
    kernel.write_bytes(kernel.read_bytes() + b"\0")
    second = prints()
    assert {name for name in first if first[name] != second[name]} == FITS


def test_the_script_counts_itself():
    assert script_fingerprint(FIT) != script_fingerprint(SCRIPTS / "split.py")


@pytest.mark.parametrize("file", ["grower.pyx", "nodes.pxd"])
def test_a_kernel_older_than_its_source_is_refused(package, file):
    later = kernel_of(package / "budgetlearn" / "gif" / "grower.pyx").stat().st_mtime_ns + 10**9
    os.utime(package / "budgetlearn" / "gif" / file, ns=(later, later))
    with pytest.raises(ConfigError, match=rf"was compiled before .*{file}.*make setup"):
        script_fingerprint(FIT)


def test_a_missing_kernel_is_named(package):
    kernel_of(package / "budgetlearn" / "gif" / "grower.pyx").unlink()
    with pytest.raises(ConfigError, match=r"gif\.grower is not compiled.*make setup"):
        script_fingerprint(FIT)


def test_the_kernels_of_this_clone_are_up_to_date(monkeypatch):
    monkeypatch.setattr(source_code, "ROOT", ROOT)
    for source in ROOT.rglob("*.pyx"):
        source_code._check_kernel(source)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's own beside another one, and a package of theirs."""
    for file in ("one_module.py", "beside.py", "one_package/__init__.py", "one_package/a/b.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("LEVEL = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "touched"),
    [
        ("one_module.py", {"one_module.Own"}),
        ("beside.py", {"one_module.Own"}),
        ("one_package/__init__.py", {"one_package.a.b.Own"}),
        ("one_package/a/b.py", {"one_package.a.b.Own"}),
    ],
)
def test_a_class_of_ones_own_counts_with_what_it_may_import(own, file, touched):
    classes = ("one_module.Own", "one_package.a.b.Own", "budgetlearn.gif.GIFClassifier")
    first = {name: script_fingerprint(FIT, name) for name in classes}
    with (own / file).open("a") as stream:
        stream.write("MORE = 2\n")
    second = {name: script_fingerprint(FIT, name) for name in classes}
    assert {name for name in classes if first[name] != second[name]} == touched


@pytest.mark.parametrize("name", ["sklearn.ensemble.X", "json.X", "budgetlearn.X", "nowhere.X"])
def test_other_packages_are_known_by_their_version(name):
    assert not own_files(name)


def test_a_kernel_is_compiled_of_all_headers_that_its_headers_name():
    names = {path.name for path in compiled_into(ROOT / "budgetlearn" / "gif" / "grower.pyx")}
    assert {"grower.pyx", "loss_kernels.pxd", "nodes.pxd"} <= names
    assert "nodes.pyx" not in names


def test_nested_classes_are_found():
    spec = {"class": "a.B", "parameters": {"x": [{"class": "c.D", "parameters": {}}, "cost"]}}
    assert list(classes_of(spec)) == ["a.B", "c.D"]
