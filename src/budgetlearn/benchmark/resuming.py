"""Methods that can go on after an interruption: where their partial results are kept."""

import hashlib
from pathlib import Path

from .experiment import run_method
from .records import OK


def resumable_run(method, spec, run, folder, code, n_jobs=1, limit=None):
    """Run a method that may keep its progress in a file (`ExhaustiveSearch` does).

    Parameters
    ----------
    method, spec, run
        As for `budgetlearn.benchmark.experiment.run_method`.
    folder : path-like
        Its files: `<run>.csv` once the run is complete; until then a name that changes with the
        specification and the code, so that nothing outdated is ever gone on from.
    code : str
        Fingerprint of the package's source.
    n_jobs, limit
        As for `run_method`.

    Returns
    -------
    list of dict
        Operating points.
    """
    state = hashlib.sha256(f"{spec} {run.study_seed} {code}".encode()).hexdigest()[:16]
    unfinished = Path(folder) / f"{run.number}-{state}.part"
    rows = run_method(method, spec, run, n_jobs, limit, checkpoint=unfinished)
    if unfinished.exists() and all(row["status"] == OK for row in rows):
        unfinished.replace(unfinished.with_name(f"{run.number}.csv"))
    return rows
