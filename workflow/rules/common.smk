# Helpers of the rules: the fingerprint of a job's code, its memory and time, existing files. On a
# cluster, all jobs of the same runs of a data set are one submission (group `runs`), which runs one
# job at a time (resource `slot`, of which the profiles have one).

import os
from functools import cache
from math import ceil

from budgetbench.study.job_traces import is_repeated, minutes_for
from budgetbench.study.source_code import own_files, script_fingerprint
from budgetbench.study.methods import classes_of


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
        if main and STUDY.config["strict"] and is_repeated(config, file):
            workflow.dag.forcefiles.add(file)
        return []

    return force


def memory(_, attempt):
    """Return the MB to ask a cluster for, for a job that fits."""
    return STUDY.config["cluster"]["memory"] * attempt


def memory_up_to(most):
    """Return a function for the MB of a lighter job, at most those of a job that fits."""
    return lambda w, attempt: min(most * attempt, memory(w, attempt))


@cache
def expected_minutes(n_runs, folder):
    return minutes_for(STUDY, n_runs, folder)


def expected(rule, names, w):
    """Return the maximum minutes of a rule's job, estimated from earlier jobs of the method."""
    folder = os.path.join(PLACE, "usage", rule, *(w[name] for name in names))
    return expected_minutes(len(STUDY.runs_of(w.chunk)), folder)


def minutes(rule, *names):
    """Return a function for the minutes to ask a cluster for, for a job that fits."""
    return lambda w, attempt: max(1, ceil(attempt * expected(rule, names, w)))


def heaviest_first(rule, *names):
    """Return a function for the priority of a job that fits: longest first, to keep cores busy.

    Jobs of unknown length count as longest, in the order in which the study lists its methods.
    """

    def of_job(w):
        listed = [method for dataset, _, method in STUDY.cells if dataset == w.dataset]
        return expected(rule, names, w) - listed.index(w.method) / 1000

    return of_job


FIRST = 10**6  # priority of jobs for which many others wait


def there(files):
    """Return all files if the study is strict, else only those that exist."""
    if STUDY.config["strict"]:
        return files
    # Snakemake's `exists` handles storage, but not the prefix of a module.
    return [file for file in files if exists(file.replace(DIR, PLACE, 1))]


DATA = [f"{DIR}/data/{dataset}.parquet" for dataset in STUDY.datasets]
