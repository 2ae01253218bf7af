"""The cascade's promised scores and its scores on new rows, with few rows or weak signals.

    python benchmarks/accuracy_few_rows.py
    python benchmarks/accuracy_few_rows.py coins_300x100 coins_300x400 --draws 20 --rules now

Each table is drawn six times, with random prices from 1 to 100. Three earlier rules are fitted in
addition to today's:

- "gains" confirms by the mean gain of all rows, even if a few rows gain much more than others;
- "pilot" confirms the share that the pilot's own models gain with the choice inside the folds,
  instead of subtracting what that choice costs them;
- "labels" takes the accuracy of the best-informed stage from the labels alone, without averaging it
  with the claimed accuracy for rare labels.

(Formerly, points that scored no more than the constant out of fold were left out, too. This is not
repeated here.) The script prints the number of fits whose only point is the constant. Then it
prints, as gains over the constant, the mean score on new rows at 5, 10, 20, 50 and 100 % of the
full cost, the score of the last point, its promised score, and the root mean square of their
difference.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1

from budgetbench.datasets import load_dataset
from budgetlearn.cascade import (
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
    estimator,
    orders,
    pool,
)

MOST_TESTED = 15_000
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
CONFIRMED, EXPECTED, PILOTS = estimator.confirmed_share, pool.expected_accuracy, orders._pilots


def numbers(n_features, noise=1.0):
    """Return the function that draws a table of numbers with R² of a tenth or less."""

    def draw(random, n):
        X = random.normal(size=(n, n_features))
        return X, 0.3 * X[:, 0] + 0.15 * X[:, 1] + noise * random.normal(size=n)

    return draw


def classes(n_features, rare=0.0):
    """Return the function that draws a table of two classes, one of which may be rare."""

    def draw(random, n):
        X = random.normal(size=(n, n_features))
        return X, ((0.8 + 0.2 * rare) * X[:, :2].sum(axis=1) - rare > random.logistic(size=n)) * 1

    return draw


def coins(n_features):
    """Return the function that draws features and coin tosses."""
    return lambda random, n: (random.normal(size=(n, n_features)), random.randint(0, 2, n))


def noise(n_features):
    """Return the function that draws features and numbers that they do not predict."""
    return lambda random, n: (random.normal(size=(n, n_features)), random.normal(size=n))


def wild(random, n):
    """Draw features, and numbers of a wide distribution that they do not predict."""
    return random.normal(size=(n, 15)), random.standard_t(1.5, size=n)


def friedman(random, n):
    """Draw `make_friedman1` with 30 features and much noise."""
    return make_friedman1(n, 30, noise=4, random_state=random)


def stored(name):
    """Return the function that draws the rows of a data set in a new order."""

    def draw(random, n):
        data = load_dataset(name, offline=True)
        X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
        rows = random.permutation(len(y))
        return X[rows], y[rows]

    return draw


# By name: the function that draws the table, and the number of rows to learn from.
TABLES = {
    "numbers_300": (numbers(15), 300),
    "numbers_600": (numbers(15), 600),
    "friedman1_100": (friedman, 100),
    "classes_150": (classes(15), 150),
    "classes_300": (classes(15), 300),
    "rare_300": (classes(10, 2.5), 300),
    "rare_1200": (classes(10, 2.5), 1200),
    "bank_300": (stored("bank"), 300),
    "bank_1200": (stored("bank"), 1200),
    "physionet_1200": (stored("physionet"), 1200),
    "coins_100x30": (coins(30), 100),
    "coins_150x15": (coins(15), 150),
    "coins_200x300": (coins(300), 200),
    "coins_300x100": (coins(100), 300),
    "coins_300x400": (coins(400), 300),
    "noise_150x15": (noise(15), 150),
    "wild_150x15": (wild, 150),
}


def pilot_alone(table, costs, traces, last, seed, n_jobs=None):
    """Return the share by the pilot's own gain with the choice inside the folds."""
    found = []

    def watched(*parts):
        found.append(PILOTS(*parts))
        return found[0]

    orders._pilots = watched
    CONFIRMED(table, costs, traces, last, seed, n_jobs)
    orders._pilots = PILOTS
    constant = table.calibrated_losses(np.tile(table.constant, (len(table.y), 1)))
    outside, inside = (
        np.array([constant - table.calibrated_losses(each) for each in (*known, last)])
        for known in found[0]
    )
    mean, error = pool.mean_and_error(inside.mean(axis=0), table.weight)
    if mean <= pool.LEAST_ERRORS * error:
        return 0.0
    promised = np.mean([table.mean(each) for each in outside])
    return mean / max(promised, mean) * (1 - (pool.LEAST_ERRORS * error / mean) ** 2)


def labels_alone(probabilities, table):
    """Return the share of labels that are right."""
    return float(table.mean(probabilities.argmax(axis=1) == table.y))


RULES = {
    "now": (CONFIRMED, EXPECTED, orders.ORDINARY),
    "gains": (CONFIRMED, EXPECTED, 1.0),
    "pilot": (pilot_alone, EXPECTED, 1.0),
    "labels": (CONFIRMED, labels_alone, 1.0),
}


def measured(name, draw, rule):
    """Return whether only the constant remains, the mean gain, the last gain and its promise."""
    table, n = TABLES[name]
    random = np.random.RandomState(draw)
    X, y = table(random, n + 5_000)
    costs = random.randint(1, 101, X.shape[1]).astype(float)
    estimator.confirmed_share, pool.expected_accuracy, orders.ORDINARY = RULES[rule]
    kind = ScheduleCascadeClassifier if y.dtype.kind == "i" else ScheduleCascadeRegressor
    model = kind(feature_costs=costs, random_state=draw).fit(X[:n], y[:n])
    X, y = X[n:][:MOST_TESTED], y[n:][:MOST_TESTED]
    # No feature is free, so a budget of 0 buys the constant.
    free, *scores = (model.score(X, y, budget=share * costs.sum()) for share in (0.0, *SHARES))
    gains = np.array(scores) - free
    points = model.operating_points_["score"]
    return len(points) == 1, np.mean(gains), gains[-1], points.iloc[-1] - points.iloc[0]


def main():
    """Print a row for each table and rule."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES))
    options = parser.parse_args()
    print("table, rule: fits with the constant alone; mean gain, last gain, its promise, rms error")
    for name in options.tables:
        for rule in options.rules:
            found = np.array([measured(name, draw, rule) for draw in range(options.draws)])
            alone, (mean, last, promised) = found[:, 0].sum(), found[:, 1:].mean(axis=0)
            off = np.sqrt(np.mean((found[:, 2] - found[:, 3]) ** 2))
            shown = " ".join(f"{each:.4f}" for each in (mean, last, promised, off))
            print(name, f"{rule}: {alone:.0f} of {options.draws};", shown, flush=True)


if __name__ == "__main__":
    main()
