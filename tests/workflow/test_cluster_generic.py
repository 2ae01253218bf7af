"""The profile for other schedulers, with a stand-in for `qsub` that really runs the jobs."""

import os

import pytest
import yaml

from budgetlearn.benchmark import records

pytestmark = pytest.mark.workflow
# Like the real one: takes options and a script, starts it detached, prints a number.
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
}


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
    workflow.run(
        *("--configfile", study, "--profile", "profiles/cluster-generic"),
        *("--seconds-between-status-checks", 1, "--latency-wait", 10),
        PATH=path,
    )
    points = records.read(workflow.folder / "results" / "generic" / "points.parquet")
    assert set(points["method"]) == {"logitb", "constant"}
    assert (points["status"] == "ok").all()
    asked = calls.read_text().splitlines()
    fits = [line for line in asked if "mem=4000mb" in line and "walltime=00:240:00" in line]
    assert len(fits) == 2
    # prepare, split, costs, two fits, collect, report; fetching stays where the network is
    assert len(asked) == 7
