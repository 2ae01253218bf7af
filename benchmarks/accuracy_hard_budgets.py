"""Accuracy of the cascade where no example may cost more than so many features.

    python benchmarks/accuracy_hard_budgets.py spambase pima cube

Every feature costs 1. Three splits: shuffled rows, a fifth for the test (2,000 rows at most), the
others for the fit (4,000 at most). Prints the mean over the splits and its standard error for each
cap, and what an example cost.
"""

import argparse

import numpy as np

from budgetbench.datasets import load_dataset
from budgetlearn.cascade import ScheduleCascadeClassifier

CAPS = (3, 4, 5, 8, 10, 15)
SPLITS = 3
MOST_FITTED, MOST_TESTED = 4_000, 2_000


def accuracies(data, seed):
    """Return (accuracy, mean cost) at each cap of one split, (n_caps, 2)."""
    rows = np.random.default_rng(seed).permutation(data.n_samples)
    n_test = data.n_samples // 5
    train, test = rows[n_test:][:MOST_FITTED], rows[:n_test][:MOST_TESTED]
    model = ScheduleCascadeClassifier(random_state=0).fit(data.X[train], data.y[train])
    found = []
    for cap in CAPS:
        output, cost = model.predict_with_cost(data.X[test], max_cost=cap)
        found.append(((output == data.y[test]).mean(), cost.mean()))
    return np.array(found)


def main():
    """Print a row for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    for name in parser.parse_args().datasets:
        data = load_dataset(name, offline=True)
        runs = np.array([accuracies(data, seed) for seed in range(SPLITS)])
        errors = runs[:, :, 0].std(axis=0, ddof=1) / np.sqrt(SPLITS)
        cells = [
            f"{cap}: {score:.3f} ±{error:.3f} ({cost:.1f})"
            for cap, (score, cost), error in zip(CAPS, runs.mean(axis=0), errors, strict=True)
        ]
        print(name, *cells, sep="  ", flush=True)


if __name__ == "__main__":
    main()
