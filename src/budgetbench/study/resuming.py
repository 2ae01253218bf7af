"""One run of one method as a job does it: within limits, and going on after an interruption."""

import hashlib
from pathlib import Path

from .experiment import head, run_method
from .isolation import isolated
from .methods import preload
from .records import OK


def limited_run(method, spec, run, n_jobs=1, checkpoint=None, time_limit=None, memory_limit=None):
    """Run a method in a process of its own."""
    # Before the fork, so that every run does not import the same modules again.
    preload(spec)
    rows, problem = isolated(
        run_method,
        *(method, spec, run, n_jobs, checkpoint),
        time_limit=time_limit,
        memory_limit=memory_limit,
        threads=n_jobs,
    )
    return rows if problem is None else [*rows, failed_row(method, run, problem, rows)]


def failed_row(method, run, status, rows=()):
    """Return the row that says why a run of a method has no result, or none beyond `rows`."""
    number = rows[-1]["fit"] if rows else 0
    return {**head(method, run, len(rows), number), "status": status}


def checkpoint_file(folder, spec, run, code):
    """Return the file of a run's progress.

    The name changes with the specification and the code, so that nothing outdated is gone on from.
    """
    state = hashlib.sha256(f"{spec} {run.study_seed} {code}".encode()).hexdigest()[:16]
    return Path(folder) / f"{run.number}-{state}.part"


def resumable_run(method, spec, run, folder, code, n_jobs=1, **limits):
    """Return the points of a method that may keep its progress in a file (`ExhaustiveSearch` does).

    `folder` has its files: `<run>.csv` once the run is complete; until then `checkpoint_file`,
    which the fingerprint `code` names. `limits` are as for `limited_run`, all else as for
    `run_method`.
    """
    unfinished = checkpoint_file(folder, spec, run, code)
    rows = limited_run(method, spec, run, n_jobs, checkpoint=unfinished, **limits)
    # Renamed only now: `solution_space` takes what has the plain name for complete.
    if unfinished.exists() and all(row["status"] == OK for row in rows):
        unfinished.replace(unfinished.with_name(f"{run.number}.csv"))
    return rows
