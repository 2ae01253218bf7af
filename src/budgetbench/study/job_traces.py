"""Traces that jobs leave beside their outputs: failures, copies of finished outputs, times.

They survive when Snakemake removes outputs. From the failures, the rules decide what to repeat.
"""

import hashlib
import json
import math
import os
import shutil
from pathlib import Path

import pandas as pd

from budgetlearn.files import whole_file, write_whole

from .records import is_failure, read, seconds_of_runs

# Status → setting; a run with this status is repeated when the setting is raised.
LIMITS = {"timeout": "time_limit", "memory": "memory_limit"}
SPARE = 2.2  # factor on the time of earlier jobs of a method when asking a cluster for time
START = 0.75  # minutes to ask a cluster for, for the start of a submission
# When one job of a submission is killed, Snakemake deletes the outputs of all its jobs, even those
# that were finished. So each job that fits also links its outputs in a folder that Snakemake does
# not know, under a hash of all its inputs. When the job is started again, it takes them over.
_FOLDER = "finished"
# Rule that fits → folder and suffix of its first output.
_OUTPUTS = {
    "fit": ("points", ".parquet"),
    "msb_importance": ("importance", ".csv"),
    "msb_sequence": ("sequences", ".parquet"),
}


def folder_of(config):
    """Return the folder of the results of a study with these settings."""
    return f"results/{config['study']}"


def split_at_folder(config, path):
    """Return the prefix of a path, as a module or storage may add, and the path in the folder."""
    head, _, tail = str(path).partition(f"{folder_of(config)}/")
    return head, tail


def beside(config, output, name):
    """Return the file that belongs to an output of a job in the folder `name` of the study."""
    head, tail = split_at_folder(config, output)
    return Path(head, folder_of(config), name, tail)


def failure_file(config, output):
    """Return the file with the failures of the job that makes `output`."""
    return beside(config, output, "failures").with_suffix(".json")


def is_repeated(config, output):
    """Return True if a job has runs without a result that may succeed with its settings."""
    before = _failures(config, output)
    return any(_is_repeated(run["status"], before, config) for run in before["runs"])


def _failures(config, output):
    """Return the content that `keep_failures` wrote for the job that makes an output."""
    path = failure_file(config, output)
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"runs": []}
    except ValueError:  # half written, as by a power cut; the next call repeats the job
        return {"runs": [{"run": "?", "status": f"died: {path} is damaged"}]}


def _is_repeated(status, before, config):
    """Return True if a run that ended with `status` may succeed with the current settings."""
    limit = LIMITS.get(status.partition(":")[0])
    if limit is None or config["retry_failed"]:
        return True
    # If the limit was the memory of the job itself, raising it in `cluster` counts.
    had = before["job_memory"] if limit == "memory_limit" else None
    if had is not None and config["cluster"]["memory"] > had:
        return True
    # None means no limit.
    return before[limit] is not None and (config[limit] is None or config[limit] > before[limit])


def keep_failures(config, output, statuses, job_memory=None):
    """Write the list of a job's runs without a result, or remove the file if all have results."""
    # One status for each run: that of its last row without a result.
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


def note_failures(config, files):
    """Keep the failures that points files tell of, which jobs on other machines could not keep."""
    for path in files:
        points = read([path])
        each = zip(points["run"].tolist(), points["status"], strict=True)
        failed = {run: status for run, status in each if is_failure(status)}
        if failed != {run["run"]: run["status"] for run in _failures(config, path)["runs"]}:
            keep_failures(config, path, failed.items())


def closing_message(study, place_of=str):
    """Return the final message of a call, which lists incomplete runs; "" if there are none."""
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
        f"{len(lines)} run{'s' if len(lines) > 1 else ''} did not complete (the report's table of "
        "coverage lists them too):"
    )
    last = (
        "The next call repeats the runs that failed or died; runs over a limit are repeated "
        "once time_limit or memory_limit is raised, or with --config retry_failed=true."
    )
    return "\n".join([first, *lines, last])


def take_over(job):
    """Put the kept outputs of an identical job in place; return False if there are none."""
    kept = _kept(job)
    whole = all(path.is_file() and path.stat().st_size for path in kept.values())
    if not whole or is_repeated(job.config, job.output[0]):
        return False
    for output, path in kept.items():
        # A link, not a move: the job may be killed again before Snakemake counts it as done.
        _link(path, output)
        os.utime(output)  # must be newer than its inputs, which may have been written again
    return True


def keep(job):
    """Keep the outputs of a finished job until the whole study is finished."""
    for output, path in _kept(job).items():
        _link(output, path)


def forget(study):
    """Remove the kept outputs if every points file of a study exists."""
    if all(map(os.path.exists, study.points_files)):
        shutil.rmtree(Path(folder_of(study.config), _FOLDER), ignore_errors=True)


def _link(source, target):
    """Make `target` a hard link to `source`, or a copy if the file system has no links."""
    with whole_file(target) as partial:
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)


def _kept(job):
    """Return {output: path where it is kept}; the path depends on rule, parameters and inputs."""
    inputs = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in job.input]
    decisive = [job.rule, dict(job.wildcards.items()), dict(job.params.items()), inputs]
    key = hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()
    return {output: beside(job.config, output, f"{_FOLDER}/{key}") for output in job.output}


class Minutes(int):
    """Whole minutes of a submission: of a sum over its jobs, only the total is rounded up."""

    # Jobs that were never timed share `first`, the (chunk of runs, minutes) pairs of their chunks.
    def __new__(cls, exact, first=frozenset()):
        minutes = super().__new__(cls, math.ceil(START + exact + sum(each for _, each in first)))
        minutes.exact, minutes.first = exact, first
        return minutes

    def __add__(self, other):
        other = other if isinstance(other, Minutes) else Minutes(other)
        return Minutes(self.exact + other.exact, self.first | other.first)

    __radd__ = __add__


def minutes_for(n_runs, folder):
    """Return the minutes for a job of `n_runs` runs by earlier ones; infinity if there are none."""
    took = []
    for path in Path(folder).glob("*.tsv"):
        # A full disk leaves empty files.
        if path.stat().st_size and (seconds := _seconds_of_runs(path)):
            # Snakemake writes a dash for a job that ended before it could be measured.
            jobs = pd.read_csv(path, sep="\t", na_values="-")["s"]
            # A job that takes over kept outputs ends at once, so what they recorded counts, too.
            took += [max(each, sum(seconds.values())) / len(seconds) for each in jobs]
    return SPARE / 60 * n_runs * max(took, default=math.inf)


def _seconds_of_runs(usage):
    """Return {run: seconds} of the job that Snakemake timed in a file; {} if its output was lost.

    The study may have had other runs then, so its chunks do not tell which. Seconds are those of
    the fits, or 0 if none are recorded.
    """
    head, _, tail = usage.as_posix().rpartition("usage/")
    rule, _, name = tail.partition("/")
    folder, suffix = _OUTPUTS[rule]
    output = Path(head, folder, name).with_suffix(suffix)
    try:
        if rule == "fit":
            return seconds_of_runs(output)
        table = pd.read_csv(output) if suffix == ".csv" else pd.read_parquet(output)
        return dict.fromkeys(table["run"], 0.0)
    except (OSError, ValueError, KeyError):
        return {}
