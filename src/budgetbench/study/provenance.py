"""Provenance of results: code, versions and machine, and hashes of the data, prices and methods.

The hashes are stored with the points, to check that table, prices and method are those measured.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
from threadpoolctl import threadpool_info

from budgetlearn.exceptions import ConfigError

from . import records

KERNELS = (".so", ".pyd")
PER_MB = 1e6 if sys.platform == "darwin" else 1e3  # the system counts peak memory in bytes or kB

PACKAGE = Path(__file__).resolve().parents[2] / "budgetlearn"  # has all kernels
_SCORE = "the score on {}"
LIBRARIES = (  # results depend on their versions
    *("budgetlearn", "numpy", "scipy", "scikit-learn", "python-glmnet", "lightgbm", "pandas"),
    "snakemake",
)


def git_commit(root):
    """Return the commit of a folder, with "-dirty" if it has changes; None outside of git."""
    try:
        # Without tags, because most commits have none.
        command = ["git", "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
        run = {"cwd": root, "capture_output": True, "text": True, "check": True, "timeout": 20}
        return subprocess.run(command, **run).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


@cache
def kernels_hash():
    """Return a short hash of the compiled kernels, as results depend on compiler and flags."""
    digest = hashlib.sha256()
    for path in sorted(path for path in PACKAGE.rglob("*") if path.suffix in KERNELS):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def processor():
    """Return the model of the processor, or the platform's name for it."""
    with suppress(OSError):
        if found := re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()):
            return found[1]
    return platform.processor() or platform.machine()


def blas():
    """Return name, version and chosen kernels of each loaded BLAS."""
    # SciPy brings its own BLAS. Imported here, because planning a study does not need it.
    import scipy.linalg  # noqa: F401

    parts = ("internal_api", "version", "architecture")
    loaded = (one for one in threadpool_info() if one["user_api"] == "blas")
    return ", ".join(sorted({" ".join(str(one.get(p)) for p in parts) for one in loaded}))


@cache
def origin():
    """Return commit, hash of the kernels, machine and versions of this process, as text."""
    simd = np.show_config("dicts").get("SIMD Extensions", {})
    return {
        # The package's folder: the current one may be the user's project.
        "commit": git_commit(Path(__file__).parent) or "not under version control",
        "kernels": kernels_hash(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "processor": processor(),
        "instructions": " ".join(simd.get("found", ["baseline"])),
        "BLAS": blas() or "not known",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def effort():
    """Return `seconds` since this job started, and `peak_mb`, its largest memory use."""
    # Methods run in child processes, so the larger peak is that of the process that needed most.
    peaks = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": round(time.time() - psutil.Process().create_time(), 1),
        "peak_mb": round(max(peak.ru_maxrss for peak in peaks) / PER_MB),
    }


def summary(origins):
    """Return {name: text} of the origins of results, with numbers of jobs where values differ."""
    entries = {}
    for key in dict.fromkeys(key for one in origins for key in one if key not in records.SUMMED):
        counts = Counter()
        for one in origins:
            counts[one.get(key, "not recorded")] += one["jobs"]
        several = (f"{value} ({jobs} jobs)" for value, jobs in counts.items())
        entries[key] = next(iter(counts)) if len(counts) == 1 else ", ".join(several)
    if any("seconds" in one for one in origins):
        jobs, spent = (sum(one.get(key, 0) for one in origins) for key in ("jobs", "seconds"))
        peak = max(one.get("peak_mb", 0) for one in origins)
        entries["work"] = f"{jobs:,} jobs, {spent:,.0f} s in all, up to {peak:,.0f} MB each"
    return entries


def made_with(study, origins):
    """Return the origins of a study's results for the report."""
    own = {"configuration hash": _digest(study.settings)[:16], "study seed": study.seed}
    return summary(origins) | own


def sources_of_run(method, spec, run):
    """Return {name: hash} of the data, settings and prices behind a method's points in a run."""
    found = {
        f"the data of {run.dataset}": run.source,
        f"the settings of {method} on {run.dataset}": _digest([spec, run.study_seed]),
    }
    if "scoring" in spec:
        found[_SCORE.format(run.dataset)] = spec["scoring"]
    if run.costs_kind != "random":
        costs = run.costs
        groups = (costs.group_of(feature) for feature in range(costs.n_features))
        shared = [(members.tolist(), charge) for members, charge in groups]
        digest = _digest([costs.costs.tolist(), shared])
        found[f"the {run.costs_kind} prices of {run.dataset}"] = digest
    return found


def refuse_outdated(study, points, cells, remedy, prices):
    """Refuse points of a study's `cells` in a file if data, settings or given prices changed.

    `prices` are {data set: its `FeatureCosts` now} of the data sets with a price list.
    """
    found, cells = records.sources_of(points), {*map(tuple, cells)}
    # Points that the study no longer has are outdated as well.
    wanted = {"the list of data sets and methods": None} if cells - {*study.cells} else {}
    for dataset, kind, method in sorted(cells & {*study.cells}):
        about = {"dataset": dataset, "source": study.source(dataset), "study_seed": study.seed}
        known = {"costs_kind": kind if kind == "given" else "random", "costs": prices.get(dataset)}
        now = SimpleNamespace(**about, **known)
        wanted |= sources_of_run(method, study.spec(method, dataset), now)
    changed = [name for name in wanted if found.get(name) != [wanted[name]]]
    if changed:
        where = f"The results in {Path(points).parent} are outdated"
        raise ConfigError(f"{where}: {changed[0]} changed since. {remedy}")


def scoring_of(dataset, sources):
    """Return the name of the score from the points' sources; None for the task's default."""
    return next(iter(sources.get(_SCORE.format(dataset), ())), None)


def _digest(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
