"""The archive of sources can be built from: with its kernels; without them it says so."""

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
WORKFLOW = ("Snakefile", "environment.yml", "workflow", "config", "profiles")
WITHOUT = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__", "*.egg-info")


@pytest.fixture
def clone(tmp_path):
    """A folder with what a build reads."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "src", clone / "src", ignore=WITHOUT)
    for name in (*BUILT_FROM, *WORKFLOW):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
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
            archive.getnames()[0] + "/src/budgetlearn/datasets/datasets.yaml"
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
    assert "holds no .pyx file" in done.stderr


@pytest.mark.workflow
def test_what_is_installed_brings_its_workflow(clone, tmp_path):
    def run(command, folder, **environment):
        process = {"cwd": folder, "env": os.environ | environment, "text": True}
        done = subprocess.run(command, capture_output=True, check=False, **process)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr

    installed, work = tmp_path / "installed", tmp_path / "work"
    run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", installed], clone)
    for kernel in (ROOT / "src").rglob("*.so"):
        shutil.copy(kernel, installed / kernel.relative_to(ROOT / "src"))
    work.mkdir()
    rows = "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(40))
    (work / "table.csv").write_text("a,b,y\n" + rows)
    compare = (*("-m", "budgetlearn.cli", "compare", "table.csv"), *("--target", "y", "--dry-run"))
    said = run([sys.executable, *compare], work, PYTHONPATH=str(installed))
    command = shlex.split(said.splitlines()[-1].partition(": ")[2])
    assert command[-1] == str(installed / "budgetlearn" / "_project" / "Snakefile")
    plan = run([sys.executable, "-m", *command, "-n"], work, PYTHONPATH=str(installed))
    assert "rule fit:" in plan
