"""Time and memory of BudgetRF at the size of Yahoo! Learning to Rank (141,397 x 519, 140 trees).

    python benchmarks/growth_budgetrf.py [--rows N] [--trees N] [--jobs N]

Generated data; prices as in the Yahoo! list. Memory is the rise of the process's peak above what
it held with the input in memory.
"""

import argparse
import resource
import time

import numpy as np
from _budgetrf_data import yahoo_shaped

from budgetlearn.forest.budget_rf import BudgetRFClassifier


def peak():
    """Return the peak memory of this process in GB (Linux counts in kB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main():
    """Fit once; print time, memory and what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=141_397)
    parser.add_argument("--trees", type=int, default=140)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    X, y, prices = yahoo_shaped(options.rows)
    before, start = peak(), time.perf_counter()
    forest = BudgetRFClassifier(
        prices, n_estimators=options.trees, voting="counts", n_jobs=options.jobs, random_state=0
    ).fit(X, y)
    seconds = time.perf_counter() - start
    nodes = sum(tree.node_count for tree in forest.trees_)
    print(f"{X.shape[0]} x {X.shape[1]} ({X.nbytes / 2**30:.2f} GB), {options.trees} trees")
    print(f"fit: {seconds:.0f} s in {options.jobs} threads; peak {peak() - before:.2f} GB more")
    print(f"{nodes} nodes; mean cost {np.mean(forest.acquisition_cost(X[:5000])):.0f}")


if __name__ == "__main__":
    main()
