# Helpers of the rules: the fingerprint of a job's code, its memory and time, existing files. On a
# cluster, all jobs of the same runs of a data set are one submission (group `runs`), which runs one
# job at a time (resource `slot`, of which the profiles have one).

import os
from functools import cache
from math import inf

from budgetbench.study.job_traces import Minutes, is_repeated, minutes_for
from budgetbench.study.source_code import own_files, script_fingerprint
from budgetbench.study.methods import classes_of

# With a storage, jobs may run on machines that share no files with this one. Only this one has the
# user's tables and price lists, and keeps the list of failed runs. So it prepares data and prices,
# and makes the results.
STORED = workflow.storage_settings.default_storage_provider is not None


def script_path(name):
    """Return the path of a rule's script."""
    return os.path.join(ROOT, "workflow", "scripts", name)


@cache
def code_of(name, *classes):
    """Return the hash of a job's code, whose change reruns the job."""
    return script_fingerprint(script_path(name), *classes)


def code_for(name):
    """Return a function for the hash of a fitting job's code, including the user's classes."""

    def of_job(w):
        classes = set(classes_of(STUDY.spec(w.method, w.dataset)))
        return code_of(name, *sorted(filter(own_files, classes)))

    return of_job


def place_of(file):
    """Return a file's path for a job: with a module's prefix, or the local copy of a storage."""
    return str(rules.prepare.output[0]).partition(DIR)[0] + file


def repeated(output):
    """Return an input function without files that forces a planned job if it has runs to repeat."""

    def force(w):
        file = place_of(f"{DIR}/{output}".format(**w))
        known = map(place_of, points_from(w)) if STORED else [file]
        if main and STUDY.config["strict"] and any(is_repeated(config, each) for each in known):
            workflow.dag.forcefiles.add(file)
        return []

    return force


def points_from(w):
    """Return the points files that depend on a job: on other machines, only these tell failures."""
    names = ("dataset", "costs", "method")
    cells = (dict(zip(names, cell)) for cell in STUDY.cells)
    found = (cell for cell in cells if all(w.get(name, cell[name]) == cell[name] for name in names))
    return [STUDY.points_file(**cell, chunk=w.chunk) for cell in found]


def memory(_, attempt):
    """Return the MB to ask a cluster for, for a job that fits."""
    return STUDY.config["cluster"]["memory"] * attempt


def memory_up_to(most):
    """Return a function for the MB of a lighter job, at most those of a job that fits."""
    return lambda w, attempt: min(most * attempt, memory(w, attempt))


def light(minutes):
    """Return a function for the minutes to ask a cluster for, for a job that does not fit."""
    return lambda w, attempt: Minutes(attempt * minutes)


@cache
def timed(n_runs, folder):
    return minutes_for(n_runs, folder)


def expected(rule, names, w):
    """Return the maximum minutes of a rule's job by earlier jobs of the method; else infinity."""
    folder = os.path.join(PLACE, "usage", rule, *(w[name] for name in names))
    return timed(len(STUDY.runs_of(w.chunk)), folder)


def minutes(rule, *names):
    """Return a function for the minutes to ask a cluster for, for a job that fits."""

    def of_job(w, attempt):
        found = attempt * expected(rule, names, w)
        if found < inf:
            return Minutes(found)
        of_run = STUDY.config["cluster"]["minutes"]
        whole = attempt * of_run * len(STUDY.runs_of(w.chunk))
        return Minutes(0, frozenset({((w.dataset, w.chunk), whole)}))

    return of_job


def heaviest_first(rule, *names):
    """Return a function for the priority of a job that fits: longest first, to keep cores busy.

    Jobs of unknown length count as longest, in the order in which the study lists its methods.
    """

    def of_job(w):
        listed = [method for dataset, _, method in STUDY.cells if dataset == w.dataset]
        return min(expected(rule, names, w), FIRST / 2) - listed.index(w.method) / 1000

    return of_job


def cells(dataset):
    """Return the number of a data set's cells; if it is not known, 400 million."""
    spec = STUDY.datasets[dataset]
    return spec.rows * spec.features if spec.rows and spec.features else 4e8


FIRST = 10**6  # priority of jobs for which many others wait


def there(files):
    """Return all files if the study is strict, else only those that exist."""
    if STUDY.config["strict"]:
        return files
    # Snakemake's `exists` handles storage, but not the prefix of a module.
    return [file for file in files if exists(file.replace(DIR, PLACE, 1))]


DATA = [f"{DIR}/data/{dataset}.parquet" for dataset in STUDY.datasets]
