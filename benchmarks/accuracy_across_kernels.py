"""Whether results are the same with other kernels of OpenBLAS, NumPy and glibc.

    python benchmarks/accuracy_across_kernels.py [method ...] [--datasets wine breast_cancer]

Each method runs once per setting, in a separate process: OpenBLAS with the kernels of older
processors, NumPy without AVX, glibc without FMA (x86_64 only). The script compares the operating
points with those of the unchanged machine and prints the largest relative difference, ignoring
clock times.
"""

import argparse
import json
import os
import subprocess
import sys

import numpy as np
from speed_methods import STUDY, first_run, specification

from budgetbench.study.experiment import run_method

AS_IT_IS = "as it is"
FASTER = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
SETTINGS = {
    AS_IT_IS: {},
    "OpenBLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OpenBLAS for Sandy Bridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "OpenBLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "NumPy without AVX": {"NPY_DISABLE_CPU_FEATURES": FASTER},
    "glibc without FMA": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"},
}


def measure(methods, datasets):
    """Print {data set and method: the numbers of its operating points} as json."""
    found = {}
    for dataset in datasets:
        run = first_run(dataset)
        for method in methods:
            rows = list(run_method(method, specification(method, dataset), run))
            found[f"{dataset}: {method}"] = [
                float(np.nan_to_num(number))
                for row in rows
                for name, value in sorted(row.items())
                if "seconds" not in name and name != "memory"
                for number in np.atleast_1d(value)
                if isinstance(number, (int, float, np.number))
            ]
    print(json.dumps(found))


def points(setting, arguments):
    """Return the output of `measure` in a process with a setting."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(
        [sys.executable, __file__, "--measure", *arguments],
        env=os.environ | threads | SETTINGS[setting],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(output.splitlines()[-1])


def difference(ours, theirs):
    """Return the largest relative difference, infinite if the operating points do not match."""
    if len(ours) != len(theirs):
        return np.inf
    ours, theirs = np.array(ours), np.array(theirs)
    return np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1.0), initial=0.0)


def compare(arguments):
    """Print a table: a line for each data set and method, a column for each setting."""
    found = {setting: points(setting, arguments) for setting in SETTINGS}
    names = list(SETTINGS)[1:]
    print(f"{'':40}" + "".join(f"{name:>28}" for name in names))
    for case, ours in found[AS_IT_IS].items():
        differences = [difference(ours, found[name][case]) for name in names]
        print(f"{case:40}" + "".join(f"{value:28.1e}" for value in differences), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--datasets", nargs="+", default=["wine", "breast_cancer"])
    parser.add_argument("methods", nargs="*", metavar="method", default=list(STUDY.methods))
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.methods, options.datasets)
    else:
        compare(sys.argv[1:])
