"""The workflow on a real SLURM: the same results, failing jobs, and submissions that are ended."""

import os
import shlex
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from budgetbench.study import records
from budgetbench.study.stored_results import differences
from tests.workflow.conftest import share_server
from tests.workflow.slurm import PROFILE, Cluster, why_not
from tests.workflow.warm import served

pytestmark = pytest.mark.workflow
# The second method of each submission waits for its end if the first one is finished.
SECOND = """
import os
import time
from pathlib import Path
from budgetlearn.msb import LogitPathClassifier

FOLDER = Path({folder!r})


class Second(LogitPathClassifier):
    def _fit(self, *arguments):
        job = os.environ.get("SLURM_JOB_ID")
        if job is None:  # not on the cluster: nothing to wait for
            return super()._fit(*arguments)
        first, waits, hog = (FOLDER / f"{{name}}-{{job}}" for name in ("first", "waits", "hog"))
        if not first.exists():
            first.write_text(str(os.getpid()))
        if first.read_text() != str(os.getpid()) and not waits.exists():
            waits.touch()
            held = None
            for _ in range(1200):
                time.sleep(0.25)
                if hog.exists() and held is None:
                    held = b"x" * 1_500_000_000
        return super()._fit(*arguments)
"""
DEATHS = ("memory", "time", "cancel", "requeue", "node")
OWN = ("chunk=0", "chunk=1", "chunk=2")  # runs for the first two ways, if one of them is alone
STUDY = {
    "study": "slurm",
    "title": "On a cluster",
    "datasets": ["wine"],
    "methods": ["logitb", "constant"],
    "runs": 1,
    "runs_per_job": 1,
    "cluster": {"memory": 800, "minutes": 2},
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="optional dependency `slurm`")
    if why_not():
        (pytest.fail if os.environ.get("BUDGETLEARN_REQUIRE_SLURM") else pytest.skip)(why_not())
    with Cluster(tmp_path_factory.mktemp("slurm"), n_nodes=2) as nodes:
        yield nodes


def prompt(words):
    """Let the plug-in poll every second, and call `words` instead of Python in its submissions.

    By default it waits ten seconds longer each time that no job has ended.
    """
    from snakemake_executor_plugin_slurm import Executor

    Executor.next_seconds_between_status_checks = property(lambda self: 1, lambda self, seconds: 0)
    Executor.get_python_executable = lambda self: words


def step(words, arguments):
    """Call `words` as the step of a submission, too, except where runs of `OWN` wait to be ended.

    SLURM counts only the memory of processes that it started itself, so their step is a new Python
    process, which gets SLURM's signals. Of the others the client does, and they end with it.
    """
    waits = Path("second.py").exists() and "SLURM_RESTART_COUNT" not in os.environ
    own = any(word.endswith(OWN) for word in arguments if word.startswith("fit:"))
    if waits and own and arguments[arguments.index("--attempt") + 1] == "1":
        Path("marks", f"own-{os.environ['SLURM_JOB_ID']}").touch()
        return
    from snakemake_executor_plugin_slurm_jobstep import Executor

    Executor.get_python_executable = lambda self: words
    share_server()


@pytest.fixture(scope="module")
def snakemake(cluster, tmp_path_factory):
    """Words that call Snakemake without the time of its start."""
    with served(tmp_path_factory.mktemp("served"), prompt, step) as words:
        yield [*shlex.split(words), "-m", "snakemake"]


def configured(workflow, **changes):
    """Write a study to a file, and return the arguments that run it."""
    path = workflow.folder / "config" / "studies" / "slurm.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}))
    return ("--configfile", path)


@contextmanager
def submitted(workflow, cluster, snakemake, *arguments, jobs=4):
    """Run snakemake through profiles/slurm; it ends with the context, whatever happens."""
    command = (*arguments, *PROFILE, "--jobs", jobs)
    with subprocess.Popen(
        [*snakemake, *map(str, command)],
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


def test_a_job_that_fails_is_reported_with_its_log(cluster, snakemake, make_workflow):
    workflow = make_workflow()
    table = ("results/slurm/data/wine.parquet",)
    workflow.again(*table, *configured(workflow))  # existing files need not be submitted
    study = configured(workflow, costs=["given"])  # wine has no price list in this registry entry
    datasets = workflow.folder / "config" / "datasets.yaml"
    registry = yaml.safe_load(datasets.read_text())
    registry["datasets"]["wine"]["costs"] = "prices.csv"
    datasets.write_text(yaml.safe_dump(registry))
    (workflow.folder / "prices.csv").write_text("feature,cost\nalcohol,1\n")
    with submitted(workflow, cluster, snakemake, *study, "--retries", "0") as process:
        output, _ = process.communicate(timeout=900)
    assert process.returncode == 1
    assert "Error in group runs" in output
    assert "rule costs:" in output
    assert "results/slurm/logs/costs/wine/given/0.log" in output
    log = (workflow.folder / "results/slurm/logs/costs/wine/given/0.log").read_text()
    assert "CostError" in log


def end_each(cluster, marks):
    """End every submission in a different way; return {way: number of the job}."""
    lines = cluster.run("squeue", "-h", "-t", "RUNNING", "-o", "%i %N").splitlines()
    nodes = dict(line.split() for line in lines)
    alone = next(job for job, node in nodes.items() if list(nodes.values()).count(node) == 1)
    others = sorted(nodes.keys() - {alone}, key=lambda job: not (marks / f"own-{job}").exists())
    ended = dict(zip(DEATHS, [*others, alone], strict=True))
    cluster.run("scontrol", "update", f"jobid={ended['time']}", "EndTime=now+1")
    (marks / f"hog-{ended['memory']}").touch()
    cluster.run("scancel", ended["cancel"])
    cluster.run("scontrol", "requeue", ended["requeue"])
    cluster.run("scontrol", "update", f"jobid={alone}", "Requeue=0")
    node = f"nodename={nodes[alone]}"
    cluster.run("scontrol", "update", node, "state=down", "reason=test")
    cluster.wait_for(lambda: cluster.jobs()[alone] == "NODE_FAIL", 60)
    # The node answers again, and comes back by itself (ReturnToService).
    cluster.wait_for(lambda: "down" not in cluster.run("sinfo", "-h", "-N", "-o", "%T"), 60)
    return ended


def test_a_study_gives_the_same_numbers_and_finished_jobs_outlive_every_end_of_their_siblings(
    cluster, snakemake, make_workflow
):
    workflow = make_workflow()
    marks = workflow.folder / "marks"
    marks.mkdir()
    (workflow.folder / "second.py").write_text(SECOND.format(folder=str(marks)))
    methods = yaml.safe_load((workflow.folder / "config" / "methods.yaml").read_text())
    for name in ("one", "two"):  # whichever comes second waits
        methods[name] = {"label": name, "class": "second.Second"}
    (workflow.folder / "config" / "methods.yaml").write_text(yaml.safe_dump(methods))
    study = configured(workflow, methods=["one", "two", "constant"], runs=len(DEATHS))
    results = workflow.folder / "results/slurm"
    points = results / "points/wine/random"
    # The third method waits for nothing and would only take time.
    fits = [
        f"results/slurm/points/wine/random/{method}/{run}.parquet"
        for method in ("one", "two")
        for run in range(len(DEATHS))
    ]
    others = cluster.jobs()
    with submitted(workflow, cluster, snakemake, *fits, *study, jobs=len(DEATHS)) as process:
        cluster.wait_for(lambda: process.poll() or len([*marks.glob("waits-*")]) == 5, 300)
        before = {path: path.read_bytes() for path in points.glob("*/*.parquet")}
        asked = cluster.run("squeue", "-h", "-o", "%m %l").splitlines()
        ended = end_each(cluster, marks)
        output, _ = process.communicate(timeout=500)
    states = cluster.jobs()
    assert process.returncode == 0, output[-6000:]
    assert set(asked) == {"800M 3:00"}  # as in the study, the minutes with those of the start
    assert len({path.stem for path in before}) == len(DEATHS)
    assert states[ended["memory"]] in {"OUT_OF_MEMORY", "FAILED", "CANCELLED"}
    assert states[ended["time"]] == "TIMEOUT"
    assert states[ended["cancel"]] == "CANCELLED"
    assert states[ended["node"]] == "NODE_FAIL"
    assert states[ended["requeue"]] == "COMPLETED"
    # The jobs that prepare the data and repeat the ended ones.
    rest = states.keys() - others.keys() - set(ended.values())
    assert len(rest) == 1 + (len(DEATHS) - 1)
    assert {states[number] for number in rest} == {"COMPLETED"}
    for path, content in before.items():
        assert (
            path.read_bytes() == content
        )  # not fitted again, so the times are those of the first fit
    code, told = workflow.plan(*fits, *study, "-n")
    assert code == 0
    assert "Nothing to be done" in told, told
    workflow.again("collect", *study)
    on_cluster = records.read(results / "points.parquet")
    shutil.rmtree(results)
    workflow.again("collect", *study)
    here = records.read(results / "points.parquet")
    assert set(here["status"]) == {"ok"}
    assert differences(on_cluster, here).empty
