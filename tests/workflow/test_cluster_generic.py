"""The profile for other schedulers, with a stand-in for `qsub` that really runs the jobs."""

import os
import shlex
import subprocess

import pytest
import yaml

from budgetbench.study import records
from tests.workflow.conftest import TIMEOUT, share_server
from tests.workflow.warm import served

pytestmark = pytest.mark.workflow
# Like the real one, it takes options and a script, starts it detached and prints a number.
QSUB = """#!/bin/sh
echo "$@" >> {calls}
for script; do :; done
setsid sh "$script" >/dev/null 2>&1 </dev/null &
echo $!
"""
STUDY = {
    "study": "generic",
    "title": "On a cluster",
    "datasets": ["wine"],
    "methods": ["logitb", "constant"],
    "runs": 1,
    "runs_per_job": 1,
}


def call_as_python(words):
    """Let the plug-in's submissions call `words` instead of Python; their jobs share a server."""
    from snakemake_executor_plugin_cluster_generic import Executor

    Executor.get_python_executable = lambda self: words
    share_server()


def test_jobs_go_through_the_scheduler_with_their_resources(make_workflow):
    pytest.importorskip(
        "snakemake_executor_plugin_cluster_generic", reason="optional dependency `cluster`"
    )
    workflow = make_workflow()
    tools, calls = workflow.folder / "tools", workflow.folder / "calls"
    tools.mkdir()
    (tools / "qsub").write_text(QSUB.format(calls=calls))
    (tools / "qsub").chmod(0o755)
    study = workflow.folder / "config" / "studies" / "generic.yaml"
    study.write_text(yaml.safe_dump(STUDY))
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    with served(workflow.folder, call_as_python) as words:
        command = (*shlex.split(words), "-m", "snakemake", "--configfile", str(study))
        command += ("--profile", "profiles/cluster-generic", "--latency-wait", "10")
        done = subprocess.run(
            [*command, "--seconds-between-status-checks", "1"],
            cwd=workflow.folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
    assert done.returncode == 0, done.stdout[-6000:]
    points = records.read(workflow.folder / "results" / "generic" / "points.parquet")
    assert set(points["method"]) == {"logitb", "constant"}
    assert (points["status"] == "ok").all()
    # Prepare; split, costs and two fits; collect and report. Fetching runs where the network is.
    prepare, runs, results = calls.read_text().splitlines()
    assert "mem=2000mb -l walltime=00:1:00" in prepare
    assert "ncpus=1:mem=1500mb -l walltime=00:31:00" in runs  # its start, and the study's for a run
    assert "mem=4000mb -l walltime=00:2:00" in results
