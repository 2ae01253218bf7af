"""Small globally induced forests beside tuned boosting and forests of as many nodes, or bytes.

    python benchmarks/accuracy_gif_devices.py --rows rows.csv --runs 10 friedman1 vowel
    python benchmarks/accuracy_gif_devices.py --rows rows.csv --print

Node budgets are 1 % and 0.1 % of the nodes of 1000 fully grown extra trees, as in the paper; byte
budgets are two bytes for each of these nodes, about what boosted trees take in the compact format
"int8". Each method tries its settings on a quarter of the training rows, and the best one is fitted
to all of them: twelve settings each. Boosting is cut at the number of trees that is best within the
budget, which costs no try. By bytes, our models predict as they are stored, and so with all their
errors of rounding; boosting predicts unrounded, and is charged for one column a tree. Rows that
are finished stay in the file, so that the script goes on where it was stopped.
"""

import argparse
import csv
import warnings
from pathlib import Path

import pandas as pd
from _gif_peers import Forests, LightGBM, SklearnBoosting, error_of, limit_of
from accuracy_gif import full_budget, parts
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.forest import GIFClassifier, GIFRegressor

NAMES = [
    "friedman1",
    "abalone",
    "california",
    "twonorm",
    "ringnorm",
    "hastie",
    "musk2",
    "vowel",
    "letter",
]
PERCENTS = (0.1, 1.0)
PENALTIES = {
    "ridge": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
    "logistic": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
}
# Grown nodes, and these times squared training rows, so that all tries take about a minute. Where
# a budget is larger, our models leave the rest of it unused, or, in classification, where not even
# `FEW` nodes can be fitted together, weights are refitted one after the other.
MOST_GROWN, MOST_WORK, FEW = 24_000, 2e10, 200
COLUMNS = ["dataset", "percent", "run", "unit", "method", "setting", "error", "size"]


class Ours:
    """GIF, grown, pruned and refitted."""

    name = "gif"

    def best(self, task, budgets, fit, valid, train, test, seed):
        """Return (setting, test error, size) for each budget, {(unit, nodes): ...}."""
        return {
            budget: self._best(task, budget, fit, valid, train, test, seed) for budget in budgets
        }

    def _best(self, task, budget, fit, valid, train, test, seed):
        tries = []
        for setting in self.settings(task, budget[1], len(fit[1])):
            predict, _ = self._fitted(task, setting, budget, *fit, seed)
            tries.append((error_of(task, predict(valid[0]), valid[1]), setting))
        _, setting = min(tries, key=lambda row: row[0])
        predict, size = self._fitted(task, setting, budget, *train, seed)
        return setting, error_of(task, predict(test[0]), test[1]), size

    def settings(self, task, n_nodes, n_samples):
        """Return twelve settings: prune factors x penalties, or learning rates x trees."""
        affordable = min(MOST_GROWN, int(MOST_WORK / n_samples**2))
        refit = "ridge" if task == "regression" else "logistic"
        if refit == "logistic" and affordable < FEW:
            return [
                {"node_budget": n_nodes, "refit": 10, "learning_rate": rate, "n_estimators": trees}
                for rate in (0.03, 0.1, 0.3, 0.6)
                for trees in (100, 300, 1000)
            ]
        small, large = (4, 16) if 16 * n_nodes <= affordable else (1, 4)
        n_nodes = min(n_nodes, affordable // large)
        return [
            {"node_budget": n_nodes, "refit": refit, "prune_factor": factor, "alpha": alpha}
            for factor in (small, large)
            for alpha in PENALTIES[refit]
        ]

    def _fitted(self, task, setting, budget, X, y, seed):
        """Return a function that predicts, and the size of the model."""
        in_bytes = budget[0] == "bytes"
        limit = {"byte_budget": limit_of(budget), "byte_format": "int8"} if in_bytes else {}
        kind = GIFRegressor if task == "regression" else GIFClassifier
        options = {"n_estimators": "auto", "random_state": seed} | limit | setting
        model = kind(**options).fit(X, y)
        if not in_bytes:
            return model.predict, model.n_nodes_
        stored = model.compact("int8")
        return stored.predict, stored.nbytes


METHODS = {method.name: method for method in (Ours(), LightGBM(), SklearnBoosting(), Forests())}


def measure(path, datasets, methods, n_runs, percents):
    """Add the rows that the file lacks."""
    done = set()
    if path.exists():
        done = {tuple(row[:5]) for row in csv.reader(path.open())}
    else:
        path.write_text(",".join(COLUMNS) + "\n")
    for run in range(n_runs):
        for dataset in datasets:
            cells = [(dataset, str(p), str(run), u) for p in percents for u in ("nodes", "bytes")]
            for method in methods:
                lacking = [cell for cell in cells if (*cell, method) not in done]
                if lacking:
                    rows = of_run(METHODS[method], dataset, run, lacking)
                    with path.open("a") as file:
                        csv.writer(file).writerows(rows)
                    print(*rows, sep="\n", flush=True)


def of_run(method, dataset, run, cells):
    """Return the rows of one run; where no model fits, one without an error."""
    task, (X, X_test, y, y_test) = parts(dataset, run)
    full = full_budget(task, X, y, run)
    budgets = {cell: (cell[3], int(full * float(cell[1]) / 100)) for cell in cells}
    stratify = y if task != "regression" else None
    X_fit, X_valid, y_fit, y_valid = train_test_split(
        X, y, test_size=0.25, random_state=run, stratify=stratify
    )
    data = (X_fit, y_fit), (X_valid, y_valid), (X, y), (X_test, y_test)
    found = method.best(task, list(budgets.values()), *data, run)
    nothing = "no model fits", "", ""
    return [(*cell, method.name, *found.get(budgets[cell], nothing)) for cell in cells]


def summary(path):
    """Return mean errors: ours, each peer's, and the best booster's, by data set and budget."""
    rows = pd.read_csv(path)
    keys = ["unit", "percent", "dataset"]
    table = rows.pivot_table(index=[*keys, "run"], columns="method", values="error")
    means = table.dropna(subset=["gif"]).groupby(keys).mean()
    means["runs"] = table.groupby(keys).size()
    means["booster"] = means[["lightgbm", "sklearn_gb"]].min(axis=1)
    means["ours lower"] = means["gif"] < means["booster"]
    return means


def main():
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=NAMES)
    parser.add_argument("--rows", type=Path, required=True, help="file of finished rows")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--percents", type=float, nargs="+", default=PERCENTS)
    parser.add_argument("--print", action="store_true", help="only print the table")
    options = parser.parse_args()
    for category in (BudgetlearnWarning, ConvergenceWarning, UserWarning):
        warnings.simplefilter("ignore", category)
    if not options.print:
        measure(options.rows, options.datasets, options.methods, options.runs, options.percents)
    print(summary(options.rows).round(3).to_string())


if __name__ == "__main__":
    main()
