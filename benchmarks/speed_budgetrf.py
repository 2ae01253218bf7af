"""Speed of BudgetRF against scikit-learn's random forest on all features, one process.

    python benchmarks/speed_budgetrf.py [--peer-trees N] [--repeats N] [fit] [regression]
        [thresholds] [threads] [predict]

Times are CPU seconds of one thread, the least of the repeats; for `threads` they are wall-clock.
The peer's time per tree is constant: it grows `--peer-trees` trees and is scaled to as many as
ours.
"""

import argparse
import time

from _budgetrf_data import continuous, covertype
from _measuring import least, report
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth

N_TREES = 40


def tables():
    """Return {name: (X, y)} of the training tables."""
    return {"continuous 45,523 x 50": continuous(), "covertype 36,603 x 54": covertype(0)[0]}


def measure_fit(options):
    """Grow 40 trees on all features and thresholds, coding included."""
    for name, (X, y) in tables().items():
        peer = RandomForestClassifier(options.peer_trees, max_features=None, random_state=0)
        peer_time, _ = least(lambda peer=peer, X=X, y=y: peer.fit(X, y))
        peer_time *= N_TREES / options.peer_trees
        for max_bins in (255, None):
            ours = BudgetRFClassifier(
                n_estimators=N_TREES, growth=Growth(max_bins=max_bins), random_state=0
            )
            time_, _ = least(lambda ours=ours, X=X, y=y: ours.fit(X, y), options.repeats)
            kind = "exact" if max_bins is None else f"{max_bins} bins"
            report(f"fit, {name}, {kind}", time_, peer_time)


def measure_regression(options):
    """Grow 40 trees of numbers on all features and thresholds, coding included."""
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
    """Grow 10 trees on random and on all thresholds."""
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


# Rows to learn from, rows to predict, columns, classes.
SHAPES = (
    *((45_523, 65_031, 50, 2), (3000, 100, 20, 2), (2000, 5000, 10, 3)),
    *((2000, 5000, 500, 2), (20_000, 50_000, 8, 10)),
)


def measure_predict(options):
    """Predict and charge tables of many shapes; the peer, of as many trees, only predicts."""
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


def main():
    """Run the measures that were named, or all."""
    measures = {
        "fit": measure_fit,
        "regression": measure_regression,
        "thresholds": measure_thresholds,
        "threads": measure_threads,
        "predict": measure_predict,
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
