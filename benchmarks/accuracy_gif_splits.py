"""Globally induced forests whose splits are chosen by targets or by residuals, at fixed settings.

    python benchmarks/accuracy_gif_splits.py --runs 3

Prints test errors with 0.1 % of the nodes of 1000 fully grown extra trees.
`accuracy_gif_devices.py` chooses settings on validation data and compares with peers.
"""

import argparse

import numpy as np
from _gif_data import full_budget, parts
from _gif_peers import error_of

from budgetlearn.gif import GIFClassifier, GIFRegressor

RIDGE = {"joint_fit": "ridge", "prune_factor": 4, "ridge": 0.2}
LOGISTIC = {"joint_fit": "logistic", "prune_factor": 4, "ridge": 0.02}
PLAIN = {"n_estimators": 480}  # with too many nodes and examples to fit all at once
SETTINGS = {
    "friedman1": RIDGE,
    "abalone": RIDGE,
    "california": PLAIN,
    "twonorm": LOGISTIC,
    "ringnorm": LOGISTIC,
    "hastie": LOGISTIC,
    "musk2": LOGISTIC,
    "vowel": LOGISTIC,
    "letter": LOGISTIC | {"prune_factor": 1},
}
ALL = {"max_features": None}
SPLITS = {
    "targets, √p features": {},
    "targets, all": ALL,
    "residuals, √p features": {"split_on": "residuals"},
    "residuals, all": ALL | {"split_on": "residuals"},
    "residuals, all, 8 thresholds": ALL | {"split_on": "residuals", "n_thresholds": 8},
}


def errors(dataset, splits, n_runs):
    """Return the test error of each run."""
    found = []
    for run in range(n_runs):
        task, (X, X_test, y, y_test) = parts(dataset, run)
        budget = int(full_budget(task, X, y, run) / 1000)
        kind = GIFRegressor if task == "regression" else GIFClassifier
        fixed = {"n_estimators": "auto", "learning_rate": 0.1, "random_state": run}
        model = kind(budget, **(fixed | SETTINGS[dataset] | splits)).fit(X, y)
        found.append(error_of(task, model.predict(X_test), y_test))
    return found


def main():
    """Print a table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(SETTINGS))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("| data set |", " | ".join(SPLITS), "|")
    for dataset in options.datasets:
        cells = [errors(dataset, splits, options.runs) for splits in SPLITS.values()]
        digits = 3 if dataset == "california" else 2
        texts = (f"{np.mean(own):.{digits}f} ({np.std(own):.{digits}f})" for own in cells)
        print(f"| {dataset} |", " | ".join(texts), "|", flush=True)


if __name__ == "__main__":
    main()
