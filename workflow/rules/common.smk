# What the rules ask for: the fingerprint of a job's code, its memory and time, the files that are
# there. On a cluster, all jobs of the same runs of a data set are one submission (group
# `runs`), in which one of them works at a time (resource `slot`, of which profiles give one).

import os
from functools import cache
from math import ceil

from budgetbench.study.job_traces import is_repeated, minutes_for
from budgetbench.study.source_code import own_files, script_fingerprint
from budgetbench.study.methods import classes_of


def script_path(name):
    """The script of a rule."""
    return os.path.join(ROOT, "workflow", "scripts", name)


@cache
def code_of(name, *classes):
    """Editing the packages, the script or the user's own classes reruns the jobs that run them."""
    return script_fingerprint(script_path(name), *classes)


def code_for(name):
    """Where a method is fitted, the code of classes of the user's own counts too."""

    def of_job(w):
        classes = set(classes_of(STUDY.spec(w.method, w.dataset)))
        return code_of(name, *sorted(filter(own_files, classes)))

    return of_job


def place_of(file):
    """Where a job has a file: with a module's prefix, or the local copy of a storage."""
    return str(rules.prepare.output[0]).partition(DIR)[0] + file


def repeated(output):
    """No input, but jobs with runs to repeat are forced when a plan that has them asks for it."""

    def force(w):
        file = place_of(f"{DIR}/{output}".format(**w))
        if main and STUDY.config["strict"] and is_repeated(config, file):
            workflow.dag.forcefiles.add(file)
        return []

    return force


def memory(_, attempt):
    """MB that a job that fits asks a cluster for."""
    return STUDY.config["cluster"]["memory"] * attempt


def memory_up_to(most):
    """MB of a lighter job of the same submission, which asks for the most of them."""
    return lambda w, attempt: min(most * attempt, memory(w, attempt))


@cache
def expected_minutes(n_runs, folder):
    return minutes_for(STUDY, n_runs, folder)


def expected(rule, names, w):
    """Minutes that a job of a rule is expected to take at most, by earlier ones of its method."""
    folder = os.path.join(PLACE, "usage", rule, *(w[name] for name in names))
    return expected_minutes(len(STUDY.runs_of(w.chunk)), folder)


def minutes(rule, *names):
    """Minutes that a job that fits asks a cluster for."""
    return lambda w, attempt: max(1, ceil(attempt * expected(rule, names, w)))


def heaviest_first(rule, *names):
    """Priority of a job that fits: a long one that began last would leave the other cores idle.

    What is not known yet counts for the most, in the order in which the study lists its methods.
    """

    def of_job(w):
        listed = [method for dataset, _, method in STUDY.cells if dataset == w.dataset]
        return expected(rule, names, w) - listed.index(w.method) / 1000

    return of_job


FIRST = 10**6  # priority of what many jobs wait for


def there(files):
    """What a study that is not strict makes do with: the files that are there."""
    if STUDY.config["strict"]:
        return files
    # Snakemake's own `exists` knows storage, but no prefix of a module.
    return [file for file in files if exists(file.replace(DIR, PLACE, 1))]


DATA = [f"{DIR}/data/{dataset}.parquet" for dataset in STUDY.datasets]
