"""Memory and time of globally induced forests on large tables, and their number of nodes.

    python benchmarks/growth_gif.py [--rows N] [--trees N] [--nodes N] [--kind classes]

Numbers in 20 columns are generated. Memory is the peak of the process above its memory before the
fit (Linux: VmHWM). Each run of the script measures one table, because a process does not give all
memory back.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from budgetlearn.gif import GIFClassifier, GIFRegressor


def status(name):
    """Return a figure of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def main():
    """Fit once, and print memory for each row and CPU seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--kind", choices=("numbers", "classes"), default="numbers")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    X = random.random((options.rows, 20))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y += random.normal(size=len(y))
    forest = GIFRegressor
    if options.kind == "classes":
        forest, y = GIFClassifier, y > np.median(y)
    model = forest(options.nodes, n_estimators=options.trees, random_state=0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    start = time.process_time()
    model.fit(X, y)
    seconds, more = time.process_time() - start, status("VmHWM") - before
    print(f"{X.shape[0]} x {X.shape[1]}, {options.trees} trees, {model.n_nodes_} nodes")
    print(f"fit: {seconds:.1f} s of CPU, {more / len(X):.0f} bytes a row")


if __name__ == "__main__":
    main()
