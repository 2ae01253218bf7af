"""Small globally induced forests compared with tuned boosting and forests of the same size.

    python benchmarks/accuracy_gif_devices.py --rows rows.csv --runs 10 friedman1 vowel
    python benchmarks/accuracy_gif_devices.py --rows rows.csv --print

Node budgets are 1 % and 0.1 % of the nodes of 1000 fully grown extra trees, as in the paper. Byte
budgets are two bytes for each of these nodes, about what boosted trees take in the compact format
"int8".

Each method tries its settings on a quarter of the training rows, and the best one is fitted to all
of them. It has twelve settings; ours has fewer if there are many rows. Boosting is cut at the best
number of trees within the budget, which does not count as a setting. Within byte budgets, our
models predict as stored, with all rounding errors. Boosting predicts unrounded and is charged for
one output column per tree.

Finished rows stay in the file, so an interrupted run can be continued.
"""

import argparse
import csv
import warnings
from pathlib import Path

import pandas as pd
from _gif_data import full_budget, parts
from _gif_peers import Forests, LightGBM, SklearnBoosting, error_of, limit_of, n_classes_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.gif import GIFClassifier, GIFRegressor

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
    "ridge": (0.03, 0.2, 1.0),
    "logistic": (0.003, 0.02, 0.1),
}
# What the splits are chosen by.
SPLITS = (
    {},
    {"split_on": "residuals", "max_features": None, "learning_rate": 0.1},
)
# Limits of grown nodes, and of rows x grown nodes x the smaller of both, so that most tries take
# seconds. Our models do not use the rest of a larger budget. If not even four times `FEW` are
# affordable, regression does without refitting, and classification tries a single setting.
MOST_GROWN, MOST_WORK, FEW = 24_000, 2e10, 500
MOST_OF_MANY = 10_000
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
        settings = self.settings(task, nodes_of(task, budget, fit[1]), len(fit[1]))
        tries = []
        for setting in settings if len(settings) > 1 else ():
            predict, _ = self._fitted(task, setting, budget, *fit, seed)
            tries.append((error_of(task, predict(valid[0]), valid[1]), setting))
        setting = min(tries, key=lambda row: row[0])[1] if tries else settings[0]
        predict, size = self._fitted(task, setting, budget, *train, seed)
        return setting, error_of(task, predict(test[0]), test[1]), size

    def settings(self, task, n_nodes, n_samples):
        """Return up to twelve settings."""
        work = MOST_WORK / n_samples
        affordable = int(min(MOST_GROWN, max(work / n_samples, min(work**0.5, n_samples))))
        if affordable < 4 * FEW:
            return self._settings_of_many(task, n_nodes)
        refit = "ridge" if task == "regression" else "logistic"
        factors = 4, 16
        if 16 * n_nodes > affordable:
            n_nodes = min(n_nodes, affordable // 2)
            factors = 1, affordable / n_nodes
        fixed = {"node_budget": n_nodes, "joint_fit": refit}
        return [
            fixed | {"prune_factor": factor, "ridge": alpha} | splits
            for splits in SPLITS
            for factor in factors
            for alpha in PENALTIES[refit]
        ]

    def _settings_of_many(self, task, n_nodes):
        """Return three settings in regression, a single one in classification."""
        if task == "regression":
            fixed = {"node_budget": n_nodes, "n_estimators": n_nodes // 50, "n_thresholds": 8}
            # Longitude and latitude need finer thresholds than "int8" has.
            fixed["byte_format"] = "float16"
            return [SPLITS[1] | fixed | {"learning_rate": rate} for rate in (0.03, 0.06, 0.12)]
        n_nodes = min(n_nodes, MOST_OF_MANY)
        fixed = {"node_budget": n_nodes, "joint_fit": "logistic", "ridge": 0.003}
        return [SPLITS[1] | fixed | {"prune_factor": min(2, MOST_OF_MANY // n_nodes)}]

    def _fitted(self, task, setting, budget, X, y, seed):
        """Return a function that predicts, and the size of the model."""
        in_bytes = budget[0] == "bytes"
        limit = {"byte_budget": limit_of(budget)} if in_bytes else {}
        kind = GIFRegressor if task == "regression" else GIFClassifier
        options = {"n_estimators": "auto", "random_state": seed, "byte_format": "int8"}
        model = kind(**(options | limit | setting)).fit(X, y)
        if not in_bytes:
            return model.predict, model.n_nodes_
        stored = model.compact(model.byte_format)
        return stored.predict, stored.nbytes


def nodes_of(task, budget, y):
    """Return the nodes of a budget; for bytes, about as many as fit."""
    if budget[0] == "nodes":
        return budget[1]
    n_classes = n_classes_of(task, y)
    return 2 * limit_of(budget) // (3 + (n_classes if n_classes > 2 else 1))


METHODS = {method.name: method for method in (Ours(), LightGBM(), SklearnBoosting(), Forests())}


def measure(path, datasets, methods, n_runs, percents):
    """Add the rows that are missing in the file."""
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
    """Return the rows of one run; a row has no error if no model fits the budget."""
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
    """Return the mean errors by data set and budget: ours, each peer's and the best booster's."""
    rows = pd.read_csv(path)
    keys = ["unit", "percent", "dataset"]
    table = rows.pivot_table(index=[*keys, "run"], columns="method", values="error")
    table = table.reindex(columns=list(METHODS))
    means = table.dropna(subset=["gif"]).groupby(keys).mean()
    means["runs"] = table.groupby(keys).size()
    means["booster"] = means[["lightgbm", "sklearn_gb"]].min(axis=1)
    means["ours lower"] = means["gif"] < means["booster"]
    return means


def main():
    """Measure the missing rows, and print the table."""
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
