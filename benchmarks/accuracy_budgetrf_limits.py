"""BudgetRF under limits of the mean number of features, on MiniBooNE's 2000 rows, mean of 5 seeds.

    python benchmarks/accuracy_budgetrf_limits.py [--jobs N] [--seeds 5]

Unit costs. Each row of the table is a set of settings; validation data choose among them and the
models' stages, those within the limit on validation data alone. Printed: test error @ mean
number of features on test data, for limits of 5, 8, 12 and 20 features. The last row is LightGBM's.
"""

import argparse
from itertools import product

import numpy as np
from _budgetrf_data import miniboone

from budgetlearn.forest import BudgetRFClassifier
from budgetlearn.peers import LightGBMCostClassifier

LIMITS = (5, 8, 12, 20)
PAPER = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)
ENTROPY = {"impurity": "entropy", "split": "expected", "voting": "counts"}
SETTINGS = {
    "the paper's alphas": [{"alpha": alpha} for alpha in PAPER],
    "the same, ties=reuse, counts": [
        {"alpha": alpha, "ties": "reuse", "voting": "counts"} for alpha in PAPER
    ],
    "entropy": [
        {**ENTROPY, "max_depth": depth, "max_features": visited}
        for depth, visited in product((3, 4, 5, 6, 8), (None, 25))
    ],
    "entropy, discounts": [
        {**ENTROPY, "max_depth": depth, "max_features": visited, "reuse_discount": discount}
        for depth, visited, discount in product((3, 5, 8), (None, 25), (0.5, 0.2, 0.05))
    ],
    "LightGBM's feature costs": [
        {
            "penalty": penalty,
            "tradeoffs": (*np.geomspace(10, 0.003, 16), 0.0),
            "n_trees": (20, 50, 100),
            "num_leaves": 15,
            "learning_rate": 0.1,
        }
        for penalty in ("coupled", "lazy")
    ],
}


def curves(settings, seed, n_jobs):
    """Return validation error and cost, test error and cost of each setting's stages."""
    (X, y), (X_val, y_val), (X_test, y_test) = miniboone()
    points = []
    for setting in settings:
        kind = LightGBMCostClassifier if "penalty" in setting else BudgetRFClassifier
        model = kind(**setting, random_state=seed, n_jobs=n_jobs).fit(X, y)
        parts = []
        for table, labels in ((X_val, y_val), (X_test, y_test)):
            errors = [np.mean(made != labels) for made in model.staged_predict(table)]
            costs = [bought.sum(axis=1).mean() for bought in model.staged_acquired_features(table)]
            parts += [errors, costs]
        points.append(np.array(parts).T)
    return np.concatenate(points)


def chosen(points):
    """Return test error and cost at each limit."""
    rows = []
    for limit in LIMITS:
        within = points[points[:, 1] <= limit]
        best = within[np.lexsort((within[:, 1], within[:, 0]))[0]]
        rows.append(best[2:])
    return rows


def main():
    """Print a line for each set of settings."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name, settings in SETTINGS.items():
        runs = [chosen(curves(settings, seed, options.jobs)) for seed in range(options.seeds)]
        line = "  ".join(f"{error:.3f} @ {cost:4.1f}" for error, cost in np.mean(runs, axis=0))
        print(f"{name:32} {len(settings):3} settings  {line}", flush=True)


if __name__ == "__main__":
    main()
