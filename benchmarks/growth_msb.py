"""Growth of msB's time with the rows and with the variables, on data of USCI's shape.

    python benchmarks/growth_msb.py [--rows N …] [--variables P …]

By rows, with 37 variables, it measures parts of msB: coding the training rows (60 %), the full
model of 100 trees, permutation importance on the validation rows (20 %, 5 repeats), and six models
along the cost sequence, from all variables to two. By variables, with 20,000 rows, it measures the
whole of msB with its four sequences. Times are CPU seconds of one thread. Prints rows of a Markdown
table.
"""

import argparse

import numpy as np
from _measuring import least

from budgetlearn.costs import random_costs
from budgetlearn.forests import RandomForestClassifier, permutation_importance
from budgetlearn.msb import ModelScheduleSearch
from budgetlearn.tree.binning import bin_features

ROWS = (10_000, 30_000, 100_000, 285_000)
VARIABLES = (9, 18, 37, 74)


def usci_shaped(n_rows, n_features=37, seed=0):
    """Return a table like US census income, in which 6 % are rich.

    One feature in five is an amount, zero in nine of ten rows and otherwise log-normal. The others
    are codes with 2 to 50 values, of which the low ones are frequent. A third of the features are
    related to the class.
    """
    rng = np.random.default_rng(seed)
    wealth = rng.normal(size=n_rows)
    X = np.empty((n_rows, n_features))
    for feature in range(n_features):
        hidden = rng.normal(size=n_rows) + (wealth if feature % 3 == 0 else 0)
        if feature % 5 == 0:
            amount = np.exp(6 + hidden).round()
            X[:, feature] = np.where(hidden > np.quantile(hidden, 0.9), amount, 0)
        else:
            n_values = int(rng.integers(2, 51))
            X[:, feature] = np.clip(np.abs(hidden) * n_values / 3, 0, n_values - 1).astype(int)
    noisy = wealth + rng.normal(scale=0.7, size=n_rows)
    return X, (noisy > np.quantile(noisy, 0.938)).astype(int)


def parts(X, y):
    """Return 60 % of the rows for training and 20 % for validation."""
    train, valid = int(0.6 * len(y)), int(0.8 * len(y))
    return X[:train], y[:train], X[train:valid], y[train:valid]


class SixModels:
    """Six subsets of the cost sequence, evenly spaced from all variables to two."""

    name = "six"

    def subsets(self, problem):
        """Yield the subsets, starting with the full one."""
        order = np.argsort(problem.costs.costs)
        for size in np.linspace(len(order), 2, 6).round().astype(int).tolist():
            yield tuple(sorted(order[:size].tolist()))


def against_rows(n_rows):
    """Print the seconds of the parts of msB with a number of rows."""
    X, y, X_val, y_val = parts(*usci_shaped(n_rows))
    coding, codes = least(lambda: bin_features(X, 255))
    forest = RandomForestClassifier(max_bins=255, random_state=0)
    fit, forest = least(lambda: forest.fit(X, y, binned=codes))
    importance, _ = least(lambda: permutation_importance(forest, X_val, y_val, random_state=0))
    search = ModelScheduleSearch(
        sequences=[SixModels()], feature_costs=random_costs(X.shape[1], 0), random_state=0
    )
    six, _ = least(lambda: search.fit(X, y, X_val, y_val))
    print(f"| {n_rows:,} | {coding:.2f} | {fit:.2f} | {importance:.2f} | {six:.2f} |", flush=True)


def against_variables(n_features):
    """Print the seconds of a whole schedule with a number of variables."""
    data = parts(*usci_shaped(20_000, n_features))
    search = ModelScheduleSearch(feature_costs=random_costs(n_features, 0), random_state=0)
    seconds, search = least(lambda: search.fit(*data))
    visited = {model.variables for models in search.sequences_.values() for model in models}
    print(f"| {n_features} | {len(visited)} | {seconds:.1f} |", flush=True)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--variables", type=int, nargs="*", default=VARIABLES)
    options = parser.parse_args()
    print("| rows | coding | full model | importance | six models |\n|---|---|---|---|---|")
    for n_rows in options.rows:
        against_rows(n_rows)
    print("\n| variables | models | whole schedule |\n|---|---|---|")
    for n_features in options.variables:
        against_variables(n_features)


if __name__ == "__main__":
    main()
