"""Where results come from: code, versions, machine."""

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

LIBRARIES = (
    "budgetlearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "python-glmnet",
    "lightgbm",
    "pandas",
    "snakemake",
)


def config_hash(config):
    """Return a short hash of a study's settings."""
    return hashlib.sha256(repr(sorted(config.items())).encode()).hexdigest()[:16]


def git_commit(root):
    """Return the commit of the project's folder, "-dirty" if it was changed, None outside git."""
    try:
        run = {"cwd": root, "capture_output": True, "text": True, "check": True, "timeout": 20}
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], **run).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], **run).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}-dirty" if changed else commit


def versions():
    """Return {name: version} of Python and of the libraries that decide results."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        found[name] = importlib.metadata.version(name)
    return found


def machine():
    """Return a description of the machine: system, processor kind and number of cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def origin():
    """Return what results that are made now are made with, as plain data.

    Returns
    -------
    dict of str to str
        Commit, machine, and versions.
    """
    return {
        "commit": git_commit(Path(__file__).parent) or "not under version control",
        "machine": machine(),
        **versions(),
    }


def summary(origins):
    """Return what results were made with in a line for each thing, saying where they differ.

    Parameters
    ----------
    origins : list of dict
        What `origin` returned in each job, with the number of such jobs as "jobs".

    Returns
    -------
    dict of str to str
        A value that all jobs share stands alone; others are told with the number of their jobs.
    """
    told = {}
    for key in dict.fromkeys(key for one in origins for key in one if key != "jobs"):
        counts = {}
        for one in origins:
            value = one.get(key, "not recorded")
            counts[value] = counts.get(value, 0) + one["jobs"]
        several = (f"{value} ({jobs} jobs)" for value, jobs in counts.items())
        told[key] = next(iter(counts)) if len(counts) == 1 else ", ".join(several)
    return told


def made_with(study, origins):
    """Return what a study's results were made with, when they were made.

    Parameters
    ----------
    study : Study
        The study.
    origins : list of dict
        From `budgetlearn.benchmark.records.origins_of`.

    Returns
    -------
    dict of str to str
    """
    return {
        **summary(origins),
        "configuration hash": config_hash(study.settings),
        "study seed": study.seed,
    }
