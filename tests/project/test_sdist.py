"""The archive of sources can be built from: with its kernels; without them it says so."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
WORKFLOW = (
    *("Snakefile", "environment.yml", "environment.post-deploy.sh"),
    *("workflow", "config", "profiles"),
    *("resources/costs", "resources/published"),
)
WITHOUT = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__", "*.egg-info")


@pytest.fixture
def clone(tmp_path):
    """A folder with what a build reads."""
    return clone_to(tmp_path / "clone")


def clone_to(clone):
    """Copy what a build reads."""
    shutil.copytree(ROOT / "src", clone / "src", ignore=WITHOUT)
    for name in (*BUILT_FROM, *WORKFLOW):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (clone / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, clone / name)
    return clone


def make_sdist(clone):
    """Run what pip runs to make an sdist; return the finished process."""
    hook = "from setuptools.build_meta import build_sdist; build_sdist('dist')"
    command = [sys.executable, "-W", "ignore", "-c", hook]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)


def test_an_sdist_holds_every_source_and_nothing_compiled(clone):
    done = make_sdist(clone)
    assert done.returncode == 0, done.stderr
    with tarfile.open(next((clone / "dist").glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
        registry = archive.getmember(
            archive.getnames()[0] + "/src/budgetbench/datasets/datasets.yaml"
        )
    sources = {
        path.relative_to(clone).as_posix()
        for part in ("src/budgetlearn", *WORKFLOW)
        for path in (clone / part, *(clone / part).rglob("*"))
        if path.is_file()
    }
    assert sources - inside == set()
    assert {path for path in sources if path.endswith((".pyx", ".pxd"))}
    assert {"setup.py", "pyproject.toml", "LICENSE"} <= inside
    assert not {name for name in inside if name.endswith((".c", ".so"))}
    assert registry.isfile()  # a link in the source tree


def test_a_build_without_kernels_is_refused(clone):
    for path in (clone / "src").rglob("*.pyx"):
        path.unlink()
    done = make_sdist(clone)
    assert done.returncode != 0
    assert "has no .pyx files" in done.stderr


def run(command, folder, **environment):
    """Run a command in a folder and return what it says."""
    process = {"cwd": folder, "env": os.environ | environment, "text": True}
    command = [sys.executable, *map(str, command)]
    done = subprocess.run(command, capture_output=True, check=False, **process)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds budgetlearn as pip installs it, kernels and bytecode included."""
    folder = tmp_path_factory.mktemp("built")
    installed = folder / "installed"
    run(
        ["setup.py", "-q", "build_py", "--build-lib", installed],
        clone_to(folder / "clone"),
    )
    for compiled in (*(ROOT / "src").rglob("*.so"), *(ROOT / "src").rglob("*.pyc")):
        copy = installed / compiled.relative_to(ROOT / "src")
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, copy)
    return installed


@pytest.mark.workflow
def test_what_is_installed_brings_its_workflow(installed, tmp_path):
    rows = "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(40))
    (tmp_path / "table.csv").write_text("a,b,y\n" + rows)
    compare = (*("-m", "budgetlearn", "compare", "table.csv"), *("--target", "y", "--dry-run"))
    said = run(compare, tmp_path, PYTHONPATH=str(installed))
    command = shlex.split(said.splitlines()[-1].partition(": ")[2])
    assert command[-1] == str(installed / "budgetlearn" / "_project" / "Snakefile")
    assert not (tmp_path / "results").exists()


OWN = """
study: mine
datasets: [wine]
methods: [cheapest_2, constant]
methods_file: my_folder/my_methods.yaml
methods_path: my_folder
runs: 1
"""
PRICED = """
study: priced
datasets: [yahoo_like]
costs: [given]
methods: [all_features, constant]
published: [msb-table-2]
"""


# Both studies in forks of one process, whose imports take seconds: a plan, and a run.
CALLS = """
import os, sys, budgetlearn, snakemake.cli
snakefile = os.path.dirname(budgetlearn.__file__) + "/_project/Snakefile"
for words in (["-n", "--configfile", "priced.yaml"], ["--configfile", "own.yaml"]):
    if not os.fork():
        snakemake.cli.main(["--cores", "2", "--snakefile", snakefile, *words])
    assert os.wait()[1] == 0
"""


@pytest.mark.workflow
def test_what_is_installed_does_what_a_clone_does(installed, tmp_path):
    work = tmp_path / "work"
    (work / "my_folder").mkdir(parents=True)
    page = (ROOT / "docs" / "own-method.md").read_text()
    blocks = re.findall(r"^```(?:python|yaml)\n(.*?)^```", page, re.M | re.S)
    for name, text in zip(("cheapest_k.py", "my_methods.yaml"), blocks, strict=False):
        (work / "my_folder" / name).write_text(text)
    (work / "own.yaml").write_text(OWN)
    (work / "priced.yaml").write_text(PRICED)
    before = set(installed.rglob("*"))
    assert "rule costs:" in run(["-c", CALLS], work, PYTHONPATH=str(installed))
    assert (work / "results" / "mine" / "points.parquet").is_file()
    assert "cheapest_2" in (work / "results" / "mine" / "report.html").read_text()
    made = set(installed.rglob("*")) - before
    assert [path for path in made if "__pycache__" not in path.parts] == []
