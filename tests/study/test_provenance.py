"""What results were made with is told in one line for each thing."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from budgetbench.study import provenance


def test_an_origin_names_code_versions_and_machine():
    origin = provenance.origin()
    assert {"commit", "kernels", "machine", "python", "numpy"} <= origin.keys()
    assert all(isinstance(value, str) for value in origin.values())
    assert 0 < provenance.effort()["seconds"] < 10**6
    model = [line for line in lines_of("/proc/cpuinfo") if line.startswith("model name")]
    assert not model or model[0].partition(": ")[2] == origin["processor"] != ""


def lines_of(path):
    return Path(path).read_text().splitlines() if Path(path).exists() else []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels of these processors")
def test_an_origin_names_the_kernels_that_were_chosen():
    code = (
        "import json; from budgetbench.study.provenance import origin; print(json.dumps(origin()))"
    )
    usual = provenance.origin()
    older = {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": usual["instructions"]}
    command = {"env": os.environ | older, "capture_output": True, "text": True, "check": True}
    told = json.loads(subprocess.run([sys.executable, "-c", code], **command).stdout)
    # NumPy and SciPy each bring an OpenBLAS of their own.
    assert told["BLAS"].count("openblas") == told["BLAS"].count("Nehalem") == 2
    assert "Nehalem" not in usual["BLAS"]
    assert told["instructions"] == "baseline" != usual["instructions"]
    same = {"processor", "machine", "python", "numpy", "kernels"}
    assert {name: told[name] for name in same} == {name: usual[name] for name in same}


def test_differences_are_told_with_their_number_of_jobs():
    one = {"numpy": "2.0", "python": "3.12"}
    origins = [{**one, "jobs": 3}, {**one, "numpy": "2.1", "scipy": "1.15", "jobs": 2}]
    assert provenance.summary(origins) == {
        "numpy": "2.0 (3 jobs), 2.1 (2 jobs)",
        "python": "3.12",
        "scipy": "not recorded (3 jobs), 1.15 (2 jobs)",
    }
    assert provenance.summary([]) == {}


def test_work_is_told_in_one_line():
    same = {"python": "3.12", "seconds": 1500.4, "peak_mb": 210, "jobs": 3}
    origins = [same, {"python": "3.13", "jobs": 2}]
    assert provenance.summary(origins)["work"] == "5 jobs, 1,500 s in all, up to 210 MB each"
    effort = provenance.effort()
    assert effort["seconds"] > 0
    assert 20 < effort["peak_mb"] < 20_000


def test_the_hash_of_kernels_is_that_of_their_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path)
    found = []
    for content in (b"one", b"two", b"one"):
        (tmp_path / "kernel.so").write_bytes(content)
        provenance.kernels_hash.cache_clear()
        found.append(provenance.kernels_hash())
    provenance.kernels_hash.cache_clear()
    assert found[0] == found[2] != found[1]


def hash_of(settings):
    study = SimpleNamespace(settings=settings, seed=7)
    return provenance.made_with(study, [])["configuration hash"]


def test_the_hash_of_a_configuration_is_that_of_its_settings():
    first = hash_of({"runs": 3, "seed": 1})
    assert first == hash_of({"seed": 1, "runs": 3})
    assert first != hash_of({"seed": 2, "runs": 3})
    assert len(first) == 16


def test_what_a_study_was_made_with_names_its_settings():
    study = SimpleNamespace(settings={"runs": 3}, seed=7)
    told = provenance.made_with(study, [{"python": "3.12", "jobs": 1}])
    assert told == {
        "python": "3.12",
        "configuration hash": hash_of({"runs": 3}),
        "study seed": 7,
    }


@pytest.fixture
def clone(tmp_path):
    """A project under version control."""

    def git(*words):
        author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "code.py").write_text("x = 1\n")
    git("init")
    git("add", "code.py")
    git("commit", "-m", "Begin")
    return tmp_path


def test_the_commit_says_whether_the_code_was_changed(clone, tmp_path_factory):
    commit = provenance.git_commit(clone)
    assert len(commit) == 12
    assert int(commit, 16)
    (clone / "new.txt").write_text("not tracked")
    assert provenance.git_commit(clone) == commit
    (clone / "code.py").write_text("x = 2\n")
    assert provenance.git_commit(clone) == f"{commit}-dirty"


def test_there_may_be_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.git_commit(tmp_path) is None
    monkeypatch.setattr(provenance, "git_commit", lambda root: None)
    assert provenance.origin.__wrapped__()["commit"] == "not under version control"
