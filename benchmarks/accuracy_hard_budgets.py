"""Accuracy of the cascade and of learned policies under a cap on the cost of each example.

    python benchmarks/accuracy_hard_budgets.py spambase pima
    python benchmarks/accuracy_hard_budgets.py cube cube_nm cube_nm_exact indicator \
        --splits 5 --fit 800 --test 1200 --caps 2 3 5 7 10 14
    python benchmarks/accuracy_hard_budgets.py bank physionet --score f1_macro \
        --methods cascade_scored cascade gdfs dime
    python benchmarks/accuracy_hard_budgets.py mnist --splits 1 --caps 10 20 30 \
        --methods cascade gdfs dime

Every feature costs 1, and so does each group that CUBE-NM sells together. Price lists in money are
not used. In each split, rows are shuffled; a fifth or the given number are for the test, the others
for the fit. `gdfs`, `dime` and `aaco` need PyTorch (pip install '.[policies]'); for them, missing
values are replaced by the mean of the feature. Prints the mean score over the splits, its standard
error and the cost of an example for each cap, and the seconds of a fit and of the predictions at
the largest cap.
"""

import argparse
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, f1_score

from budgetbench.datasets import load_dataset
from budgetbench.datasets.registry import load_registry
from budgetbench.study.runs import draw_costs, profiles_of
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.policies import AACOClassifier, DIMEClassifier, GDFSClassifier

METHODS = {
    "cascade": ScheduleCascadeClassifier(),
    "cascade_fixed": ScheduleCascadeClassifier(dynamic=False),
    "cascade_dynamic": ScheduleCascadeClassifier(dynamic=True),
    "cascade_scored": ScheduleCascadeClassifier(scoring="f1_macro"),
    "gdfs": GDFSClassifier(),
    "dime": DIMEClassifier(),
    "aaco": AACOClassifier(),
}
SCORES = {"accuracy": accuracy_score, "f1_macro": partial(f1_score, average="macro")}


def prices(data):
    """Return the data set's price list, or None (1 for each) if it has none or it is in money."""
    path = load_registry()[data.id].costs
    listed = None if path is None else pd.read_csv(path)
    if listed is None or listed["cost"].max() > 1:
        return None
    return profiles_of(draw_costs(data, "given", [0], 0, listed), data.feature_names)[0]


def measured(name, data, seed, options):
    """Return score and mean cost at each cap, (n_caps, 2), and the seconds of fit and caps."""
    rows = np.random.default_rng(seed).permutation(data.n_samples)
    n_test = options.test or min(data.n_samples // 5, 2_000)
    train, test = rows[n_test:][: options.fit], rows[:n_test]
    X, model = data.X, clone(METHODS[name]).set_params(feature_costs=prices(data), random_state=0)
    if hasattr(model, "max_acquired"):
        model.set_params(max_acquired=max(model.max_acquired, *options.caps))
    if np.isnan(X).any() and not model.__sklearn_tags__().input_tags.allow_nan:
        X = SimpleImputer().fit(X[train]).transform(X)
    seconds = [perf_counter()]
    model.fit(X[train], data.y[train])
    seconds.append(perf_counter())
    found = []
    for cap in options.caps:
        output, cost = model.predict_with_cost(X[test], max_cost=cap)
        found.append((SCORES[options.score](data.y[test], output), cost.mean()))
        seconds.append(perf_counter())
    return np.array(found), np.diff(seconds)[[0, -1]]


def main():
    """Print a row for each data set and method."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=["cascade"])
    parser.add_argument("--score", choices=SCORES, default="accuracy")
    parser.add_argument("--caps", type=int, nargs="+", default=[3, 4, 5, 8, 10, 15])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--fit", type=int, default=4_000, help="largest number of rows to fit")
    parser.add_argument("--test", type=int, help="rows to test (default: a fifth, at most 2,000)")
    options = parser.parse_args()
    for dataset in options.datasets:
        data = load_dataset(dataset, offline=True)
        for name in options.methods:
            print(dataset, name, *row(name, data, options), sep="  ", flush=True)


def row(name, data, options):
    """Return the cells of a method's row."""
    runs, seconds = zip(
        *(measured(name, data, seed, options) for seed in range(options.splits)), strict=True
    )
    scores = np.array(runs)
    errors = scores[:, :, 0].std(axis=0, ddof=1) / np.sqrt(options.splits)
    cells = [
        f"{cap}: {score:.3f} ±{error:.3f} ({cost:.1f})"
        for cap, (score, cost), error in zip(options.caps, scores.mean(axis=0), errors, strict=True)
    ]
    fit, cap = np.mean(seconds, axis=0)
    return *cells, f"fit {fit:.1f} s, last cap {cap:.2f} s"


if __name__ == "__main__":
    main()
