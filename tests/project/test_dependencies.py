"""pyproject.toml, requirements.lock and environment.yml name the same packages."""

import functools
import os
import re
import subprocess
import tomllib
from itertools import chain, product
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.looping import for_each

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
PYPI_NAMES = {"matplotlib-base": "matplotlib"}
OUTSIDE = {"policies"}  # extras that the project's own environment goes without
DEVELOPERS = {"dev", "docs"}  # extras that jobs go without
BUILD = {"cython", "pip", "setuptools"}
CONDA_ONLY = {"python", "c-compiler"}


def declared(outside=OUTSIDE):
    """Return name → specifiers of everything in the project's own environment."""
    extras = PROJECT["optional-dependencies"]
    inside = [lines for name, lines in extras.items() if name not in outside]
    lines = chain(PROJECT["dependencies"], *inside)
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


@functools.cache
def locked():
    """Return name → [(version, marker, hashes)] of the lock's entries."""
    entries = {}
    for entry in re.split(r"\n(?=[\w-])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE)):
        pin, *hashes = entry.replace("\\\n", "").split("--hash=sha256:")
        pin = Requirement(pin.strip())
        (version,) = (s.version for s in pin.specifier if s.operator == "==")
        row = (version, pin.marker, [digest.strip() for digest in hashes])
        entries.setdefault(canonicalize_name(pin.name), []).append(row)
    return entries


def conda():
    """Return name → specifiers of environment.yml, under PyPI's names."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    lines = []
    for item in environment["dependencies"]:
        lines += item["pip"] if isinstance(item, dict) else [item]
    # conda's = takes any last number, as PyPI's ==3.13.* does.
    parsed = [Requirement(re.sub(r"^(\w+)=(\d[\d.]*)$", r"\1==\2.*", line)) for line in lines]
    return {PYPI_NAMES.get(r.name, canonicalize_name(r.name)): r.specifier for r in parsed}


def test_lock_satisfies_pyproject():
    pins = {name: [version for version, _, _ in rows] for name, rows in locked().items()}
    wrong = [
        (name, pins.get(name))
        for name, wanted in declared().items()
        if name not in pins or not all(version in wanted for version in pins[name])
    ]
    assert declared()
    assert wrong == [], "run make lock"


@for_each("minor, platform", product([11, 12, 13], ["linux", "darwin"]))
def test_lock_has_one_version_for_each_machine(minor, platform):
    machine = {
        "python_version": f"3.{minor}",
        "python_full_version": f"3.{minor}.0",
        "sys_platform": platform,
        "platform_machine": "x86_64",
    }
    for name in declared():
        fitting = [v for v, marker, _ in locked()[name] if not marker or marker.evaluate(machine)]
        assert len(fitting) == 1, f"{name} on Python 3.{minor}, {platform}: {fitting}"


def test_lock_has_hashes():
    for name, entries in locked().items():
        for version, _, hashes in entries:
            assert hashes, f"{name} {version} has no hash"
            assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)


def test_lock_names_no_place():
    assert not re.findall(r"\w+://\S*|file:\S*|.*--(?:find-links|index-url|extra-index)\S*", LOCK)
    assert " @ " not in LOCK


def test_environment_is_in_step_with_pyproject():
    found = {name: spec for name, spec in conda().items() if name not in CONDA_ONLY}
    built_with = {name: spec for name, spec in declared().items() if name in BUILD}
    assert found == declared(OUTSIDE | DEVELOPERS) | built_with


def test_environment_has_the_containers_python_and_a_compiler():
    image = re.search(r"^FROM python:(\S+)-slim", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert str(conda()["python"]) == f"=={image[1]}.*"
    assert f"{image[1]}.0" in Requirement(f"python{PROJECT['requires-python']}").specifier
    assert "c-compiler" in conda()


STUB = """#!/bin/sh
echo "$@"
for last; do :; done
(cd "$last" && find . -type f | sort)
"""


def test_an_environment_of_snakemake_gets_the_package_of_the_workflows_folder(tmp_path):
    source, stub = tmp_path / "source", tmp_path / "python"
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src/a.so"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    (source / "src/a.pyx").touch()
    stub.write_text(STUB)
    stub.chmod(0o755)
    # Snakemake looks for it under this name, beside the file that the rules give it.
    script = (ROOT / "environment.yml").with_suffix(".post-deploy.sh")
    names = {"BUDGETLEARN_FOLDER": str(source), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = {"env": os.environ | names, "capture_output": True, "text": True, "check": True}
    told, *copied = subprocess.run(["sh", script], **command).stdout.splitlines()
    assert told.startswith("-m pip install --no-build-isolation --no-deps /")
    kept = ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py", "src/a.pyx")
    assert copied == [f"./{name}" for name in kept]
    assert not Path(told.split()[-1]).exists()
    assert "os.environ.update(BUDGETLEARN_FOLDER=ROOT)" in (ROOT / "Snakefile").read_text()


def test_build_requirements_are_installed_for_an_unisolated_build():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for requirement in map(Requirement, build):
        assert declared()[requirement.name] == requirement.specifier
