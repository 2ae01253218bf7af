"""Code, versions and machine of results, and hashes of the data, prices and methods.

The hashes stay with the points, so that whoever reads them later can tell whether the table, the
price list and the method that are there now are those that were measured.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import psutil

from . import records

KERNELS = (".so", ".pyd")
PER_MB = 1e6 if sys.platform == "darwin" else 1e3  # of what the system counts peak memory in

PACKAGE = Path(__file__).resolve().parents[2] / "budgetlearn"  # which holds all kernels
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


@cache
def kernels_hash():
    """Return a short hash of the compiled kernels: compiler and flags decide their last bits."""
    digest = hashlib.sha256()
    for path in sorted(path for path in PACKAGE.rglob("*") if path.suffix in KERNELS):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def machine():
    """Return a description of the machine: system, processor kind and number of cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def origin():
    """Return commit, hash of the kernels, machine and versions of results made now, as text."""
    return {
        # Of the package, not of the current folder, which may be the user's own project.
        "commit": git_commit(Path(__file__).parent) or "not under version control",
        "kernels": kernels_hash(),
        "machine": machine(),
        **versions(),
    }


def effort():
    """Return `seconds` since this job started, and `peak_mb`, the most memory of it or a child."""
    # The method ran in a child: the larger of both is what the job needed.
    peaks = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": round(time.time() - psutil.Process().create_time(), 1),
        "peak_mb": round(max(peak.ru_maxrss for peak in peaks) / PER_MB),
    }


def summary(origins):
    """Return a line for each part of the origins of results, with the values that differ.

    `origins` are what `origin` and `effort` returned in each job, with the number of such jobs as
    "jobs". A value that all jobs share stands alone; others come with the number of their jobs.
    """
    entries = {}
    for key in dict.fromkeys(key for one in origins for key in one if key not in records.SUMMED):
        counts = {}
        for one in origins:
            value = one.get(key, "not recorded")
            counts[value] = counts.get(value, 0) + one["jobs"]
        several = (f"{value} ({jobs} jobs)" for value, jobs in counts.items())
        entries[key] = next(iter(counts)) if len(counts) == 1 else ", ".join(several)
    if any("seconds" in one for one in origins):
        entries["work"] = _work(origins)
    return entries


def _work(origins):
    jobs, seconds = (sum(one.get(key, 0) for one in origins) for key in ("jobs", "seconds"))
    peak = max(one.get("peak_mb", 0) for one in origins)
    return f"{jobs:,} jobs, {seconds:,.0f} s in all, up to {peak:,.0f} MB each"


def made_with(study, origins):
    """Return the origins of a study's results as the report shows them."""
    return {
        **summary(origins),
        "configuration hash": config_hash(study.settings),
        "study seed": study.seed,
    }


def sources_of_run(method, spec, run):
    """Return the hashes of the sources of a method's operating points in a run, by name.

    Of a run that is only planned, dataset, costs_kind, source, costs and study_seed count. Prices
    that are drawn for each run are no source.
    """
    found = {
        f"the data of {run.dataset}": run.source,
        f"the settings of {method} on {run.dataset}": _digest([spec, run.study_seed]),
    }
    if run.costs_kind != "random":
        found[f"the {run.costs_kind} prices of {run.dataset}"] = _price_digest(run.costs)
    return found


def _price_digest(costs):
    groups = (costs.group_of(feature) for feature in range(costs.n_features))
    shared = [(members.tolist(), charge) for members, charge in groups]
    return _digest([costs.costs.tolist(), shared])


def _digest(content):
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
