"""A method that dies affects nothing else, and a killed run leaves only a lock."""

import os
import signal
import time

import pandas as pd
import psutil
import pytest

from tests.workflow.conftest import be_a_call

pytestmark = pytest.mark.workflow
STUDY = "config/studies/deaths.yaml"
CALL = ("--configfile", STUDY)
# A module that a user may have next to the Snakefile.
METHODS = """
import os
import signal
import sys
import time

from budgetlearn.peers import FreeConstantClassifier


class Kills(FreeConstantClassifier):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Leaves(FreeConstantClassifier):
    def fit(self, X, y):
        sys.exit(3)


class Sleeps(FreeConstantClassifier):
    def fit(self, X, y):
        with open("sleeping", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(600)
"""
ENTRIES = """
kills: {label: Kills, class: own_methods.Kills}
leaves: {label: Leaves, class: own_methods.Leaves}
sleeps: {label: Sleeps, class: own_methods.Sleeps}
"""
PROBE = """
study: deaths
title: Deaths
datasets: [wine]
runs: 2
runs_per_job: 2
time_limit: 3
methods: [kills, leaves, sleeps, constant]
"""


@pytest.fixture
def workflow(make_workflow):
    workflow = make_workflow()
    (workflow.folder / "own_methods.py").write_text(METHODS)
    (workflow.folder / STUDY).write_text(PROBE)
    with (workflow.folder / "config" / "methods.yaml").open("a") as file:
        file.write(ENTRIES)
    return workflow


def test_deaths_are_rows_told_at_the_end_and_tried_again(workflow):
    output = workflow.again(*CALL, fails=True)
    assert "6 runs did not complete" in output
    for line in (
        "kills on wine, random costs, run 1: died: its process was killed by SIGKILL",
        "leaves on wine, random costs, run 0: died: SystemExit: 3",
        "sleeps on wine, random costs, run 0: timeout: stopped after 3 s",
    ):
        assert line in output
    results = workflow.folder / "results" / "deaths"
    coverage = pd.read_csv(results / "tables" / "coverage.csv").set_index("method")
    assert coverage.loc["kills", "message"].startswith("died: its process was killed by SIGKILL")
    assert "Sleeps" in (results / "report.html").read_text()

    code, told = workflow.plan(*CALL, "-n")
    assert code == 0
    assert told.count("rule fit:") == 2, told  # runs that were out of time would be so again

    mended = METHODS.replace("os.kill(os.getpid(), signal.SIGKILL)", "return super().fit(X, y)")
    mended = mended.replace("sys.exit(3)", "return super().fit(X, y)")
    mended = mended.replace("time.sleep(600)", "return super().fit(X, y)")
    (workflow.folder / "own_methods.py").write_text(mended)
    assert "did not complete" not in workflow.again("collect", *CALL)


def wait_for(condition, seconds=240):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_killing_the_main_process_ends_everything_and_leaves_a_lock(workflow):
    settings = ("--config", "methods=[sleeps,constant]", "time_limit=null")
    with open(os.devnull, "w") as nowhere:
        main = workflow.begin(be_a_call, nowhere, "--cores", 1, *CALL, *settings)
    sleeping = workflow.folder / "sleeping"
    try:
        wait_for(lambda: sleeping.exists() and sleeping.read_text())
        method = psutil.Process(int(sleeping.read_text()))
        # Jobs are forks of a server that has its own session and ends with its caller.
        started = [
            *psutil.Process(main).children(recursive=True),
            method,
            *method.parents()[:2],
        ]
    finally:
        os.kill(main, signal.SIGKILL)
        os.waitpid(main, 0)
    wait_for(lambda: not [p for p in started if p.is_running() and p.status() != "zombie"], 30)

    assert workflow.plan(*CALL, "-n", "--quiet")[0] == 0  # a dry run needs no lock
    assert "--unlock" in workflow.again(*CALL, "--until", "split", fails=True)
    assert workflow.plan(*CALL, "--unlock")[0] == 0
    workflow.again(*CALL, "--until", "split")


def test_what_is_there_can_be_reported(workflow):
    (workflow.folder / STUDY).write_text(PROBE.replace("kills, leaves, sleeps", "all_features"))
    code, refused = workflow.plan(*CALL, "--config", "strict=false")
    assert code
    assert "which has none yet" in refused
    workflow.again(*CALL, "--until", "fit")
    points = workflow.folder / "results/deaths/points/wine/random"
    os.remove(points / "all_features" / "0.parquet")
    output = workflow.again(*CALL, "--config", "strict=false")
    assert "rule fit:" not in output
    coverage = pd.read_csv(workflow.folder / "results/deaths/tables/coverage.csv")
    assert coverage.set_index("method").loc["all_features", "n_missing"] == 2

    page = ("--rerun-triggers", "mtime", "--forcerun", "report")
    told = workflow.again(*CALL, "--config", "strict=false", "seed=5", *page, fails=True)
    assert (
        "outdated: the settings of constant on wine changed since. Snakemake took them for" in told
    )
