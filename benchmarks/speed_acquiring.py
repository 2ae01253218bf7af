"""The time of acquiring features only when needed: `predict_acquiring` against `predict`.

    python benchmarks/speed_acquiring.py [--rows 10000] [--trees 40] [--repeats 7]

The source is a table in memory. Both run in turn in one process with one thread; times are the
least CPU seconds of the repeats. Both must predict the same, and `predict_acquiring` must acquire
the features that predicting from the table looks at.
"""

import argparse

import numpy as np
from _measuring import least
from sklearn.datasets import make_classification

from budgetlearn.budgetrf import BudgetRFClassifier, Growth
from budgetlearn.forests import CostSensitiveRFClassifier, RandomForestClassifier
from budgetlearn.peers import LightGBMCostClassifier


def models(n_trees):
    """Yield (name, number of features, unfitted model)."""
    one = {"random_state": 0, "n_jobs": 1}
    forest = {"n_estimators": n_trees, "max_bins": 255, **one}
    for n_features in (10, 50, 200):
        yield "random forest", n_features, RandomForestClassifier(**forest)
    yield (
        "BudgetRF",
        50,
        BudgetRFClassifier(alpha=8, n_estimators=n_trees, growth=Growth(max_bins=255), **one),
    )
    yield "cost-sensitive forest", 50, CostSensitiveRFClassifier(cost_weight=0.05, **forest)
    boosting = {"cost_weights": (1,), "n_trees": (n_trees,), **one}
    yield "LightGBM (lazy costs)", 50, LightGBMCostClassifier(penalty="lazy", **boosting)


def table(n_rows, n_features):
    """Return training data, and rows to predict."""
    X, y = make_classification(
        n_rows + 4000, n_features, n_informative=8, n_redundant=0, flip_y=0.05, random_state=0
    )
    return X[:4000], y[:4000], X[4000:]


class Source:
    """A table that counts requests."""

    def __init__(self, X):
        self.X, self.n_asked = X, 0

    def __call__(self, rows, feature):
        self.n_asked += 1
        return self.X[rows, feature]


def compare(model, X, repeats):
    """Return the least seconds of both ways, and the number of requests to the source."""
    best = np.full(2, np.inf)
    for _ in range(repeats):
        source = Source(X)
        plain, predicted = least(lambda: model.predict(X))
        acquiring, made = least(lambda source=source: model.predict_acquiring(source, len(X)))
        best = np.minimum(best, [plain, acquiring])
    np.testing.assert_array_equal(made.prediction, predicted)
    np.testing.assert_array_equal(made.acquired, model.acquired_features(X))
    return *best, source.n_asked


def main():
    """Fit each model, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{options.rows:,} rows, {options.trees} trees")
    print(f"{'model':24}{'features':>9}{'predict':>9}{'acquiring':>11}{'ratio':>7}{'asked':>7}")
    for name, n_features, model in models(options.trees):
        X_train, y_train, X = table(options.rows, n_features)
        plain, acquiring, n_asked = compare(model.fit(X_train, y_train), X, options.repeats)
        ratio = acquiring / plain
        print(f"{name:24}{n_features:9}{plain:9.4f}{acquiring:11.4f}{ratio:7.2f}{n_asked:7}")


if __name__ == "__main__":
    main()
