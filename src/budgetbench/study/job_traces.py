"""Traces of jobs apart from their outputs, which Snakemake may remove: failures, finished, time.

Failures tell the rules, while Snakemake plans, which jobs are to be repeated.
"""

import hashlib
import json
import math
import os
import shutil
from pathlib import Path

import pandas as pd

from budgetlearn.files import whole_file, write_whole

from .records import is_failure

# Status → setting whose raising is a reason to try again.
LIMITS = {"timeout": "time_limit", "memory": "memory_limit"}


def folder_of(config):
    """Return the folder of the results of a study with these settings."""
    return f"results/{config['study']}"


def split_at_folder(config, path):
    """Split a path at the study's folder; a module or a storage may have put its own before it."""
    head, _, tail = str(path).partition(f"{folder_of(config)}/")
    return head, tail


def beside(config, output, name):
    """Return the file in a study's folder `name` that belongs to an output of a job."""
    head, tail = split_at_folder(config, output)
    return Path(head, folder_of(config), name, tail)


def failure_file(config, output):
    """Return the file that keeps the failures of the job that makes `output`."""
    return beside(config, output, "failures").with_suffix(".json")


def is_repeated(config, output):
    """Return True if a job has runs without a result that may end otherwise under its settings."""
    before = _failures(config, output)
    return any(_is_repeated(run["status"], before, config) for run in before["runs"])


def _failures(config, output):
    """Return the failures that `keep_failures` kept of the job that makes an output."""
    path = failure_file(config, output)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"runs": []}


def _is_repeated(status, before, config):
    """Return True if a run that ended with `status` may end otherwise under the settings of now."""
    limit = LIMITS.get(status.partition(":")[0])
    if limit is None or config["retry_failed"]:
        return True
    # Where the memory of the job itself was the limit, `cluster` is what raises it.
    had = before["job_memory"] if limit == "memory_limit" else None
    if had is not None and config["cluster"]["memory"] > had:
        return True
    # None: no limit at all.
    return before[limit] is not None and (config[limit] is None or config[limit] > before[limit])


def keep_failures(config, output, statuses, job_memory=None):
    """Keep a list of the runs of a job that have no result, or remove it where all have one."""
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
    write_whole(path, json.dumps(content, indent=1) + "\n")


def closing_message(study, place_of=str):
    """Return the message on runs without a result that ends a call; "" if there are none."""
    lines = []
    for dataset, costs, method in study.cells:
        for chunk in study.chunks:
            output = place_of(study.points_file(dataset, costs, method, chunk))
            failed = _failures(study.config, output)["runs"]
            where = f"{method} on {dataset}, {costs} costs"
            lines += [f"  {where}, run {run['run']}: {run['status']}" for run in failed]
    if not lines:
        return ""
    first = (
        f"{len(lines)} {'run has' if len(lines) == 1 else 'runs have'} no result (the report's "
        "table of coverage lists them too):"
    )
    last = (
        "The next call repeats the runs that failed or died; runs over a limit are repeated "
        "once time_limit or memory_limit is raised, or with --config retry_failed=true."
    )
    return "\n".join([first, *lines, last])


# When one job of a submission is killed, Snakemake deletes the outputs of all its jobs, finished
# ones too. So each job that fits leaves a second link to its outputs in a folder that Snakemake
# does not know, named by a hash of all that they were made of: started again, it takes them over.
_FOLDER = "finished"


def take_over(job):
    """Put the outputs of an earlier, equal job in place; return False if there is none to take."""
    kept = _kept(job)
    whole = all(path.is_file() for path in kept.values())
    if not whole or is_repeated(job.config, job.output[0]):
        return False
    for output, path in kept.items():
        # A link, not a move: the next kill may come before the job is counted as done.
        _link(path, output)
        os.utime(output)  # its inputs may have been written again, the same as before
    return True


def keep(job):
    """Keep the outputs of a job that is done, until the whole study is."""
    for output, path in _kept(job).items():
        _link(output, path)


def forget(study):
    """Remove what was kept, once every points file of a study is where it belongs."""
    if all(map(os.path.exists, study.points_files)):
        shutil.rmtree(Path(folder_of(study.config), _FOLDER), ignore_errors=True)


def _link(source, target):
    """Make `target` the same file as `source`, or a copy where the file system has no links."""
    with whole_file(target) as partial:
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)


def _kept(job):
    """Return {output: where it is kept}, by all that decides it: rule, parameters and inputs."""
    named = {name: str(value) for name, value in job.wildcards.items()}
    inputs = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in job.input]
    decisive = [job.rule, named, dict(job.params.items()), inputs]
    key = hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()
    return {output: beside(job.config, output, f"{_FOLDER}/{key}") for output in job.output}


SPARE = 2.5  # times what earlier jobs of a method took that a cluster is asked for


def minutes_for(study, n_runs, folder):
    """Return the minutes to ask a cluster for, for a job of `n_runs` runs.

    `SPARE` times the slowest run of the earlier jobs whose time Snakemake wrote to `folder`; at
    most what the study says.
    """
    took = []
    for path in Path(folder).glob("*.tsv"):
        # Files of an earlier, larger study stay; runs it no longer has count for nothing.
        if runs := len(study.runs_of(path.stem)):
            # A dash stands for a job that it did not get to look at.
            took += (SPARE * pd.read_csv(path, sep="\t", na_values="-")["s"] / runs / 60).tolist()
    return n_runs * min(study.config["cluster"]["minutes"], max(took, default=math.inf))
