"""BudgetRF+ beside LightGBM's feature costs and the former BudgetRF+, equal tries.

    python benchmarks/accuracy_budgetrf_boosting.py rows.csv wine vehicle
    python benchmarks/accuracy_budgetrf_boosting.py rows.csv

Tables are those of `accuracy_lead.py`, two splits each: 800 rows, of which 30 % choose, 1,000 to
test, prices log-uniform in 1..100. LightGBM and BudgetRF with refitted leaves have six drawn
settings each; the rows that choose do so among all their operating points. `lightgbm_refit` has
models fitted again on all 800 rows. The `budgetrf_plus` of config/methods.yaml finds its sets of
features with six settings, chooses out of bag, and learns from all 800 rows; `budgetrf_plus_560`
never sees those that choose. A row for each table, split and method is added: area under the
staircase on test rows, errors at 5, 10, 20 and 100 % of the cost, and processor seconds; then means
and their ratios to LightGBM's are printed, and the area of each table.
"""

import sys
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from accuracy_cascade import SHARES, area, errors_at, points_of
from accuracy_lead import APART, USED, parts_of
from sklearn.model_selection import train_test_split

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.costs import FeatureCosts
from budgetlearn.curves import pareto_indices
from budgetlearn.peers import LightGBMCostClassifier

TRIES, SPLITS = 6, 2


def log_uniform(random, low, high):
    """Return a number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def joint_leaves(random, costs, seed):
    """Return BudgetRF whose leaves are fitted together, at drawn settings."""
    drawn = {
        "leaves__prune": log_uniform(random, 0.05, 16),
        "growth__reuse_discount": float(random.choice([1, 0.5, 0.2])),
        "cost_exponent": float(random.choice([1, 0.5, 0.25, 0])),
        "leaves__joint_fit": float(random.choice([30, 10, 3])),
        "growth__max_depth": int(random.choice([4, 8])),
    }
    kind = {"growth__impurity": "entropy", "growth__split": "expected", "growth__max_features": 0.5}
    forest = BudgetRFClassifier(feature_costs=costs, random_state=seed)
    return forest.set_params(**kind, **drawn)


def lightgbm(random, costs, seed):
    """Return LightGBM with coupled and lazy costs in turn, at drawn settings."""
    return LightGBMCostClassifier(
        feature_costs=costs,
        penalty=("coupled", "lazy")[seed % 2],
        cost_weights=None,
        n_trees=(1, 3, 10, 20, 40, 100),
        learning_rate=log_uniform(random, 0.03, 0.5),
        num_leaves=int(random.choice([2, 4, 8, 16, 31])),
        min_child_samples=int(random.choice([1, 5, 20])),
        random_state=seed,
    )


def drawn_points(method, data, costs, split, refit=False):
    """Return the points of six drawn settings that validation rows keep: what they say, and test.

    `refit`: whether test rows see models that were fitted again on learning and validation rows.
    """
    learn, choose, test = data
    random, found = np.random.RandomState(5 + split), []
    for seed in range(TRIES):
        model = method(random, costs, seed).fit(*learn)
        valid = points_of(model, *choose)
        if refit:
            model.fit(*map(np.concatenate, zip(learn, choose, strict=True)))
        found.append((valid, points_of(model, *test)))
    valid, test = map(np.concatenate, zip(*found, strict=True))
    kept = pareto_indices(*valid.T)
    return valid[kept], test[kept]


def out_of_bag_points(data, costs, split, choosing=True):
    """Return the points of the `budgetrf_plus` of config/methods.yaml: out of bag, and test."""
    learn, choose, test = data
    shipped = yaml.safe_load(Path("config/methods.yaml").read_text())["budgetrf_plus"]
    model = BudgetRFClassifier(feature_costs=costs, random_state=split)
    model.set_params(**shipped["parameters"]).fit(*learn, *(choose if choosing else ()))
    return model.operating_points_[["cost", "score"]].to_numpy(), points_of(model, *test)


METHODS = {
    "budgetrf_plus": out_of_bag_points,
    "budgetrf_plus_560": partial(out_of_bag_points, choosing=False),
    "joint_leaves": partial(drawn_points, joint_leaves),
    "lightgbm": partial(drawn_points, lightgbm),
    "lightgbm_refit": partial(drawn_points, lightgbm, refit=True),
}


def row_of(name, split, method):
    """Return what a method comes to on a split of a table."""
    (X, y), (X_test, y_test) = parts_of(name, split)
    X, y, X_test, y_test = X[:800], y[:800], X_test[:1000], y_test[:1000]
    prices = np.random.RandomState(77 + split).uniform(0, np.log(100), X.shape[1])
    costs = FeatureCosts(np.exp(prices))
    rows = train_test_split(np.arange(len(y)), test_size=0.3, random_state=split, stratify=y)
    data = [(X[part], y[part]) for part in rows] + [(X_test, y_test)]
    start = time.process_time()
    chosen_by, test = METHODS[method](data, costs, split)
    seconds = time.process_time() - start
    constant = (y_test == np.bincount(y[rows[0]]).argmax()).mean()
    row = {"table": name, "split": split, "method": method}
    row |= {"area": area(test, costs.full, constant)}
    errors = errors_at(chosen_by, test, costs.full, constant)
    row |= {f"error at {share:g}": error for share, error in zip(SHARES, errors, strict=True)}
    return row | {"cpu_seconds": seconds}


def main():
    """Add the rows that the file lacks, and print means, ratios and areas."""
    path, names = Path(sys.argv[1]), sys.argv[2:] or [*USED, *APART]
    key, done = ["table", "split", "method"], set()
    if path.exists():
        done = set(pd.read_csv(path)[key].itertuples(index=False, name=None))
    for each in product(names, range(SPLITS), METHODS):
        if each not in done:
            row = pd.DataFrame([row_of(*each)]).round(4)
            row.to_csv(path, mode="a", header=not path.exists(), index=False)
            print(row.to_string(header=False), flush=True)
    rows = pd.read_csv(path)
    rows = rows[rows["table"].isin(names)]
    means = rows.drop(columns=["table", "split"]).groupby("method").mean()
    for shown in (means.round(4), (means / means.loc["lightgbm"]).round(3)):
        print(shown.to_string())
    print(rows.pivot_table("area", "table", "method").round(3).to_string())


if __name__ == "__main__":
    main()
