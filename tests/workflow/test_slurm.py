"""The workflow on a real SLURM: the same results, a job that is cancelled, one that fails."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
import yaml

from budgetbench.study import records
from budgetbench.study.reruns import differences
from tests.workflow.slurm import PROFILE, Cluster, why_not

pytestmark = pytest.mark.workflow
SLOW = """
import time
from pathlib import Path
from budgetlearn.msb import LogitPathClassifier


class Slow(LogitPathClassifier):
    '''Waits in its first fit until it is cancelled.'''

    def _fit(self, *arguments):
        mark = Path({mark!r})
        if not mark.exists():
            mark.touch()
            time.sleep(300)
        return super()._fit(*arguments)
"""
SECOND = """
import time
from pathlib import Path
from budgetlearn.peers import FreeConstantClassifier

POINTS = Path("results/slurm/points/wine/random")


class Second(FreeConstantClassifier):
    '''Waits in its first fit, where another method of its submission is finished.'''

    def fit(self, X, y):
        mark = Path({mark!r})
        if list(POINTS.glob("*/0.parquet")) and not mark.exists():
            mark.touch()
            time.sleep(300)
        return super().fit(X, y)
"""
STUDY = {
    "study": "slurm",
    "title": "On a cluster",
    "datasets": ["wine"],
    "methods": ["logitb", "constant"],
    "runs": 2,
    "runs_per_job": 1,
    "cluster": {"memory": 800, "minutes": 2},
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="optional dependency `slurm`")
    if why_not():
        (pytest.fail if os.environ.get("BUDGETLEARN_REQUIRE_SLURM") else pytest.skip)(why_not())
    with Cluster(tmp_path_factory.mktemp("slurm")) as node:
        yield node


def configured(workflow, **changes):
    """Return the arguments that run a study, written to a file of its own."""
    path = workflow.folder / "config" / "studies" / "slurm.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}))
    return ("--configfile", path)


@contextmanager
def submitted(workflow, cluster, *arguments, jobs=4):
    """Run snakemake through profiles/slurm, ended with the context whatever happens."""
    command = (*arguments, *PROFILE, "--jobs", jobs)
    with subprocess.Popen(
        [sys.executable, "-m", "snakemake", *map(str, command)],
        cwd=workflow.folder,
        env={**os.environ, **cluster.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_study_gives_the_same_numbers_and_a_cancelled_job_comes_back(cluster, make_workflow):
    workflow = make_workflow()
    (workflow.folder / "slow.py").write_text(SLOW.format(mark=str(workflow.folder / "mark")))
    methods = yaml.safe_load((workflow.folder / "config" / "methods.yaml").read_text())
    methods["slow"] = {"label": "Slow", "class": "slow.Slow"}
    (workflow.folder / "config" / "methods.yaml").write_text(yaml.safe_dump(methods))
    study = configured(workflow, methods=["slow", "constant"])
    with submitted(workflow, cluster, "collect", *study) as process:
        cluster.wait_for(lambda: process.poll() or (workflow.folder / "mark").exists(), 900)
        before = cluster.jobs()
        cluster.wait_for(lambda: list(cluster.jobs().values()).count("RUNNING") == 1, 300)
        (last,) = (number for number, state in cluster.jobs().items() if state == "RUNNING")
        cluster.run("scancel", last)
        output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output[-6000:]
    assert list(before.values()).count("RUNNING") > 1  # several at once
    after = cluster.jobs()
    assert after[last] == "CANCELLED"
    assert set(after.values()) == {"COMPLETED", "CANCELLED"}
    results = workflow.folder / "results" / "slurm"
    on_cluster = records.read(results / "points.parquet")
    shutil.rmtree(results)
    workflow.run("collect", *study)
    assert differences(on_cluster, records.read(results / "points.parquet")).empty


def test_a_finished_job_outlives_a_cancelled_sibling(cluster, make_workflow):
    workflow = make_workflow()
    mark = workflow.folder / "mark"
    (workflow.folder / "second.py").write_text(SECOND.format(mark=str(mark)))
    methods = yaml.safe_load((workflow.folder / "config" / "methods.yaml").read_text())
    for name in ("one", "two"):  # whichever comes second waits
        methods[name] = {"label": name, "class": "second.Second"}
    (workflow.folder / "config" / "methods.yaml").write_text(yaml.safe_dump(methods))
    study = configured(workflow, methods=["one", "two", "constant"], runs=1)
    with submitted(workflow, cluster, "collect", *study) as process:
        cluster.wait_for(lambda: process.poll() or mark.exists(), 900)
        points = workflow.folder / "results/slurm/points/wine/random"
        before = {path: path.read_bytes() for path in points.glob("*/0.parquet")}
        (running,) = (n for n, state in cluster.jobs().items() if state == "RUNNING")
        cluster.run("scancel", running)
        output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output[-6000:]
    assert cluster.jobs()[running] == "CANCELLED"
    assert before
    for path, content in before.items():
        assert path.read_bytes() == content  # not fitted again: the clocks of the first fit, too
    code, told = workflow.plan("collect", *study, "-n")
    assert code == 0
    assert "Nothing to be done" in told, told


def test_a_job_that_fails_is_reported_with_its_log(cluster, make_workflow):
    workflow = make_workflow()
    table = ("results/slurm/data/wine.parquet",)
    workflow.run(*table, *configured(workflow))  # what is there need not be submitted
    study = configured(workflow, costs=["given"])  # wine has no price list in this registry entry
    datasets = workflow.folder / "config" / "datasets.yaml"
    registry = yaml.safe_load(datasets.read_text())
    registry["datasets"]["wine"]["costs"] = "prices.csv"
    datasets.write_text(yaml.safe_dump(registry))
    (workflow.folder / "prices.csv").write_text("feature,cost\nalcohol,1\n")
    with submitted(workflow, cluster, *study, "--retries", "0") as process:
        output, _ = process.communicate(timeout=900)
    assert process.returncode == 1
    assert "Error in group runs" in output
    assert "rule costs:" in output
    assert "results/slurm/logs/costs/wine/given/0.log" in output
    log = (workflow.folder / "results/slurm/logs/costs/wine/given/0.log").read_text()
    assert "CostError" in log
