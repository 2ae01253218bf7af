"""After a test that was killed, the machine can still start a SLURM for tests."""

import os

import pytest

from tests.workflow import slurm


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda name, path: name)
    monkeypatch.setattr(slurm.os, "geteuid", lambda: 0)
    path = tmp_path / "etc.conf"
    monkeypatch.setattr(slurm, "SYSTEM_CONFIG", path)
    return path


@pytest.fixture
def left(tmp_path, config):
    """Make the folder that a killed test leaves."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    (folder / "slurm.conf").write_text(slurm.CONFIG)
    (folder / "slurmctld.pid").write_text("999999999\n")
    (folder / "slurmd-node0.pid").write_text(
        f"{os.getpid()}\n"
    )  # an id that now belongs to this process
    config.symlink_to(folder / "slurm.conf")
    return folder


def test_the_link_of_a_killed_test_is_no_slurm(left):
    assert slurm.why_not() == ""
    (left / "slurm.conf").unlink()
    assert slurm.why_not() == ""  # a link to nowhere


def test_a_test_at_work_keeps_its_slurm(left, monkeypatch):
    monkeypatch.setattr(slurm.psutil.Process, "name", lambda self: "slurmd")
    assert "a SLURM of its own" in slurm.why_not()
    monkeypatch.setattr(slurm.psutil.Process, "status", lambda self: "zombie")
    assert slurm.why_not() == ""


def test_a_slurm_of_the_machine_is_left_alone(config):
    config.write_text(slurm.CONFIG)  # no link
    assert "a SLURM of its own" in slurm.why_not()
    other = config.with_name("site.conf")
    other.write_text("ClusterName=site\n")
    config.unlink()
    config.symlink_to(other)
    assert "a SLURM of its own" in slurm.why_not()
