"""Error and cost of BudgetRF on MiniBooNE (2000 rows) and the covertype sample, mean of 3 seeds.

    python benchmarks/accuracy_budgetrf.py [--jobs N] [miniboone] [covertype]

With unit costs and α = 0, prints the test error @ mean number of acquired features for 1, 10, 20
and 40 trees.
"""

import argparse

import numpy as np
from _budgetrf_data import covertype, miniboone

from budgetlearn.budgetrf import BudgetRFClassifier, Growth
from budgetlearn.forests.random_forest import RandomForestClassifier

STAGES = (1, 10, 20, 40)
TABLES = {"miniboone": miniboone, "covertype": covertype}


def methods(n_features):
    """Return the compared methods as {name: estimator}."""
    half = n_features // 2
    return {
        "ties=first": BudgetRFClassifier(growth=Growth(ties="first")),
        "ties=random": BudgetRFClassifier(),
        "ties=random, 255 bins": BudgetRFClassifier(growth=Growth(max_bins=255)),
        "thresholds=random": BudgetRFClassifier(growth=Growth(thresholds="random")),
        "impurity=powers": BudgetRFClassifier(growth=Growth(impurity="powers")),
        "half the features": BudgetRFClassifier(growth=Growth(max_features=half)),
        "half the features, powers": BudgetRFClassifier(
            growth=Growth(max_features=half, impurity="powers")
        ),
        "entropy, expected": BudgetRFClassifier(
            growth=Growth(impurity="entropy", split="expected")
        ),
        "random forest": RandomForestClassifier(n_estimators=40),
    }


def curve(estimator, parts):
    """Return test error and mean number of acquired features at each stage."""
    (X, y), _, (X_test, y_test) = parts
    estimator.fit(X, y)
    stages = zip(
        estimator.staged_predict(X_test), estimator.staged_acquired_features(X_test), strict=True
    )
    return [
        (np.mean(predicted != y_test), acquired.sum(axis=1).mean())
        for n_trees, (predicted, acquired) in enumerate(stages, start=1)
        if n_trees in STAGES
    ]


def main():
    """Print a line for each table and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("names", nargs="*", metavar="table")
    options = parser.parse_args()
    for table in options.names or TABLES:
        n_features = TABLES[table](0)[0][0].shape[1]
        for name, estimator in methods(n_features).items():
            points = np.mean(
                [
                    curve(
                        estimator.set_params(random_state=seed, n_jobs=options.jobs),
                        TABLES[table](seed),
                    )
                    for seed in range(3)
                ],
                axis=0,
            )
            line = "  ".join(f"{error:.4f} @ {cost:5.2f}" for error, cost in points)
            share = points[-1, 1] / n_features
            print(f"{table:10} {name:26} {line}  ({share:.1%} of the features)", flush=True)


if __name__ == "__main__":
    main()
