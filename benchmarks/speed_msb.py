"""Speed of msB with our engine against scikit-learn's, in one process with the same threads.

    BUDGETLEARN_DATA=… python benchmarks/speed_msb.py \
        [--quick] [fit] [importance] [schedule] [threads]

- `fit`: one forest of 100 trees on bank.
- `importance`: permutation importance with 5 repeats, by either library for its own forest.
- `schedule`: the whole of msB, with the areas under both schedules on validation data.
- `threads`: msB with our engine in one and in two threads, in wall-clock time.

The first three use one thread, and their times are CPU seconds of the process, the least of three
repeats (of the peer's, of two). `--quick` runs each once, on a quarter of the rows.
"""

import argparse
import time

import numpy as np
from _measuring import DATA, least, report
from sklearn.ensemble import RandomForestClassifier as Peer
from sklearn.inspection import permutation_importance as peer_importance

from budgetbench.datasets import load_dataset
from budgetlearn.costs import random_costs
from budgetlearn.forests import RandomForestClassifier, permutation_importance
from budgetlearn.msb import ModelScheduleSearch


def table(name, quick):
    """Return X and y of a data set, shuffled; with `quick`, a quarter of the rows."""
    data = load_dataset(name, data_dir=DATA)
    order = np.random.default_rng(0).permutation(len(data.y))
    order = order[: len(order) // 4] if quick else order
    return data.X[order], data.y[order]


def parts(name, quick):
    """Return 60 % of the rows for training and 20 % for validation."""
    X, y = table(name, quick)
    train, valid = int(0.6 * len(y)), int(0.8 * len(y))
    return X[:train], y[:train], X[train:valid], y[train:valid]


def measure_fit(options):
    """Fit one forest on bank."""
    X, y = table("bank", options.quick)
    peer = Peer(random_state=0)
    peer_time, _ = least(lambda: peer.fit(X, y), options.peer_repeats)
    for max_bins in (None, 255):
        ours = RandomForestClassifier(max_bins=max_bins, random_state=0)
        seconds, _ = least(lambda ours=ours: ours.fit(X, y), options.repeats)
        kind = "exact" if max_bins is None else f"{max_bins} bins"
        report(f"fit, bank {X.shape[0]} x {X.shape[1]}, {kind}", seconds, peer_time)


def measure_importance(options):
    """Compute permutation importance on validation data."""
    for name in ("naval", "spambase"):
        X, y, X_val, y_val = parts(name, options.quick)
        ours = RandomForestClassifier(max_bins=255, random_state=0).fit(X, y)
        peer = Peer(random_state=0).fit(X, y)
        seconds, _ = least(
            lambda f=ours, X=X_val, y=y_val: permutation_importance(f, X, y, random_state=0),
            options.repeats,
        )
        peer_time, _ = least(
            lambda f=peer, X=X_val, y=y_val: peer_importance(
                f, X, y, scoring="accuracy", random_state=0
            ),
            options.peer_repeats,
        )
        report(
            f"permutation importance, {name} {X_val.shape[0]} x {X.shape[1]}", seconds, peer_time
        )


ENGINE = RandomForestClassifier(max_bins=255)


def search(engine, data, n_jobs=None):
    """Fit msB with one engine and return it."""
    prices = random_costs(data[0].shape[1], 0)
    return ModelScheduleSearch(engine, feature_costs=prices, random_state=0, n_jobs=n_jobs).fit(
        *data
    )


def area(model):
    """Return the area under a schedule on validation data; its cheapest score continues left."""
    schedule = model.schedule_
    return schedule.area(model.feature_costs_.full, baseline=schedule.scores[0])


def measure_schedule(options):
    """Search a whole model schedule."""
    for name in ("naval", "spambase"):
        data = parts(name, options.quick)
        seconds, ours = least(lambda data=data: search(ENGINE, data), options.repeats)
        peer_time, peer = least(lambda data=data: search(Peer(), data), options.peer_repeats)
        report(
            f"schedule, {name} {data[0].shape[0]} x {data[0].shape[1]}, "
            f"area {area(ours):.4f} (peer {area(peer):.4f})",
            seconds,
            peer_time,
        )


def measure_threads(options):
    """Search the same schedule in one and in two threads."""
    for name in ("naval", "spambase"):
        data = parts(name, options.quick)
        one, two = (
            least(
                lambda n=n, data=data: search(ENGINE, data, n), options.repeats, time.perf_counter
            )[0]
            for n in (1, 2)
        )
        report(f"schedule in 2 threads (peer: in 1), {name}", two, one)


def main():
    """Run the named measures, or all."""
    measures = {
        "fit": measure_fit,
        "importance": measure_importance,
        "schedule": measure_schedule,
        "threads": measure_threads,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("names", nargs="*", metavar="measure")
    options = parser.parse_args()
    options.repeats, options.peer_repeats = (1, 1) if options.quick else (3, 2)
    for name in options.names or measures:
        measures[name](options)


if __name__ == "__main__":
    main()
