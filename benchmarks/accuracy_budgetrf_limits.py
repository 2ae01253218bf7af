"""BudgetRF under limits of the mean number of features, on MiniBooNE's 2000 rows, mean of 5 seeds.

    python benchmarks/accuracy_budgetrf_limits.py [--jobs N] [--seeds 5] [row ...]

All features cost 1. Each row of the table is a set of settings. Among those that are within the
limit on validation data, validation data choose a setting and a stage, by error or by log-loss.
Prints test error @ mean number of features on test data, for limits of 5, 8, 12 and 20 features.

The row "shipped" is `budgetrf_plus` of config/methods.yaml; validation data choose its stage, too.
Its last two lines are those of `predict(X, budget=limit)`, which chooses out of bag: first without
the validation rows, then learning from them as well.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import yaml
from _budgetrf_data import miniboone
from sklearn.metrics import log_loss

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.peers import LightGBMCostClassifier

METHODS = Path(__file__).parents[1] / "config" / "methods.yaml"
LIMITS = (5, 8, 12, 20)
PAPER = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)
ENTROPY = {"growth__impurity": "entropy", "growth__split": "expected", "leaves__voting": "counts"}
SETTINGS = {
    "the paper's alphas": [{"alpha": alpha} for alpha in PAPER],
    "entropy": [
        {**ENTROPY, "growth__max_depth": depth, "growth__max_features": visited}
        for depth, visited in product((3, 4, 5, 6, 8), (None, 25))
    ],
    "entropy, discounts": [
        {
            **ENTROPY,
            "growth__max_depth": depth,
            "growth__max_features": visited,
            "growth__reuse_discount": discount,
        }
        for depth, visited, discount in product((3, 5, 8), (None, 25), (0.5, 0.2, 0.05))
    ],
    "entropy, pruned, refitted": [
        {
            **ENTROPY,
            "growth__max_depth": 8,
            "growth__max_features": 25,
            "growth__reuse_discount": discount,
            "leaves__prune": weight,
            "leaves__joint_fit": True,
        }
        for discount, weight in product((1.0, 0.5, 0.2), (1, 2, 4, 8, 16))
    ],
    "shipped": [yaml.safe_load(METHODS.read_text())["budgetrf_plus"]["parameters"]],
    "LightGBM's feature costs": [
        {
            "penalty": penalty,
            "cost_weights": (*np.geomspace(10, 0.003, 16), 0.0),
            "n_trees": (20, 50, 100),
            "num_leaves": 15,
            "learning_rate": 0.1,
        }
        for penalty in ("coupled", "lazy")
    ],
}


CRITERIA = ("error", "log-loss")


def curves(settings, seed, n_jobs):
    """Return error, log-loss and cost of each setting's stages on validation and on test data."""
    (X, y), (X_val, y_val), (X_test, y_test) = miniboone()
    points = []
    for setting in settings:
        kind = LightGBMCostClassifier if "penalty" in setting else BudgetRFClassifier
        model = kind(random_state=seed, n_jobs=n_jobs).set_params(**setting)
        model.fit(X, y, *((X_val, y_val) if setting.get("leaves__joint_fit") else ()))
        parts = []
        for table, labels in ((X_val, y_val), (X_test, y_test)):
            errors = [np.mean(made != labels) for made in model.staged_predict(table)]
            losses = [log_loss(labels, made) for made in model.staged_predict_proba(table)]
            costs = [bought.sum(axis=1).mean() for bought in model.staged_acquired_features(table)]
            parts += [errors, losses, costs]
        points.append(np.array(parts).T)
    return np.concatenate(points)


def chosen(points, criterion):
    """Return test error and cost at each limit; `criterion` is the column to choose by."""
    rows = []
    for limit in LIMITS:
        within = points[points[:, 2] <= limit]
        best = within[np.lexsort((within[:, 2], within[:, criterion]))[0]]
        rows.append(best[[3, 5]])
    return rows


def out_of_bag(setting, seed, n_jobs, validation):
    """Return test error and cost at each limit, at the stages that the estimator itself chooses."""
    train, valid, (X_test, y_test) = miniboone()
    model = BudgetRFClassifier(random_state=seed, n_jobs=n_jobs).set_params(**setting)
    model.fit(*train, *(valid if validation else ()))
    return [
        (
            np.mean(model.predict(X_test, budget=limit) != y_test),
            model.acquisition_cost(X_test, budget=limit).mean(),
        )
        for limit in LIMITS
    ]


def line_of(runs):
    """Return mean error @ mean cost at each limit, from the results of each seed."""
    return "  ".join(f"{error:.3f} @ {cost:4.1f}" for error, cost in np.mean(runs, axis=0))


def main():
    """Print a line for each set of settings."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("rows", nargs="*", help="names of rows (default: all)")
    options = parser.parse_args()
    for name in options.rows or SETTINGS:
        settings = SETTINGS[name]
        runs = [curves(settings, seed, options.jobs) for seed in range(options.seeds)]
        for criterion, chosen_by in enumerate(CRITERIA):
            line = line_of([chosen(points, criterion) for points in runs])
            print(f"{name}, {len(settings)} settings, by {chosen_by:10} {line}", flush=True)
    if "shipped" in (options.rows or SETTINGS):
        for validation in (False, True):
            runs = [
                out_of_bag(*SETTINGS["shipped"], seed, options.jobs, validation)
                for seed in range(options.seeds)
            ]
            rows = "training and validation rows" if validation else "training rows"
            print(f"shipped, out of bag, {rows}: {line_of(runs)}", flush=True)


if __name__ == "__main__":
    main()
