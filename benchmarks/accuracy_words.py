"""Columns of words in three forms: in the order of the target, in sorted order, and as indicators.

    python benchmarks/accuracy_words.py --splits 3
    python benchmarks/accuracy_words.py --splits 20 --noise

Measures AUROC and mean cost of our learners, and of LightGBM, which handles words itself. The table
is bank marketing (nine of its sixteen columns are words, the price is 1 each), with 3,000 rows to
learn from and 10,000 to test in random splits.

With --noise, words, labels and a number are drawn at random, with 300 rows to learn from and 300 to
test. Prints the score that the best operating point promises out of fold, and the score of the
model on the test rows. The promise with sorted codes is shown for comparison, because the best of
several points is too optimistic there as well.
"""

import argparse
import os
from itertools import product
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from budgetlearn import (
    BudgetPreprocessor,
    BudgetRFClassifier,
    CostSensitiveRFClassifier,
    FeatureCosts,
    ScheduleCascadeClassifier,
)

N_TRAIN, N_TEST = 3_000, 10_000
MODELS = {
    "BudgetRF": BudgetRFClassifier(random_state=0),
    "cost-sensitive forest": CostSensitiveRFClassifier(random_state=0),
    "cascade": ScheduleCascadeClassifier(scoring="roc_auc", random_state=0),
    "LightGBM": lightgbm.LGBMClassifier(verbose=-1, random_state=0, n_jobs=1),
}


def forms(table):
    """Return the table in three forms."""
    words = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    return {
        "target": table.astype(dict.fromkeys(words, "category")),
        "sorted": BudgetPreprocessor().fit_transform(table),
        "indicators": pd.get_dummies(table, columns=words, prefix_sep="=", dtype=float),
    }


def prices(names):
    """Return a price of 1 for each column; all indicators of a column share one price."""
    columns = [name.partition("=")[0] for name in names]
    words = sorted({c for c, name in zip(columns, names, strict=True) if c != name})
    groups = [words.index(c) if c in words else -1 for c in columns]
    own = [float(group < 0) for group in groups]
    return FeatureCosts(own, groups, np.ones(len(words))) if words else FeatureCosts(own)


def measured(model, table, y, train, test):
    """Return AUROC and mean cost of a model on the test rows."""
    model.fit(table.iloc[train], y[train])
    scores = model.predict_proba(table.iloc[test])[:, 1]
    cost = np.nan
    if hasattr(model, "acquisition_cost"):
        cost = model.acquisition_cost(table.iloc[test]).mean()
    return roc_auc_score(y[test], scores), cost


def noise(splits):
    """Print promised and actual scores if nothing can be learned."""
    models = BudgetRFClassifier(random_state=0), ScheduleCascadeClassifier(random_state=0)
    for model, n_words in product(models, (5, 10, 30)):
        found = []
        for split in range(splits):
            random = np.random.default_rng(split)
            words, y = random.integers(0, n_words, 600), random.integers(0, 2, 600)
            table = pd.DataFrame({"word": words.astype(float), "number": random.normal(size=600)})
            target = table.astype({"word": "category"})
            promised = [
                model.fit(each[:300], y[:300]).operating_points_["score"].max()
                for each in (table, target)
            ]
            found.append([*promised, model.score(target[300:], y[300:])])
        plain, target, kept = np.mean(found, axis=0)
        print(
            f"{type(model).__name__}, {n_words} words: promised {target:.3f} "
            f"(sorted codes {plain:.3f}), kept {kept:.3f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--noise", action="store_true")
    options = parser.parse_args()
    if options.noise:
        noise(options.splits)
    else:
        bank(options.splits)


def bank(splits):
    """Print AUROC and mean cost of each learner and form of the table."""
    table = pd.read_csv(Path(os.environ["BUDGETLEARN_DATA"]) / "bank" / "bank-full.csv", sep=";")
    y = (table.pop("y") == "yes").to_numpy()
    found = {}
    for split in range(splits):
        rows = np.random.default_rng(split).permutation(len(y))
        train, test = rows[:N_TRAIN], rows[N_TRAIN : N_TRAIN + N_TEST]
        for name, model in MODELS.items():
            for form, coded in forms(table).items():
                if name != "LightGBM":
                    model.set_params(feature_costs=prices(coded.columns))
                result = measured(model, coded, y, train, test)
                found.setdefault((name, form), []).append(result)
    for (name, form), results in found.items():
        auc, cost = np.mean(results, axis=0)
        error = np.std(results, axis=0, ddof=1)[0] / np.sqrt(splits)
        print(f"{name:22} {form:10}  AUROC {auc:.4f} ± {error:.4f}  cost {cost:5.2f}")


if __name__ == "__main__":
    main()
