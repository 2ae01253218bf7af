"""What every job of the workflow starts with: its log, its threads, its runs."""

import logging
import sys
from contextlib import contextmanager

import pandas as pd
from threadpoolctl import threadpool_limits

from budgetlearn.price_lists import read_prices

from ..datasets import Dataset
from . import records
from .failures import LIMITS, keep_failures
from .isolation import die_with_caller
from .provenance import effort, origin
from .runs import draw_costs, iterate


@contextmanager
def job_log(path, threads=1):
    """Send budgetlearn's log lines and any error to a file, and hold inner pools to `threads`.

    Parameters
    ----------
    path : str
        The job's log file.
    threads : int, default=1
        Threads that the job may use.
    """
    die_with_caller()
    log = logging.getLogger("budgetlearn")
    log.setLevel(logging.INFO)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
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
    """Yield the runs of a job; without a cost profile among its files, at unit costs.

    Parameters
    ----------
    files : object
        With paths `data`, `split` and, where prices matter, `costs`.
    wildcards : object
        With `costs` where `files` has them.
    study_seed : int
        The study's seed.

    Yields
    ------
    Run
    """
    dataset = Dataset.load(files.data)
    splits = pd.read_parquet(files.split)
    priced = hasattr(files, "costs")
    kind = wildcards.costs if priced else "unit"
    numbers = [int(column) for column in splits.columns]
    costs = read_prices(files.costs) if priced else draw_costs(dataset, kind, numbers, study_seed)
    yield from iterate(dataset, splits, costs, kind, study_seed)


def limits_of(config):
    """Return the settings of a study that each run of a method is held to."""
    return {limit: config[limit] for limit in LIMITS.values()}


def write_points(rows, output, attempt, config, sources, origins=None):
    """Write a job's operating points with what they were made with, and keep which runs failed.

    Parameters
    ----------
    rows : iterable of dict or DataFrame
        The operating points.
    output : str
        The file.
    attempt : int
        The job's parameter of that name.
    config : dict
        The study's settings.
    sources : dict
        What they were made of, as for `budgetbench.study.records.write`.
    origins : list of dict, default=None
        What they were made with; None: what this job runs on, and what it took until now.
    """
    points = records.table(rows)
    origins = [origin() | effort()] if origins is None else origins
    records.write(points, output, origins, sources)
    keep_failures(config, output, attempt, zip(points["run"], points["status"], strict=True))
