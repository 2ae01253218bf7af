"""BudgetRF+ compared with LightGBM's feature costs.

    python benchmarks/accuracy_budgetrf_boosting.py rows.csv wine vehicle
    python benchmarks/accuracy_budgetrf_boosting.py rows.csv --means means.csv

The tables are those of `accuracy_lead.py` and three of scikit-learn's generators. Each has two
splits with 800 rows to learn from, of which 30 % are for validation, and 1,000 to test. Prices are
log-uniform from 1 to 100. The methods:

- `lightgbm` has six settings, drawn at random. Validation rows choose among all their operating
  points.
- `lightgbm_refit` does the same and is then fitted again on all 800 rows. It is the rival that is
  shown, as BudgetRF+ learns from all of them, too.
- `budgetrf_plus` of config/methods.yaml finds its sets of features with six settings, chooses out
  of bag and learns from all 800 rows. Its settings were chosen on the tables in `DEVELOPED`.
- `budgetrf_plus_560` never sees the validation rows.

For each table, split and method that is missing in the file, the script adds a row: area under the
staircase on test rows, errors at 5, 10, 20 and 100 % of the cost, and processor seconds. Then it
prints means and how often BudgetRF+ is ahead. `--means` writes each table's means as shown in
docs/results/.
"""

import argparse
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from _areas import SHARES, area, errors_at, points_of
from accuracy_lead import APART, USED
from accuracy_lead import parts_of as stored_parts
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.costs import FeatureCosts
from budgetlearn.curves import pareto_indices
from budgetlearn.peers import LightGBMCostClassifier

TRIES, SPLITS = 6, 2
SHOWN = ("budgetrf_plus", "lightgbm_refit")
NOTED = 0.005  # smaller leads in area do not count


def log_uniform(random, low, high):
    """Return a number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def redundant(random):
    """Return rows of 40 columns, 30 of which are sums of five others."""
    X, y = make_classification(
        2700, 40, n_informative=5, n_redundant=30, flip_y=0.05, random_state=random
    )
    return X, y


def gated(random):
    """Return rows whose first column determines which of six blocks decides the class."""
    X = random.normal(size=(2700, 19))
    gate = random.randint(6, size=2700)
    blocks = X[:, 1:].reshape(2700, 6, 3)
    X[:, 0] = gate
    return X, (blocks[np.arange(2700), gate].sum(axis=1) > 0).astype(int)


def interaction(random):
    """Return rows whose class is the sign of a product and a sum, with further columns of noise."""
    X = random.normal(size=(2700, 15))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + 0.3 * random.normal(size=2700) > 0
    return X, y.astype(int)


GENERATED = {each.__name__: each for each in (redundant, gated, interaction)}
# The settings by which BudgetRF+ judges sets of features were chosen on these.
_DEVELOPED = """
    wine breast_cancer vehicle thyroid concrete steel spambase vowel ringnorm gaussian_mixture_06
    waveform friedman3_thirds
"""
DEVELOPED = _DEVELOPED.split()
TABLES = [*USED, *APART, *GENERATED]


def parts_of(name, split):
    """Return rows to learn from and rows to test, (X, y) each."""
    if name not in GENERATED:
        return stored_parts(name, split)
    X, y = GENERATED[name](np.random.RandomState(split))
    return (X[:1200], y[:1200]), (X[1200:], y[1200:])


def lightgbm(random, costs, seed):
    """Return LightGBM with coupled and lazy costs in turn, at settings drawn at random."""
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
    """Return cost and score, on validation and on test rows, of the points that validation keeps.

    With `refit`, the models for the test rows are fitted again on learning and validation rows.
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
    """Return the points of `budgetrf_plus` of config/methods.yaml, out of bag and on test rows."""
    learn, choose, test = data
    shipped = yaml.safe_load(Path("config/methods.yaml").read_text())["budgetrf_plus"]
    model = BudgetRFClassifier(feature_costs=costs, random_state=split)
    model.set_params(**shipped["parameters"]).fit(*learn, *(choose if choosing else ()))
    return model.operating_points_[["cost", "score"]].to_numpy(), points_of(model, *test)


METHODS = {
    "budgetrf_plus": out_of_bag_points,
    "budgetrf_plus_560": partial(out_of_bag_points, choosing=False),
    "lightgbm": partial(drawn_points, lightgbm),
    "lightgbm_refit": partial(drawn_points, lightgbm, refit=True),
}


def row_of(name, split, method):
    """Return the results of a method on a split of a table."""
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


def measure(path, names, methods):
    """Add the rows that are missing in the file."""
    key, done = ["table", "split", "method"], set()
    if path.exists():
        done = set(pd.read_csv(path)[key].itertuples(index=False, name=None))
    for each in product(names, range(SPLITS), methods):
        if each not in done:
            row = pd.DataFrame([row_of(*each)]).round(5)
            row.to_csv(path, mode="a", header=not path.exists(), index=False)
            print(row.to_string(header=False), flush=True)


def sum_up(rows):
    """Print means and how often BudgetRF+ is ahead, on `DEVELOPED` and on other tables."""
    areas = rows.pivot_table("area", "table", "method")
    ours, rival = SHOWN
    gap = areas[ours] - areas[rival]
    developed = gap.index.isin(DEVELOPED)
    for name, part in {
        "developed": developed,
        "others": ~developed,
        "all": ~developed | True,
    }.items():
        own, mean = gap[part], areas[part].mean().round(4).to_dict()
        ahead = f"ahead on {(own > 0).sum()}, by {NOTED} on {(own >= NOTED).sum()}"
        behind = f"behind by it on {(own <= -NOTED).sum()}"
        print(f"{name}: {len(own)} tables, {mean}, {ahead}, {behind}")
    means = rows.drop(columns=["table", "split"]).groupby("method").mean()
    print(means.round(4).to_string())


def means_of(rows):
    """Return a row for each table: the means of BudgetRF+ and of LightGBM over its splits."""
    wide, found = rows.pivot_table(index="table", columns="method"), []
    for name in sorted(wide.index, key=lambda each: (each not in DEVELOPED, each)):
        pairs = {"area": "area"}
        pairs |= {
            f"error at {share:.0%}".replace("%", " %"): f"error at {share:g}" for share in SHARES
        }
        row = {"table": name, "developed on": "yes" if name in DEVELOPED else "no"}
        for shown, column in pairs.items():
            pair = (wide.loc[name, (column, method)] for method in SHOWN)
            row[shown] = ", ".join(f"{each:.3f}".removeprefix("0") for each in pair)
        seconds = (wide.loc[name, ("cpu_seconds", method)] for method in SHOWN)
        found.append(row | {"fits, s": ", ".join(f"{each:.1f}" for each in seconds)})
    return pd.DataFrame(found)


def main():
    """Measure the missing rows, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--methods", nargs="+", default=SHOWN, choices=METHODS)
    parser.add_argument("--means", type=Path)
    given = parser.parse_args()
    measure(given.rows, given.tables or TABLES, given.methods)
    rows = pd.read_csv(given.rows)
    sum_up(rows)
    if given.means:
        means_of(rows).to_csv(given.means, index=False)


if __name__ == "__main__":
    main()
