"""Gain of `recommend_for_bytes`: errors of forests, perceptrons and its choice in 1 to 16 kB.

    python benchmarks/accuracy_recommended_bytes.py [table ...]

At most 400 rows are used to learn, and at most 4,000 others to test. Prints the table, the kB, the
percentage of wrong classes (or of the variance) of the best forest, the best perceptron and the
choice, and the kind and seconds of the choice.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_diabetes, make_classification, make_friedman2, make_friedman3
from sklearn.model_selection import train_test_split

from budgetbench.datasets.preparing import load_dataset
from budgetlearn.auto.device import KINDS, recommend_for_bytes

MOST_TRAIN, MOST_TEST = 400, 4000


def gated():
    """Return classes that depend on one column or on the sum of two others, chosen by a fourth."""
    random = np.random.default_rng(5)
    X = random.normal(size=(1400, 12))
    y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2] + X[:, 3]) + 0.3 * random.normal(size=1400)
    return X, (y > 0).astype(int)


def clusters():
    """Return four classes with three clusters each."""
    shape = {"n_informative": 8, "n_redundant": 4, "n_classes": 4, "n_clusters_per_class": 3}
    return make_classification(1400, 20, random_state=9, **shape)


MADE = {"gated": gated, "clusters": clusters}
NUMBERS = {
    "friedman2": lambda: make_friedman2(1400, noise=50.0, random_state=7),
    "friedman3": lambda: make_friedman3(1400, noise=0.05, random_state=7),
    "diabetes numbers": lambda: load_diabetes(return_X_y=True),
}
NAMES = ["steel", "satellite", "spambase", "bank", *MADE, *NUMBERS]


def rows_of(name):
    """Yield the rows of a table."""
    classifies = name not in NUMBERS
    if name in MADE or not classifies:
        X, y = (MADE | NUMBERS)[name]()
    else:
        data = load_dataset(name)
        X, y = data.X, data.y
    size, strata = min(MOST_TRAIN, 2 * len(y) // 3), y if classifies else None
    X, X_test, y, y_test = train_test_split(X, y, train_size=size, stratify=strata, random_state=0)
    X_test, y_test = X_test[:MOST_TEST], y_test[:MOST_TEST]
    task = "classification" if classifies else "regression"

    def error(model):
        predicted = model.predict(X_test)
        if classifies:
            return round(100 * float((predicted != y_test).mean()), 2)
        return round(100 * float(np.square(predicted - y_test).mean() / y_test.var()), 2)

    for kB in (1, 4, 16):
        start = time.process_time()
        found = recommend_for_bytes(X, y, 1000 * kB, task, random_state=0)
        seconds = round(time.process_time() - start, 1)
        errors = []
        for kind, make in KINDS.items():
            own = found.tried[found.tried["model"] == kind]
            best = own.sort_values(["error", "bytes"], kind="stable").iloc[0]
            errors.append(error(make(best["limit"], task, 0, best["setting"], X, y)[0]))
        yield name, kB, *errors, error(found.model), found.name, seconds


if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        for row in rows_of(name):
            print(*row, sep=", ", flush=True)
