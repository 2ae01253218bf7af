"""Globally induced forests against scikit-learn's extremely randomized trees: fit and predict.

    python benchmarks/speed_gif.py
    python benchmarks/speed_gif.py --boosting
    python benchmarks/speed_gif.py --mnist

Ours and the peer run in turn in one process with one thread; times are CPU seconds, the least of
several repeats. `--boosting` fits 36,603 rows of covertype and compares with LightGBM with as many
nodes; it also prints the time for coding and for splitting the roots of all our trees. `--mnist`
fits MNIST once at 10 % of the nodes and prints time and peak memory (the digits come from
`BUDGETLEARN_DATA`).
"""

import argparse
import resource
import time
import warnings

import numpy as np
from _budgetrf_data import covertype
from lightgbm import LGBMClassifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from threadpoolctl import threadpool_limits

from budgetbench.datasets.preparing import load_dataset
from budgetbench.datasets.synthetic import friedman1, hastie
from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.gif import GIFClassifier, GIFRegressor


def seconds(*functions, repeats):
    """Return the least CPU seconds of each function, called in turn."""
    times = np.empty((repeats, len(functions)))
    for row in times:
        for place, function in enumerate(functions):
            start = time.process_time()
            function()
            row[place] = time.process_time() - start
    return times.min(axis=0)


def report(what, ours, peer, target):
    """Print one line: our time, the peer's, the ratio and the target."""
    print(f"{what:66}{ours:9.3f} s{peer:9.3f} s{ours / peer:9.3f}{target:>10}", flush=True)


def n_nodes(forest):
    """Return the number of nodes of a fitted forest of scikit-learn."""
    return sum(tree.tree_.node_count for tree in forest.estimators_)


def measure_fit():
    """Fit at 10 % of the nodes, against 1000 fully grown trees."""
    X, y = friedman1(300, 0)
    model, peer = GIFRegressor(59_900, random_state=0), ExtraTreesRegressor(1000, random_state=0)
    times = seconds(lambda: model.fit(X, y), lambda: peer.fit(X, y), repeats=5)
    report("fit Friedman1 10 %, peer: ET regressor, 1000 trees", *times, "0.02")
    X, y = hastie(2000, 0)
    peer = ExtraTreesClassifier(1000, random_state=0).fit(X, y)
    for loss in ("squared", "trimmed_exponential"):
        model = GIFClassifier(n_nodes(peer) // 10, loss=loss, random_state=0)
        times = seconds(lambda: model.fit(X, y), lambda: peer.fit(X, y), repeats=3)  # noqa: B023
        report(f"fit Hastie 2000 10 %, {loss}, peer: ET classifier", *times, "0.08")


def measure_all_candidates():
    """Fit with every candidate examined at each step, against one candidate."""
    X, y = friedman1(300, 0)
    every = GIFRegressor(59_900, candidate_window=None, random_state=0)
    one = GIFRegressor(59_900, random_state=0)
    times = seconds(lambda: every.fit(X, y), lambda: one.fit(X, y), repeats=3)
    report("fit Friedman1 10 % with all candidates, peer: ours with one", *times, "ours < 1.2")


def measure_predict():
    """Predict 10,000 rows with models of 60,000 nodes."""
    X, y = friedman1(300, 0)
    X_test, _ = friedman1(10_000, 1)
    model = GIFRegressor(59_900, random_state=0).fit(X, y)
    full = ExtraTreesRegressor(100, random_state=0).fit(X, y)
    # A tree of 30 leaves has 59 nodes, so the peer has as many trees and nodes as ours.
    shallow = ExtraTreesRegressor(1000, max_leaf_nodes=30, random_state=0).fit(X, y)
    for peer, shape in ((full, "100 full trees"), (shallow, "1000 trees")):
        times = seconds(
            lambda: model.predict(X_test),
            lambda: peer.predict(X_test),  # noqa: B023
            repeats=5,
        )
        what = f"predict 10,000 rows, {model.n_nodes_} nodes, peer: ET, {n_nodes(peer)} in {shape}"
        report(what, *times, "0.8")


def measure_boosting():
    """Fit covertype: ours, LightGBM with as many nodes, and ours stopped after the roots."""
    (X, y), *_ = covertype(0)
    peer = LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)
    peer.fit(X, y)
    leaves = [tree["num_leaves"] for tree in peer.booster_.dump_model()["tree_info"]]
    budget = sum(2 * n - 1 for n in leaves)
    for n_trees in ("auto", 1000):
        model = GIFClassifier(budget, n_estimators=n_trees, random_state=0)
        # The roots of all trees are split before a candidate is taken.
        roots = GIFClassifier(2, n_estimators=n_trees, random_state=0)
        if n_trees == "auto":
            roots.set_params(n_estimators=budget // 5)
        fits = (lambda model=model: model.fit(X, y) for model in (model, peer, roots))
        ours, theirs, start = seconds(*fits, repeats=2)
        what = f"fit covertype, {model.n_nodes_} nodes, {n_trees} trees, peer: LightGBM, {budget}"
        report(what, ours, theirs, "1")
        print(f"{'  of this, coding and roots':66}{start:9.3f} s")


def peak_memory():
    """Return the peak memory of the process so far, in GB of 2**30 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure_mnist():
    """Fit 50,000 digits with 1000 trees at 10 % of the nodes of fully grown ones."""
    data = load_dataset("mnist")
    X, y = data.X[:50_000], data.y[:50_000]
    full = 500 * n_nodes(ExtraTreesClassifier(2, random_state=0).fit(X, y))
    model = GIFClassifier(full // 10, random_state=0)
    start = time.process_time()
    model.fit(X, y)
    spent, fitted = time.process_time() - start, peak_memory()
    error = 100 * (model.predict(data.X[50_000:]) != data.y[50_000:]).mean()
    print(f"MNIST 50,000 x 784, {model.n_nodes_} nodes: fit {spent:.0f} s, error {error:.2f} %")
    print(f"peak memory of the process: {fitted:.2f} GB once fitted (target: below 1.2)", end=", ")
    print(f"{peak_memory():.2f} GB after predicting 10,000 digits or more")


def main():
    """Run the measurements of the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", action="store_true")
    parser.add_argument("--boosting", action="store_true")
    options = parser.parse_args()
    # Roots alone hold less than two nodes a tree.
    warnings.simplefilter("ignore", BudgetlearnWarning)
    with threadpool_limits(1):
        if options.mnist or options.boosting:
            measure_mnist() if options.mnist else measure_boosting()
            return
        print(f"{'':66}{'ours':>11}{'peer':>11}{'ratio':>9}{'target':>10}")
        measure_fit()
        measure_all_candidates()
        measure_predict()


if __name__ == "__main__":
    main()
