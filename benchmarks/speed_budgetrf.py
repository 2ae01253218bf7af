"""Speed of BudgetRF against scikit-learn's random forest on all features, in one process.

    python benchmarks/speed_budgetrf.py [--peer-trees N] [--repeats N] [fit] [regression]
        [thresholds] [threads] [predict] [plus]

Times are CPU seconds of one thread, the least of the repeats; for `threads` they are wall-clock
times. The peer's time per tree is constant, so it grows `--peer-trees` trees and its time is scaled
to the number of our trees. `plus` compares `budgetrf_plus` of config/methods.yaml with two forests
with √p features at a node: one with as many trees on as many rows as `budgetrf_plus` grows in all,
and one with 40 trees.
"""

import argparse
import time
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
import yaml
from _budgetrf_data import continuous, covertype
from _measuring import least, report
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_classification,
    make_friedman1,
)
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth
from budgetlearn.budgetrf.growing import TreeSource

N_TREES = 40
METHODS = Path(__file__).parents[1] / "config" / "methods.yaml"


def tables():
    """Return {name: (X, y)} of the training tables."""
    return {"continuous 45,523 x 50": continuous(), "covertype 36,603 x 54": covertype(0)[0]}


def measure_fit(options):
    """Grow 40 trees on all features and thresholds, coding included."""
    for name, (X, y) in tables().items():
        peer = RandomForestClassifier(options.peer_trees, max_features=None, random_state=0)
        peer_time, _ = least(lambda peer=peer, X=X, y=y: peer.fit(X, y), options.repeats)
        peer_time *= N_TREES / options.peer_trees
        for max_bins in (255, None):
            ours = BudgetRFClassifier(
                n_estimators=N_TREES, growth=Growth(max_bins=max_bins), random_state=0
            )
            time_, _ = least(lambda ours=ours, X=X, y=y: ours.fit(X, y), options.repeats)
            kind = "exact" if max_bins is None else f"{max_bins} bins"
            report(f"fit, {name}, {kind}", time_, peer_time)


def measure_regression(options):
    """Grow 40 regression trees on all features and thresholds, coding included."""
    X, y = make_friedman1(30_000, 20, noise=1.0, random_state=0)
    tables = {"continuous": X, "one decimal": X.round(1)}
    for name, table in tables.items():
        peer = RandomForestRegressor(options.peer_trees, random_state=0)
        peer_time, _ = least(lambda: peer.fit(table, y), options.repeats)  # noqa: B023
        peer_time *= N_TREES / options.peer_trees
        for max_bins in (255, None):
            ours = BudgetRFRegressor(
                n_estimators=N_TREES, growth=Growth(max_bins=max_bins), random_state=0
            )
            time_, _ = least(lambda: ours.fit(table, y), options.repeats)  # noqa: B023
            kind = "exact" if max_bins is None else f"{max_bins} bins"
            report(f"regression, {name} 30,000 x 20, {kind}", time_, peer_time)


def measure_thresholds(options):
    """Grow 10 trees with random and with all thresholds."""
    for name, (X, y) in tables().items():
        for max_bins in (255, None):
            random, every = (
                least(
                    lambda kind=kind, max_bins=max_bins, X=X, y=y: BudgetRFClassifier(
                        n_estimators=10,
                        growth=Growth(thresholds=kind, max_bins=max_bins),
                        random_state=0,
                    ).fit(X, y),
                    options.repeats,
                )[0]
                for kind in ("random", "all")
            )
            kind = "exact" if max_bins is None else f"{max_bins} bins"
            report(f"fit on random thresholds (peer: all), {name}, {kind}", random, every)


def measure_threads(options):
    """Grow the same 40 trees in one and in two threads."""
    for name, (X, y) in tables().items():
        one, two = (
            least(
                lambda n=n, X=X, y=y: BudgetRFClassifier(
                    n_estimators=N_TREES, n_jobs=n, random_state=0
                ).fit(X, y),
                options.repeats,
                time.perf_counter,
            )[0]
            for n in (1, 2)
        )
        report(f"fit in 2 threads (peer: in 1), {name}", two, one)


# Number of rows to learn from, of rows to predict, of columns and of classes.
SHAPES = (
    *((45_523, 65_031, 50, 2), (3000, 100, 20, 2), (2000, 5000, 10, 3)),
    *((2000, 5000, 500, 2), (20_000, 50_000, 8, 10)),
)


def measure_predict(options):
    """Predict and charge tables of many shapes; the peer, with as many trees, only predicts."""
    for n_train, n_rows, n_features, n_classes in SHAPES:
        X, y = make_classification(
            n_train + n_rows,
            n_features,
            n_informative=6,
            n_classes=n_classes,
            n_clusters_per_class=1,
            random_state=0,
        )
        train, rows = (X[:n_train], y[:n_train]), X[n_train:]
        ours = BudgetRFClassifier(n_estimators=N_TREES, random_state=0, n_jobs=1).fit(*train)
        peer = RandomForestClassifier(N_TREES, random_state=0, n_jobs=2).fit(*train)
        peer.set_params(n_jobs=1)
        time_, _ = least(lambda: ours.predict_with_cost(rows), 2 * options.repeats)  # noqa: B023
        peer_time, _ = least(lambda: peer.predict(rows), 2 * options.repeats)  # noqa: B023
        what = f"predict and charge {n_rows} x {n_features}, {n_classes} classes"
        report(what, time_, peer_time)


def rows_of_trees(model, X, y):
    """Fit, and return how many trees grew on how many rows, including discarded forests."""
    grow, rows = TreeSource.tree, Counter()

    def counting(self, *args):
        rows[len(self.examples.y)] += 1
        return grow(self, *args)

    with patch.object(TreeSource, "tree", counting):
        model.fit(X, y)
    return rows


def measure_plus(options):
    """Fit `budgetrf_plus` with random prices from 1 to 100."""
    settings = yaml.safe_load(METHODS.read_text())["budgetrf_plus"]["parameters"]
    tables = {
        "breast cancer 569 x 30": load_breast_cancer(return_X_y=True),
        "digits 1,797 x 64": load_digits(return_X_y=True),
        "covertype 36,603 x 54": covertype(0)[0],
    }
    for name, (X, y) in tables.items():
        prices = np.random.default_rng(0).integers(1, 101, X.shape[1])
        ours = BudgetRFClassifier(feature_costs=prices, random_state=0, n_jobs=1)
        ours.set_params(**settings)
        peer = RandomForestClassifier(N_TREES, random_state=0, n_jobs=1)
        order = np.random.default_rng(1).permutation(len(y))
        time_, rows = least(lambda: rows_of_trees(ours, X, y), options.repeats)  # noqa: B023
        peer_times = {
            n: least(lambda: peer.fit(X[order[:n]], y[order[:n]]), options.repeats)[0]  # noqa: B023
            for n in {*rows, len(y)}
        }
        as_many = sum(peer_times[n] * n_trees / N_TREES for n, n_trees in rows.items())
        grown = ", ".join(f"{n_trees:,} trees on {n:,} rows" for n, n_trees in sorted(rows.items()))
        report(f"plus, {name} ({grown}; peer: as many)", time_, as_many)
        times = time_ / peer_times[len(y)]
        print(f"plus, {name}: {times:.0f} times the {peer_times[len(y)]:.3f} s of {N_TREES} trees")


def main():
    """Run the named measures, or all."""
    measures = {
        "fit": measure_fit,
        "regression": measure_regression,
        "thresholds": measure_thresholds,
        "threads": measure_threads,
        "predict": measure_predict,
        "plus": measure_plus,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-trees", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="measure")
    options = parser.parse_args()
    for name in options.names or measures:
        measures[name](options)


if __name__ == "__main__":
    main()
