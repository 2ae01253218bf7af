"""Time of a study on a cluster of 1, 2 and 4 simulated nodes.

python -m tests.workflow.nodes [--study FILE] [--nodes 1 2 4]      (as root, with SLURM installed)

Each node has one CPU, so as many submissions as nodes run at once. They share the real cores of
this machine. More nodes than cores show the overhead of SLURM and Snakemake, not the gain of real
nodes. Without --study, eight runs of three methods on wine are measured, each in a submission.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from budgetbench.study import records
from budgetbench.study.stored_results import differences
from tests.workflow.conftest import copy_to
from tests.workflow.slurm import PROFILE, Cluster, why_not

STUDY = {
    "study": "nodes",
    "title": "On several nodes",
    "datasets": ["wine"],
    "methods": ["logitb", "all_features", "constant"],
    "runs": 8,
    "runs_per_job": 1,
    "cluster": {"memory": 500, "minutes": 1},
}


def run(folder, study, n_nodes):
    """Run a study on `n_nodes` nodes; return seconds, seconds of its jobs and its points."""
    with Cluster(folder / f"slurm-{n_nodes}", n_nodes, cpus=1) as cluster:
        command = ("collect", "--configfile", study, *PROFILE, "--jobs", "50", "--quiet", "all")
        start = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "snakemake", *map(str, command)],
            cwd=folder,
            env={**os.environ, **cluster.environment},
            check=True,
        )
        seconds = time.monotonic() - start
        lines = cluster.run("squeue", "-h", "-t", "all", "-o", "%S %e %N").splitlines()
    results = next((folder / "results").glob("*/points.parquet"))
    points = records.read(results)
    subprocess.run(["rm", "-r", "results", ".snakemake"], cwd=folder, check=True)
    return seconds, [line.split() for line in lines], points


def at_work(jobs):
    """Return the sum of the seconds that jobs worked."""
    form = "%Y-%m-%dT%H:%M:%S"
    ended = [[time.mktime(time.strptime(at, form)) for at in job[:2]] for job in jobs]
    return sum(end - start for start, end in ended)


def main():
    """Print the times, and check that the numbers are the same on any number of nodes."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--study", type=Path)
    options.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    asked = options.parse_args()
    if why_not():
        sys.exit(why_not())
    with tempfile.TemporaryDirectory() as scratch:
        folder = copy_to(Path(scratch))
        study = asked.study.resolve() if asked.study else folder / "nodes.yaml"
        if not asked.study:
            study.write_text(yaml.safe_dump(STUDY))
        first = None
        for n_nodes in asked.nodes:
            seconds, jobs, points = run(folder, study, n_nodes)
            used = len({job[2] for job in jobs})
            first = (seconds, points) if first is None else first
            assert differences(first[1], points).empty
            print(
                f"{n_nodes} nodes: {seconds:.0f} s, {first[0] / seconds:.2f} times as fast; "
                f"{len(jobs)} submissions on {used} nodes, at work for {at_work(jobs):.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
