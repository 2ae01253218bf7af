"""Runs without a result: kept for the next call, which repeats them, and for the closing message.

A job some of whose runs have no result leaves a file that says so, apart from its outputs, which
Snakemake removes before it runs a job again. While Snakemake plans, the rules ask which jobs are to
be repeated, and force these.
"""

import json
import math
from pathlib import Path

from budgetlearn.files import whole_file

from .records import is_failure

# Status → setting whose raising is a reason to try again.
LIMITS = {"timeout": "time_limit", "memory": "memory_limit"}


def folder_of(config):
    """Return the folder of the results of a study with these settings."""
    return f"results/{config['study']}"


def split_at_folder(config, path):
    """Return what stands before a study's folder in the path of one of its files, and after it.

    Before it may stand the prefix of a module, or the place of a storage's local copies.
    """
    head, folder, tail = str(path).partition(f"{folder_of(config)}/")
    if not folder:
        raise ValueError(f"{path} is not in the folder {folder_of(config)}")
    return head, tail


def beside(config, output, name):
    """Return the file in folder `name` of a study that goes with an output of one of its jobs.

    Such files are no outputs: Snakemake removes those, and neither moves these to a storage.
    """
    head, tail = split_at_folder(config, output)
    return Path(head, folder_of(config), name, tail)


def failure_file(config, output):
    """Return the file that keeps the failures of the job that makes `output`."""
    return beside(config, output, "failures").with_suffix(".json")


def is_repeated(config, output):
    """Return whether a job has runs without a result that may end otherwise now.

    Of its configuration the limits, `cluster` and `retry_failed` count.
    """
    before = _read(failure_file(config, output))
    if before is None:
        return False
    return any(_is_repeated(run["status"], before, config) for run in before["runs"])


def _read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _is_repeated(status, before, config):
    """Return whether a run that ended with `status` may end otherwise under the settings of now."""
    limit = LIMITS.get(status.partition(":")[0])
    if limit is None or config["retry_failed"]:
        return True
    # Where the memory of the job itself was the limit, `cluster` is what raises it.
    had = before["job_memory"] if limit == "memory_limit" else None
    more = had is not None and config["cluster"]["memory"] > had
    return more or _number(config[limit]) > _number(before[limit])


def _number(limit):
    return math.inf if limit is None else limit


def keep_failures(config, output, statuses, job_memory=None):
    """Keep the runs of a job that have no result; where all have one, remove what was kept."""
    # One line a run: of several failed rows the last says why it ended.
    failed = {run: status for run, status in statuses if is_failure(status)}
    path = failure_file(config, output)
    if not failed:
        path.unlink(missing_ok=True)
        return
    content = {
        **{limit: config[limit] for limit in LIMITS.values()},
        "job_memory": job_memory,
        "runs": [{"run": int(run), "status": status} for run, status in failed.items()],
    }
    with whole_file(path) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def failed_runs(study):
    """Return a line for each run of a study's methods that has no result, in the study's order."""
    lines = []
    for dataset, costs, method in study.cells:
        for chunk in study.chunks:
            output = study.points_file(dataset, costs, method, chunk)
            kept = _read(failure_file(study.config, output)) or {"runs": []}
            where = f"{method} on {dataset}, {costs} costs"
            lines += [f"  {where}, run {run['run']}: {run['status']}" for run in kept["runs"]]
    return lines


def closing_message(study):
    """Return the message on runs without a result that ends a call; "" if there are none."""
    lines = failed_runs(study)
    if not lines:
        return ""
    return "\n".join(
        [
            f"{len(lines)} {'run has' if len(lines) == 1 else 'runs have'} no result (the report's "
            "table of coverage lists them too):",
            *lines,
            "The next call repeats the runs that failed or died; runs over a limit are repeated "
            "once time_limit or memory_limit is raised, or with --config retry_failed=true.",
        ]
    )
