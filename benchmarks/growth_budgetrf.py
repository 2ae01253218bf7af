"""Time and memory of BudgetRF on large tables.

    python benchmarks/growth_budgetrf.py [--rows N] [--trees N] [--jobs N]
    python benchmarks/growth_budgetrf.py --tall FOLDER [--rows N] [--trees N] [--jobs N]

The data are generated. The first table is in memory. It has the size of Yahoo! Learning to Rank
(141,397 x 519, 140 trees) and prices as in its list. With `--tall`, the table has 50 columns of
float32. It is in a mapped file in FOLDER, and so are its codes of 255 bins. Memory is the peak of
the process's own pages (Linux: RssAnon) above their size before the fit; pages of mapped files can
be dropped.
"""

import argparse
import tempfile
import time
from pathlib import Path
from threading import Event, Thread

import numpy as np
from _budgetrf_data import tall, yahoo_shaped

from budgetlearn.budgetrf import BudgetRFClassifier, Growth, Leaves


def held():
    """Return the bytes of memory of this process that belong to no file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


def peak_of(action):
    """Return seconds, CPU seconds and additional bytes of an action."""
    before, most, done = held(), [0], Event()

    def watch():
        while not done.wait(0.01):
            most[0] = max(most[0], held())

    watcher = Thread(target=watch)
    watcher.start()
    start, cpu = time.perf_counter(), time.process_time()
    action()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    done.set()
    watcher.join()
    return seconds, cpu, most[0] - before


def main():
    """Fit once, and print time, memory and the mean cost of predictions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--trees", type=int, default=140)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tall", metavar="FOLDER")
    options = parser.parse_args()
    parameters = {"n_estimators": options.trees, "n_jobs": options.jobs, "random_state": 0}
    with tempfile.TemporaryDirectory(dir=options.tall) as folder:
        if options.tall is None:
            X, y, prices = yahoo_shaped(options.rows or 141_397)
            forest = BudgetRFClassifier(
                feature_costs=prices,
                leaves=Leaves(voting="counts"),
                cost_exponent=1.0,
                **parameters,
            )
        else:
            X, y = tall(folder, options.rows or 1_000_000)
            forest = BudgetRFClassifier(
                growth=Growth(max_bins=255, codes_folder=folder), **parameters
            )
        seconds, cpu, more = peak_of(lambda: forest.fit(X, y))
    nodes = sum(tree.node_count for tree in forest.trees_)
    print(f"{X.shape[0]} x {X.shape[1]} ({X.nbytes / 2**30:.2f} GB), {options.trees} trees")
    print(f"fit: {seconds:.0f} s, {cpu:.0f} s of CPU, in {options.jobs} threads")
    print(f"memory: {more / 2**30:.2f} GB more, {more / len(X):.0f} bytes a row; {nodes} nodes")
    print(f"mean cost {np.mean(forest.acquisition_cost(X[:5000])):.0f}")


if __name__ == "__main__":
    main()
