"""The cascade with and without stages that may judge the others, on generated tables.

    python benchmarks/accuracy_judge.py
    python benchmarks/accuracy_judge.py few_of_200 friedman1

Prices are log-uniform from 1 to 100. The two fits of a table run one after the other. Prints
whether a stage was the judge. With and without the rule, it then prints the area under the
staircase on new rows, the score of the last operating point there, its promised score, and
processor seconds. If no stage was the judge, both results are the same and only one cascade is
fitted.
"""

import sys
import time

import numpy as np
from _areas import area
from sklearn.datasets import make_classification, make_friedman1

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor, pool

RULE, N_ROWS = pool.best_informed, 6_000


def exclusive_or(seed):
    """Return a table whose class depends on three of 150 features, but on none by itself."""
    X = np.random.default_rng(seed).normal(size=(N_ROWS, 150))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 0.5)).astype(int)


def sum_of_five(seed):
    """Return a table whose class depends on the noisy sum of five of 100 features."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, 100))
    return X, (X[:, :5].sum(axis=1) + random.normal(size=N_ROWS) > 0).astype(int)


def coins(seed):
    """Return 200 features and coin tosses."""
    random = np.random.default_rng(seed)
    return random.normal(size=(N_ROWS, 200)), random.integers(0, 2, N_ROWS)


def made(n_features, **settings):
    """Return a function that draws a table of `make_classification` from a seed."""
    return lambda seed: make_classification(N_ROWS, n_features, random_state=seed, **settings)


def friedman(n_features):
    """Return a function that draws a table of `make_friedman1` from a seed."""
    return lambda seed: make_friedman1(3_000, n_features, noise=1, random_state=seed)


_FEW = {"n_informative": 8, "n_redundant": 4, "n_clusters_per_class": 4, "n_classes": 3}
_FEWER = {"n_informative": 6, "n_redundant": 10, "n_clusters_per_class": 8, "flip_y": 0.01}
# By name: the function that draws the table, the seeds, and the number of rows to learn from.
TABLES = {
    "few_of_500": (made(500, **_FEWER), 3, 900),
    "few_of_200": (made(200, flip_y=0.02, **_FEW), 2, 900),
    "ten_of_40": (made(40, n_informative=10), 1, 900),
    "sum_of_five": (sum_of_five, 2, 900),
    "exclusive_or": (exclusive_or, 2, 900),
    "coins": (coins, 1, 900),
    "friedman1": (friedman(10), 2, 300),
    "friedman1_50": (friedman(50), 2, 600),
}


def measured(classifies, costs, train, test):
    """Return the area of one fit, the score and the promise of its last point, and the seconds."""
    kind = ScheduleCascadeClassifier if classifies else ScheduleCascadeRegressor
    start = time.process_time()
    model = kind(feature_costs=costs, random_state=0).fit(*train)
    seconds = time.process_time() - start
    X, y = test
    points = [
        (
            model.feature_costs_.total(bought).mean(),
            (out == y).mean() if classifies else 1 - ((out - y) ** 2).mean() / y.var(),
        )
        for out, bought in zip(
            model.staged_predict(X), model.staged_acquired_features(X), strict=True
        )
    ]
    promise = model.operating_points_["score"].iloc[-1]
    # The first point is the constant, which costs nothing.
    return area(np.array(points), costs.sum(), points[0][1]), points[-1][1], promise, seconds


def row(name, seed):
    """Return whether a stage was the judge, and the results with and without the rule."""
    draw, _, n_train = TABLES[name]
    X, y = draw(seed)
    costs = np.exp(np.random.default_rng(1).uniform(0, np.log(100), X.shape[1]))
    parts = y.dtype.kind == "i", costs, (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])
    judges = []

    def watched(table, last, stages, share):
        best = RULE(table, last, stages, share)
        judges.append(best is not last)
        return best

    pool.best_informed = watched
    ours = measured(*parts)
    if not judges[0]:
        return False, ours, ours
    pool.best_informed = lambda table, last, stages, share: last
    return True, ours, measured(*parts)


def main():
    """Print a row for each table and seed."""
    print("table, seed, a stage judged; with and without: area, last score, promise, seconds")
    for name in sys.argv[1:] or TABLES:
        for seed in range(TABLES[name][1]):
            judged, *both = row(name, seed)
            print(name, seed, judged, *(np.round(each, 3) for each in both), flush=True)


if __name__ == "__main__":
    main()
