"""Finished results stay, after a killed job and after runs that had no result at first."""

import pytest

from budgetbench.study import records

pytestmark = pytest.mark.workflow
CALL = ("collect", "--configfile", "config/studies/lost.yaml")
METHODS = """
import os
import signal
from pathlib import Path

from budgetlearn.peers import FreeConstantClassifier


def is_first(name):
    first = not Path(name).exists()
    Path(name).touch()
    return first


class Breaks(FreeConstantClassifier):
    def fit(self, X, y):
        if is_first("broken"):
            os.kill(os.getppid(), signal.SIGKILL)  # its job, as a cluster does
        return super().fit(X, y)


class Fails(FreeConstantClassifier):
    def fit(self, X, y):
        if is_first("failed"):
            raise ValueError("not\\udcff yet")
        return super().fit(X, y)
"""
ENTRIES = """
breaks: {label: Breaks, class: own_methods.Breaks}
fails: {label: Fails, class: own_methods.Fails}
"""
STUDY = """
study: lost
datasets: [wine]
runs: 1
title: Lost
methods: [breaks, fails, constant]
"""


def test_finished_jobs_are_taken_over_and_repeated_ones_are_done(make_workflow):
    workflow = make_workflow()
    (workflow.folder / "own_methods.py").write_text(METHODS)
    (workflow.folder / "config/studies/lost.yaml").write_text(STUDY)
    with (workflow.folder / "config/methods.yaml").open("a") as file:
        file.write(ENTRIES)
    output = workflow.again(*CALL, fails=True)
    assert "fails on wine, random costs, run 0: failed: ValueError: not? yet" in output
    assert "--- Logging error ---" not in output
    points = workflow.folder / "results/lost/points/wine/random"
    assert not (points / "breaks/0.parquet").exists()
    finished = points / "constant/0.parquet"
    before = finished.read_bytes()
    finished.unlink()  # as Snakemake does if one job of a submission was killed

    output = workflow.again(*CALL)
    assert output.count("rule fit:") == 3, output
    assert finished.read_bytes() == before  # including the times of the first fit
    assert (records.read(points / "fails/0.parquet")["status"] == "ok").all()

    code, told = workflow.plan(*CALL, "-n")
    assert code == 0
    assert "Nothing to be done" in told, told
    assert not (workflow.folder / "results/lost/finished").exists()
    assert not list((workflow.folder / "results/lost/failures").rglob("*.json"))
