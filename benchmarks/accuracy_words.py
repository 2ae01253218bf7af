"""Columns of words: in the order that the target teaches, in sorted order, and as indicators.

Bank marketing (nine columns of words among sixteen, price 1 each), 3,000 rows to learn from and
10,000 aside, in a number of random splits: AUROC and mean cost of our learners and of LightGBM,
which takes words itself.

    python benchmarks/accuracy_words.py --splits 5
"""

import argparse
import os
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from budgetlearn import (
    BudgetPreprocessor,
    BudgetRFClassifier,
    CostSensitiveRFClassifier,
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
        "indicators": BudgetPreprocessor(one_hot=words).fit_transform(table),
    }


def measured(model, table, y, train, test):
    """Return AUROC and mean cost of a model on the rows aside."""
    model.fit(table.iloc[train], y[train])
    scores = model.predict_proba(table.iloc[test])[:, 1]
    cost = np.nan
    if hasattr(model, "acquisition_cost"):
        cost = model.acquisition_cost(table.iloc[test]).mean()
    return roc_auc_score(y[test], scores), cost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    table = pd.read_csv(Path(os.environ["BUDGETLEARN_DATA"]) / "bank" / "bank-full.csv", sep=";")
    y = (table.pop("y") == "yes").to_numpy()
    prices = dict.fromkeys(table, 1.0)
    found = {}
    for split in range(splits):
        rows = np.random.default_rng(split).permutation(len(y))
        train, test = rows[:N_TRAIN], rows[N_TRAIN : N_TRAIN + N_TEST]
        for name, model in MODELS.items():
            for form, coded in forms(table).items():
                if name != "LightGBM":
                    model.set_params(feature_costs=prices)
                result = measured(model, coded, y, train, test)
                found.setdefault((name, form), []).append(result)
    for (name, form), results in found.items():
        auc, cost = np.mean(results, axis=0)
        error = np.std(results, axis=0, ddof=1)[0] / np.sqrt(splits)
        print(f"{name:22} {form:10}  AUROC {auc:.4f} ± {error:.4f}  cost {cost:5.2f}")


if __name__ == "__main__":
    main()
