"""`make setup` says in one sentence what a machine lacks, and installs all of the lock once."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A Python that writes down what it is asked to install, and fails where a file says so.
PYTHON = """
for last; do :; done
case "$*" in
"-m venv "*) rm -rf .venv; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
"-m pip "*" -r "*) echo "$last" >> asked; [ ! -e broken ] ;;
"-m pip "*" -e .") echo kernels >> asked ;;
"-m pip --version") ;;
*) exec "{}" "$@" ;;
esac"""
FIRST, OTHERS = ".venv/builders.lock", ".venv/others.lock"


@pytest.fixture
def clone(tmp_path):
    """A folder with just what `make setup` reads first, and an empty folder of programs."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    clone = tmp_path / "a clone"
    (clone / ".ci").mkdir(parents=True)
    (clone / "src").mkdir()
    for name in ("Makefile", "requirements.lock", "setup.py", ".ci/preflight"):
        shutil.copy(ROOT / name, clone / name)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "find", "make", "uname"):
        (programs / name).symlink_to(shutil.which(name))
    return clone


def program(clone, name, text):
    """Put an executable of that name and text on the clone's PATH."""
    path = clone.parent / "programs" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def make_setup(clone, target="setup", **environment):
    """Run make with no programs but the clone's own, which fails; return its error message."""
    clean = {k: v for k, v in os.environ.items() if k not in {"CC", "MAKEFLAGS", "MAKELEVEL"}}
    done = subprocess.run(
        ["make", target],
        cwd=clone,
        env=clean | {"PATH": str(clone.parent / "programs")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert not done.stdout
    assert done.stderr.count("\n") == 1
    assert not (clone / ".venv").exists()
    return done.stderr


def this_python(clone):
    """Put this interpreter on the clone's PATH."""
    program(clone, "python3", f'exec "{sys.executable}" "$@"')


def test_no_python(clone):
    assert "needs Python 3.11 or newer, but python3 is not there" in make_setup(clone)


def test_old_python(clone):
    program(clone, "python3.10", "echo 3.10; exit 1")
    message = make_setup(clone, PYTHON="python3.10")
    assert "needs Python 3.11 or newer, but python3.10 is 3.10" in message


def test_no_pip(clone):
    program(clone, "python3", f'[ "$1" != -m ] && exec "{sys.executable}" "$@"')
    assert "needs pip, which python3 lacks" in make_setup(clone)


def test_no_compiler(clone):
    this_python(clone)
    message = make_setup(clone, CC="cc -pthread")
    assert 'needs a C compiler, but "cc -pthread" does not work' in message


def test_no_headers(clone):
    this_python(clone)
    program(clone, "cc", "read -r source; [ \"$source\" = 'int nothing;' ]")
    assert "needs the C headers of python3" in make_setup(clone, CC="cc")


def test_a_lock_left_behind(clone):
    lock = clone / ".snakemake" / "locks" / "0.input.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    this_python(clone)
    assert "snakemake --unlock" in make_setup(clone, "run")


def test_this_machine_has_everything():
    done = subprocess.run(
        ["sh", ".ci/preflight"],
        cwd=ROOT,
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout + done.stderr == ""


@pytest.fixture
def prepared(clone):
    """A clone on a machine that has everything, with a Python that only writes down."""
    for name in ("sed", "touch", "mkdir", "cp", "rm"):
        (clone.parent / "programs" / name).symlink_to(shutil.which(name))
    program(clone, "python3", PYTHON.format(sys.executable))
    program(clone, "cc", "exit 0")
    return clone


def asked(clone):
    """Run `make setup`; return whether it ended well and what it installed since the last time."""
    (clone / "asked").write_text("")
    done = subprocess.run(
        ["make", "setup"],
        cwd=clone,
        env={"PATH": str(clone.parent / "programs"), "CC": "cc"},
        capture_output=True,
        check=False,
    )
    return done.returncode == 0, (clone / "asked").read_text().split()


def entries(path):
    """Return name → text of the entries of a lock."""
    parts = re.split(r"\n(?=[\w-])", "\n" + path.read_text().strip())[1:]
    found = {}
    for part in parts:
        found.setdefault(part.split("==")[0], []).append(part)
    return found


def test_all_of_the_lock_is_installed_once(prepared):
    fine, steps = asked(prepared)
    assert fine
    assert steps[0] == FIRST
    assert sorted(steps[1:]) == [OTHERS, "kernels"]
    first, others = entries(prepared / FIRST), entries(prepared / OTHERS)
    assert first.keys() == {"cython", "numpy", "pip", "setuptools"}
    assert not first.keys() & others.keys()
    assert first | others == entries(ROOT / "requirements.lock")


def test_a_second_setup_does_nothing(prepared):
    asked(prepared)
    assert asked(prepared) == (True, [])


def test_an_interrupted_setup_goes_on(prepared):
    asked(prepared)
    (prepared / ".venv" / "packages.done").unlink()
    (prepared / "broken").touch()
    assert asked(prepared) == (False, [OTHERS])
    (prepared / "broken").unlink()
    assert asked(prepared) == (True, [OTHERS])
    (prepared / ".venv" / "builders.done").unlink()
    fine, steps = asked(prepared)
    assert (fine, steps[0]) == (True, FIRST)
    assert sorted(steps[1:]) == [OTHERS, "kernels"]
