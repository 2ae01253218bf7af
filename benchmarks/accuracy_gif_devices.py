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
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from accuracy_gif import full_budget, parts
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.forest import GIFClassifier, GIFRegressor
from budgetlearn.forest.compact.serialization import size
from budgetlearn.forest.compact.trees import stored
from budgetlearn.tree.convert import from_lightgbm, from_sklearn

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
BYTES_A_NODE = 2
CHECKPOINTS = 30
MOST_TREES = 3000  # of boosting
COLUMNS = ["dataset", "percent", "run", "unit", "method", "setting", "error", "size"]


def error_of(task, predicted, y):
    """Return the mean squared error, or the percentage of wrong classes."""
    if task == "regression":
        return float(np.square(predicted - y).mean())
    return 100 * float((predicted != y).mean())


class Ours:
    """GIF: ridge regression on pruned nodes, and the paper's algorithm with few trees."""

    name = "gif"

    def settings(self, budget, n_samples, n_classes):
        """Return twelve settings; large models are pruned from less, or not at all."""
        rates = 0.03, 0.1, 0.3, 1.0
        if n_samples * n_classes > 100_000:
            return [
                {"n_estimators": trees, "learning_rate": rate, "refit": passes}
                for trees in ("auto", 200)
                for rate, passes in zip(rates[:3] * 2, (0, 0, 0, 10, 10, 10), strict=True)
            ]
        factors = (4, 16) if budget < 3000 else (2, 4) if budget < 8000 else (1,)
        ridge = {"n_estimators": "auto" if budget < 10_000 else 200, "refit": "ridge"}
        pruned = [ridge | {"prune_factor": f, "alpha": rate} for f in factors for rate in rates]
        grown = [{"n_estimators": "auto", "learning_rate": rate} for rate in rates]
        refitted = [setting | {"refit": 10} for setting in grown]
        return [*pruned, *grown[:2], *refitted[1:3], *grown[2:], refitted[0], refitted[3]][:12]

    def fitted(self, task, setting, unit, budget, X, y, seed):
        """Return a function that predicts, and the size of the model."""
        if task != "regression":
            setting = setting | {"loss": "auto"}
        if unit == "bytes":
            limit = {"byte_budget": budget * BYTES_A_NODE, "byte_format": "int8"}
            setting = setting | limit
        model = (GIFRegressor if task == "regression" else GIFClassifier)(
            budget, random_state=seed, **setting
        ).fit(X, y)
        if unit == "nodes":
            return model.predict, model.n_nodes_
        stored_model = model.compact("int8")
        return stored_model.predict, stored_model.nbytes


class Boosting:
    """Boosting, cut at the number of iterations that validation data ask for."""

    def fitted(self, task, setting, unit, budget, X, y, seed):
        """Return a function that yields predictions after some iterations, and their sizes."""
        setting = dict(setting)
        most = self.most_trees(setting, budget, np.unique(y).size if task != "regression" else 1)
        if most < 1:
            return None
        model = self.model(task, setting, most, seed).fit(X, y)
        trees, per_step = self.trees(model)
        sizes = prefix_sizes(trees, per_step, unit, X.shape[1])
        limit = budget if unit == "nodes" else budget * BYTES_A_NODE
        n_fit = int(np.searchsorted(sizes, limit, side="right"))
        if not n_fit:
            return None
        steps = np.unique(np.linspace(1, n_fit, min(n_fit, CHECKPOINTS)).astype(int))
        return lambda X: self.staged(model, X, steps), dict(
            zip(steps, sizes[steps - 1], strict=True)
        )


def prefix_sizes(trees, per_step, unit, n_features):
    """Return nodes or bytes of the first k iterations."""
    if unit == "nodes":
        nodes = np.cumsum([tree.node_count for tree in trees])
        return nodes[per_step - 1 :: per_step]
    # One column a tree: a booster's tree speaks for one class.
    parts_ = [stored([tree]) for tree in trees]
    counts = np.array([int(part.n_splits.sum()) for part in parts_])
    widest = max((int(part.n_left.max(initial=0)) for part in parts_), default=0)
    used = np.unique(np.concatenate([part.feature for part in parts_])).size
    fixed = size(False, "int8", [], [], 0, per_step, n_features, used)
    of_trees = [size(False, "int8", [n], [widest], n + 1, 0, n_features, 0) for n in counts]
    empty = size(False, "int8", [], [], 0, 0, n_features, 0)
    return (fixed + np.cumsum(np.array(of_trees) - empty))[per_step - 1 :: per_step]


class SklearnBoosting(Boosting):
    """scikit-learn's gradient boosting of trees of depth 2 to 4."""

    name = "sklearn_gb"

    def settings(self, *_):
        """Return twelve settings."""
        return [
            {"max_depth": depth, "learning_rate": rate, "max_features": features}
            for depth in (2, 3, 4)
            for rate in (0.1, 0.3)
            for features in ("sqrt", None)
        ]

    def most_trees(self, setting, budget, n_classes):
        """Return the iterations that could fit the budget, each tree as large as may be."""
        trees = n_classes if n_classes > 2 else 1
        return min(MOST_TREES, budget // (2 ** setting["max_depth"] + 1) // trees)

    def model(self, task, setting, n_trees, seed):
        """Return the estimator."""
        kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
        return kind(n_estimators=n_trees, random_state=seed, **setting)

    def trees(self, model):
        """Return all trees, and how many make an iteration."""
        return from_sklearn(model), model.estimators_.shape[1]

    def staged(self, model, X, steps):
        """Yield iterations and predictions."""
        wanted = set(steps.tolist())
        for step, predicted in enumerate(model.staged_predict(X), 1):
            if step in wanted:
                yield step, predicted


class LightGBM(Boosting):
    """LightGBM of 4 to 16 leaves, without limits on the leaves' size."""

    name = "lightgbm"

    def settings(self, *_):
        """Return twelve settings."""
        return [
            {"num_leaves": leaves, "learning_rate": rate, "min_child_samples": least}
            for leaves in (4, 8, 16)
            for rate in (0.1, 0.3)
            for least in (1, 10)
        ]

    def most_trees(self, setting, budget, n_classes):
        """Return the iterations that fit the budget when all trees are full."""
        trees = n_classes if n_classes > 2 else 1
        return min(MOST_TREES, int(1.3 * budget) // (2 * setting["num_leaves"] - 1) // trees)

    def model(self, task, setting, n_trees, seed):
        """Return the estimator."""
        kind = LGBMRegressor if task == "regression" else LGBMClassifier
        return kind(
            n_estimators=n_trees,
            random_state=seed,
            n_jobs=1,
            verbose=-1,
            min_child_weight=0,
            **setting,
        )

    def trees(self, model):
        """Return all trees, and how many make an iteration."""
        return from_lightgbm(model.booster_), model.booster_.num_model_per_iteration()

    def staged(self, model, X, steps):
        """Yield iterations and predictions."""
        for step in steps.tolist():
            yield step, model.predict(X, num_iteration=step)


class Forests:
    """Random forests and extra trees of few leaves each."""

    name = "forest"

    def settings(self, *_):
        """Return twelve settings."""
        return [
            {"kind": kind, "leaves": leaves}
            for kind in ("rf", "et")
            for leaves in (4, 8, 16, 32, 64, 128)
        ]

    def fitted(self, task, setting, unit, budget, X, y, seed):
        """Return a function that predicts, and the size of the model."""
        kinds = {
            "rf": (RandomForestRegressor, RandomForestClassifier),
            "et": (ExtraTreesRegressor, ExtraTreesClassifier),
        }[setting["kind"]]
        n_columns = np.unique(y).size if task != "regression" else 1
        n_columns = 1 if n_columns == 2 else n_columns
        leaves = setting["leaves"]
        cost = 2 * leaves - 1
        limit = budget
        if unit == "bytes":
            cost = 2 + 3 * (leaves - 1) + n_columns * leaves
            limit = budget * BYTES_A_NODE - 30 - 10 * X.shape[1]
        n_trees = min(1000, limit // cost)
        if n_trees < 1:
            return None
        model = kinds[task != "regression"](
            n_trees, max_leaf_nodes=leaves, random_state=seed, n_jobs=1
        ).fit(X, y)
        return model.predict, n_trees * cost


def best_error(method, task, unit, budget, train, test, seed):
    """Return setting, test error and size of what validation data chose."""
    X, y = train
    stratify = y if task != "regression" else None
    X_fit, X_valid, y_fit, y_valid = train_test_split(
        X, y, test_size=0.25, random_state=seed, stratify=stratify
    )
    tries = []
    n_classes = np.unique(y).size if task != "regression" else 1
    for setting in method.settings(budget, len(y), n_classes):
        made = method.fitted(task, setting, unit, budget, X_fit, y_fit, seed)
        if made is None:
            continue
        predict, _ = made
        if isinstance(method, Boosting):
            errors = [(error_of(task, p, y_valid), step) for step, p in predict(X_valid)]
            tries.append((*min(errors), setting))
        else:
            tries.append((error_of(task, predict(X_valid), y_valid), 0, setting))
    if not tries:
        return None
    _, step, setting = min(tries, key=lambda row: row[0])
    predict, sizes = method.fitted(task, setting, unit, budget, X, y, seed)
    if not isinstance(method, Boosting):
        return setting, error_of(task, predict(test[0]), test[1]), sizes
    steps = dict(predict(test[0]))
    near = min(steps, key=lambda n: abs(n - step))
    return setting | {"trees": near}, error_of(task, steps[near], test[1]), int(sizes[near])


def measure(path, datasets, percents, n_runs, units):
    """Add the rows that the file lacks."""
    done = set()
    if path.exists():
        done = {tuple(row[:5]) for row in csv.reader(path.open())}
    else:
        path.write_text(",".join(COLUMNS) + "\n")
    for run in range(n_runs):
        for dataset in datasets:
            for percent in percents:
                for unit, method in product(units, METHODS):
                    key = (dataset, str(percent), str(run), unit, method.name)
                    if key not in done:
                        found = of_run(method, dataset, percent, run, unit)
                        with path.open("a") as file:
                            csv.writer(file).writerow([*key, *found])
                        print(*key, *found, flush=True)


def of_run(method, dataset, percent, run, unit):
    """Return setting, test error and size of one run; where no model fits, no error."""
    task, (X, X_test, y, y_test) = parts(dataset, run)
    budget = int(full_budget(task, X, y, run) * percent / 100)
    found = best_error(method, task, unit, budget, (X, y), (X_test, y_test), run)
    return found or ("no model fits", np.nan, np.nan)


METHODS = Ours(), LightGBM(), SklearnBoosting(), Forests()


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
    parser.add_argument("--percents", type=float, nargs="+", default=PERCENTS)
    parser.add_argument("--units", nargs="+", default=["nodes", "bytes"])
    parser.add_argument("--print", action="store_true", help="only print the table")
    options = parser.parse_args()
    for category in (BudgetlearnWarning, ConvergenceWarning, UserWarning):
        warnings.simplefilter("ignore", category)
    if not options.print:
        measure(options.rows, options.datasets, options.percents, options.runs, options.units)
    print(summary(options.rows).round(3).to_string())


if __name__ == "__main__":
    main()
