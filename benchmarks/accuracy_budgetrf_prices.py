"""BudgetRF's risks compared with LightGBM's feature costs, at random prices from 1 to 100.

    python benchmarks/accuracy_budgetrf_prices.py [wine ...] --runs 2 --first 50 --to rows.csv

Data are split 60/20/20. Every method is fitted on the training data at each of its settings, its
operating points are chosen on validation data, and the models are fitted again on both parts.
LightGBM has 102 settings. Prints the area under the cost-accuracy staircase on test data, mean over
runs. Results are appended to the file, and rows that it has are not measured again.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from _areas import area, lightgbm, points_of, runs_of

from budgetlearn.budgetrf import BudgetRFClassifier, Growth
from budgetlearn.curves import pareto_indices

DATASETS = ("wine", "breast_cancer", "digits", "spambase", "satellite", "vehicle")
ENTROPY = {
    "growth__impurity": "entropy",
    "growth__split": "expected",
    "leaves__voting": "counts",
    "growth__max_features": 0.5,
}
ALPHAS = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)
DEPTHS = (2, 4, 8)
EXPONENTS = (1.0, 0.5, 0.25, 0.0)
SETTINGS = {
    "the paper's alphas": [{"alpha": alpha, "cost_exponent": 1} for alpha in ALPHAS],
    "the paper's alphas at the default exponent": [{"alpha": alpha} for alpha in ALPHAS],
    "exponents": [{"cost_exponent": exponent} for exponent in (None, 0.03, 0.06, 0.125, 0.25, 1)],
    "entropy": [{**ENTROPY, "growth__max_depth": depth, "cost_exponent": 1} for depth in DEPTHS],
    "entropy, exponents": [
        {**ENTROPY, "growth__max_depth": depth, "cost_exponent": exponent}
        for depth, exponent in product(DEPTHS, EXPONENTS)
    ],
    "entropy, exponents, discounts": [
        {
            **ENTROPY,
            "growth__max_depth": depth,
            "cost_exponent": exponent,
            "growth__reuse_discount": discount,
        }
        for depth, exponent, discount in product(DEPTHS, EXPONENTS, (0.5, 0.1))
    ],
    "pruned, refitted": [
        {
            **ENTROPY,
            "growth__max_depth": 8,
            "cost_exponent": exponent,
            "growth__reuse_discount": 0.5,
            "leaves__prune": weight,
            "leaves__joint_fit": 10.0,
        }
        for exponent, weight in product(EXPONENTS, (1, 4, 16))
    ],
}


def budgetrf(settings):
    """Return the method that chooses among settings and prefixes."""

    def points(run, both):
        def found(X, y, rows):
            forests = (
                BudgetRFClassifier(
                    feature_costs=run.costs,
                    growth=Growth(max_bins=255),
                    random_state=run.seed("budgetrf"),
                )
                .set_params(**setting)
                .fit(X, y)
                for setting in settings
            )
            return np.concatenate([points_of(forest, *rows) for forest in forests])

        valid = found(*run.train, run.valid)
        kept = pareto_indices(*valid.T)
        return valid[kept], found(*both, run.test)[kept]

    return points


METHODS = {name: budgetrf(settings) for name, settings in SETTINGS.items()} | {"LightGBM": lightgbm}


def main():
    """Append the rows that are missing in the file, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first", type=int, default=50)
    parser.add_argument("--to", default="rows.csv")
    options = parser.parse_args()
    path = Path(options.to)
    known = (
        pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["dataset", "run", "method"])
    )
    done = set(known[["dataset", "run", "method"]].itertuples(index=False, name=None))
    for number in range(options.first, options.first + options.runs):
        for name in options.datasets:
            for run in runs_of(name, [number], None):
                both = tuple(
                    np.concatenate(part) for part in zip(run.train, run.valid, strict=True)
                )
                constant = (run.test[1] == np.bincount(both[1]).argmax()).mean()
                for method in [each for each in METHODS if (name, number, each) not in done]:
                    _, test = METHODS[method](run, both)
                    row = {"dataset": name, "run": number, "method": method}
                    row["area"] = round(area(test, run.costs.full, constant), 5)
                    pd.DataFrame([row]).to_csv(
                        path, mode="a", header=not path.exists(), index=False
                    )
    rows = pd.read_csv(path)
    means = rows.pivot_table(index="method", columns="dataset", values="area", sort=False)
    print(means.assign(mean=means.mean(axis=1)).round(4).to_string())


if __name__ == "__main__":
    main()
