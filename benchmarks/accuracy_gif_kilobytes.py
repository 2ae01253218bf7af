"""Globally induced forests, LightGBM and int8 perceptrons of 1, 4 and 16 kB.

    python benchmarks/accuracy_gif_kilobytes.py rows.csv [data set ...] [--runs 1]
    python benchmarks/accuracy_gif_kilobytes.py rows.csv --print

There are seventeen classification tables that played no part in choosing settings of GIF. At most
400 rows are used to learn, and at most 4,000 others to test. Each method tries six settings on a
quarter of the learning rows, and the best one is fitted to all of them. GIF grows at most 8,000
nodes, a third of those in `accuracy_gif_devices.py`, so that a table takes about half a minute. GIF
predicts as stored in "int8", LightGBM unrounded. Finished rows stay in the file.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import pandas as pd
from _gif_peers import BYTES_A_NODE, Int8MLP, LightGBM
from accuracy_gif_devices import PENALTIES, SPLITS, Ours
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from budgetbench.datasets.preparing import load_dataset
from budgetlearn.exceptions import BudgetlearnWarning

NAMES = [
    "bank",
    "breast_cancer",
    "concrete",
    "diabetes",
    "digits",
    "heart",
    "miniboone_tiny",
    "naval",
    "physionet",
    "pima",
    "satellite",
    "spambase",
    "steel",
    "thyroid",
    "vehicle",
    "waveform",
    "wine",
]
KILOBYTES = (1, 4, 16)
MOST_TRAIN, MOST_TEST, MOST_GROWN = 400, 4000, 8000
COLUMNS = ["dataset", "run", "method", "kB", "setting", "error", "bytes", "seconds"]


class SixForests(Ours):
    """GIF, grown up to four times as large, pruned and refitted."""

    def settings(self, task, n_nodes, n_samples):
        """Return six settings."""
        n_nodes = min(n_nodes, MOST_GROWN)
        fixed = {"node_budget": n_nodes, "joint_fit": "logistic"}
        fixed["prune_factor"] = min(4, MOST_GROWN / n_nodes)
        return [
            fixed | splits | {"ridge": ridge}
            for splits in SPLITS
            for ridge in PENALTIES["logistic"]
        ]


class SixBoostings(LightGBM):
    """LightGBM of 4 to 16 leaves."""

    def settings(self):
        """Return six settings."""
        return [setting for setting in super().settings() if setting["min_child_samples"] == 10]


class SixPerceptrons(Int8MLP):
    """Perceptrons of one or two hidden layers."""

    penalties, rates = (1e-4, 1e-2, 1.0), (1e-2,)


METHODS = (SixForests(), SixBoostings(), SixPerceptrons())


def parts(name, run):
    """Return (X, y) to learn from and to test."""
    data = load_dataset(name)
    n_train = min(MOST_TRAIN, 2 * len(data.y) // 3)
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, train_size=n_train, stratify=data.y, random_state=run
    )
    return (X, y), (X_test[:MOST_TEST], y_test[:MOST_TEST])


def rows_of(method, name, run):
    """Return the results of a method on a split of a table."""
    train, test = parts(name, run)
    X_fit, X_valid, y_fit, y_valid = train_test_split(
        *train, test_size=0.25, stratify=train[1], random_state=run
    )
    budgets = {("bytes", kB * 1000 // BYTES_A_NODE): kB for kB in KILOBYTES}
    start = time.process_time()
    data = (X_fit, y_fit), (X_valid, y_valid), train, test
    found = method.best("classification", list(budgets), *data, run)
    seconds = time.process_time() - start
    nothing = "no model fits", "", ""
    return [
        (name, run, method.name, kB, *found.get(budget, nothing), round(seconds, 1))
        for budget, kB in budgets.items()
    ]


def summary(path):
    """Return mean errors by kilobytes and table, and the best method (the first among equals)."""
    rows = pd.read_csv(path)
    keys = ["kB", "dataset"]
    table = rows.pivot_table(index=keys, columns="method", values="error")
    table = table.reindex(columns=[method.name for method in METHODS])
    table["least"] = table.idxmin(axis=1)
    return table


def main():
    """Measure the missing rows, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="file of finished rows")
    parser.add_argument("datasets", nargs="*", default=NAMES)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="only print the table")
    options = parser.parse_args()
    for category in (BudgetlearnWarning, ConvergenceWarning, UserWarning):
        warnings.simplefilter("ignore", category)
    if not options.rows.exists():
        options.rows.write_text(",".join(COLUMNS) + "\n")
    done = {tuple(row[:3]) for row in csv.reader(options.rows.open())}
    for run in range(0 if options.print else options.runs):
        for name in options.datasets:
            for method in METHODS:
                if (name, str(run), method.name) not in done:
                    with options.rows.open("a") as file:
                        csv.writer(file).writerows(rows_of(method, name, run))
                        file.flush()
    table = summary(options.rows)
    print(table.round(2).to_string())
    print(table.groupby("kB")["least"].value_counts().to_string())


if __name__ == "__main__":
    main()
