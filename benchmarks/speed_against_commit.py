"""Compare the speed of two states of the package: processor seconds and their ratio.

Check the older commit out into another folder and build it there. Then run

    python benchmarks/speed_against_commit.py OLD/src src

Each round runs every task once with each package, in a separate process and with one thread. The
least time of all rounds counts, so other work on the machine has little effect. A ratio below 1
means that the second state is faster.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np


def tables():
    """Return training data: a table of few rows for msB, one of many for the forests."""
    from sklearn.datasets import load_breast_cancer

    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=6000)
    X = rng.normal(size=(6000, 40))
    X[:, :10] += labels[:, None] * rng.random(10)
    X[:, 10:20] = X[:, 10:20].round(1)
    return load_breast_cancer(return_X_y=True), (X, labels)


def tasks():
    """Return {name: callable}; preparations are not timed."""
    from budgetlearn.budgetrf import BudgetRFClassifier, Growth
    from budgetlearn.forests import RandomForestClassifier
    from budgetlearn.gif import GIFClassifier
    from budgetlearn.msb import ModelScheduleSearch

    small, large = tables()
    prices = np.random.default_rng(1).integers(1, 101, 40).astype(float)
    one = {"random_state": 0, "n_jobs": 1}
    paper = {**one, "cost_exponent": 1.0}
    engine = RandomForestClassifier(n_estimators=20, max_bins=255)
    models = {
        "msB schedule": (ModelScheduleSearch(engine, feature_costs=prices[:30], **one), small),
        "BudgetRF": (BudgetRFClassifier(feature_costs=prices, n_estimators=20, **paper), large),
        "BudgetRF, 255 bins": (
            BudgetRFClassifier(
                feature_costs=prices, n_estimators=40, growth=Growth(max_bins=255), **paper
            ),
            large,
        ),
        "random forest": (RandomForestClassifier(n_estimators=100, **one), large),
        "random forest, entropy": (
            RandomForestClassifier(n_estimators=60, criterion="entropy", **one),
            large,
        ),
        "GIF": (GIFClassifier(50_000, n_estimators=300, random_state=0), large),
    }
    found = {}
    for name, (model, data) in models.items():
        found[f"{name}, fit"] = lambda model=model, data=data: model.fit(*data)
        many = np.tile(data[0], (120_000 // len(data[0]), 1))
        found[f"{name}, predict"] = lambda model=model, X=many: model.predict(X)
    return found


def measure():
    """Print the seconds of each task with the package that is on the path."""
    seconds = {}
    for name, task in tasks().items():
        start = time.process_time()
        task()
        seconds[name] = time.process_time() - start
    print(json.dumps(seconds))


def run(source):
    """Return the seconds of each task with the package in a folder."""
    output = subprocess.run(
        [sys.executable, __file__, "--measure"],
        env=os.environ
        | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(output)


def compare(old, new, rounds):
    """Print the least seconds of both states for each task, and their ratio."""
    best = {old: {}, new: {}}
    for _ in range(rounds):
        for source in (old, new):
            for name, seconds in run(source).items():
                best[source][name] = min(seconds, best[source].get(name, np.inf))
    print(f"{'task':32} {'old':>8} {'new':>8} {'ratio':>6}")
    for name, seconds in best[new].items():
        before = best[old][name]
        print(f"{name:32} {before:8.3f} {seconds:8.3f} {seconds / before:6.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="the old and the new src folder"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure()
    elif len(chosen.sources) == 2:
        compare(*chosen.sources, chosen.rounds)
    else:
        parser.error("give the old and the new src folder")
