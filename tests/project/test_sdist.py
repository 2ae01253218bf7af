"""The archive of sources can be built from: with its kernels; without them it says so."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
WITHOUT = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__", "*.egg-info")


@pytest.fixture
def clone(tmp_path):
    """A folder with what a build reads."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "src", clone / "src", ignore=WITHOUT)
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, clone / name)
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
        for path in (clone / "src/budgetlearn").rglob("*")
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
