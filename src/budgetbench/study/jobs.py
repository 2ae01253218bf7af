"""The parts shared by all jobs of the workflow: log, threads, runs, limits, and writing results."""

import logging
import math
import sys
from contextlib import contextmanager

import pandas as pd
import psutil
from threadpoolctl import threadpool_limits

from budgetlearn.exceptions import BudgetlearnError, DatasetError

from ..datasets.dataset import Dataset
from . import records
from .isolation import MB, die_with_caller, retries_of_submission
from .job_traces import LIMITS, keep_failures
from .provenance import effort, origin
from .runs import draw_costs, iterate, profiles_of

SHARE = 0.95  # share of a job's memory that its processes may use


class JobMemoryError(BudgetlearnError, MemoryError):
    """A run used up the memory that the cluster gave to its job."""


@contextmanager
def job_log(path, threads=1):
    """Write budgetlearn's log and any error to a file, and limit thread pools to `threads`."""
    die_with_caller()
    log = logging.getLogger("budgetlearn")
    log.setLevel(logging.INFO)
    handler = logging.FileHandler(path, "w", "utf-8", errors="replace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    try:
        with threadpool_limits(threads):
            yield log
    except Exception as error:
        log.exception("the job failed")
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        raise
    finally:
        log.removeHandler(handler)
        handler.close()


def load_runs(files, wildcards, study_seed):
    """Yield the runs of a job, with unit costs if its files have no cost profile."""
    dataset = Dataset.load(files.data)
    with records.reading_made(files.split, "splits"):
        splits = pd.read_parquet(files.split)
        numbers = [int(column) for column in splits.columns]
    if hasattr(files, "costs"):
        kind, costs = wildcards.costs, records.read_costs(files.costs)
        with records.reading_made(files.costs, "cost profiles"):
            profiles = profiles_of(costs, dataset.feature_names)
            lost = {*numbers} - profiles.keys()
            if lost:
                raise DatasetError(f"{files.costs} lacks the costs of run {min(lost)}.")
    else:
        kind, costs = "unit", draw_costs(dataset, "unit", numbers, study_seed)
    yield from iterate(dataset, splits, costs, kind, study_seed)


def limits_of(job):
    """Return the `time_limit` and `memory_limit` of each run of a method."""
    limits = {limit: job.config[limit] for limit in LIMITS.values()}
    # In a cluster job, a run may use at most `SHARE` of the job's memory, less what Snakemake uses.
    # A run over the limit then ends as a row before the cluster kills the job.
    room = _room(job)
    if room is not None:
        limits["memory_limit"] = min(room, limits["memory_limit"] or room)
    return limits


def _room(job):
    """Return the MB that a run may use in a cluster job; None outside of a cluster."""
    if retries_of_submission() is None:
        return None
    held = 0.0  # by the Snakemake processes of the submission, which share the job's memory
    for process in psutil.Process().parents():
        try:
            if "snakemake" in " ".join(process.cmdline()):
                held += process.memory_full_info().uss / MB
        except psutil.Error:
            continue  # a process of another user
    return max(SHARE * job.resources.mem_mb - held, 1.0)


def close_job(job, statuses):
    """Record a job's runs without a result, before its outputs are written.

    `statuses` has run and status of each row of the results. Raise `JobMemoryError` if a run used
    up the memory of the job and Snakemake is going to start the job again with more.
    """
    statuses, room = list(statuses), _room(job)
    given = None if room is None else job.resources.mem_mb
    keep_failures(job.config, job.output[0], statuses, given)
    full = [run for run, status in statuses if status.startswith("memory:")]
    if not full or room is None or room > (job.config["memory_limit"] or room):
        return
    if job.resources.get("attempt", math.inf) <= retries_of_submission():
        raise JobMemoryError(f"run {full[0]} needs more memory than the {given} MB of its job.")


def write_points(rows, job, sources, origins=None):
    """Write a job's operating points with their origin and sources, and record failed runs."""
    points = records.table(rows)
    origins = [origin() | {"threads": str(job.threads)} | effort()] if origins is None else origins
    # Failures first: if the job is killed in between, it has no output yet and is run again.
    close_job(job, zip(points["run"], points["status"], strict=True))
    records.write(points, job.output[0], origins, sources)
