"""Runs on data sets, LightGBM with feature costs, areas under the staircase, errors at budgets."""

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from budgetbench.datasets import load_dataset
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetlearn.curves import CostAccuracyCurve, pareto_indices
from budgetlearn.peers import LightGBMCostClassifier

SEED = 20261121
TRADEOFFS = (*np.geomspace(10, 0.003, 16), 0.0)
N_TREES = (20, 50, 100)
SHARES = (0.05, 0.1, 0.2, 1.0)


def points_of(model, X, y):
    """Return mean cost and accuracy, or R², of every stage, (n_stages, 2)."""
    score = accuracy_score if is_classifier(model) else r2_score
    outcomes = zip(model.staged_predict(X), model.staged_acquired_features(X), strict=True)
    return np.array(
        [(model.feature_costs_.total(bought).mean(), score(y, out)) for out, bought in outcomes]
    )


def chosen_on_validation(kind, run, both):
    """Return (area on validation data, points to choose by, test points) of a kind of LightGBM."""

    def fitted(X, y):
        return LightGBMCostClassifier(
            feature_costs=run.costs,
            penalty=kind,
            cost_weights=TRADEOFFS,
            n_trees=N_TREES,
            learning_rate=0.1,
            num_leaves=15,
            random_state=run.seed("lightgbm"),
        ).fit(X, y)

    valid = points_of(fitted(*run.train), *run.valid)
    kept = pareto_indices(*valid.T)
    test = points_of(fitted(*both), *run.test)[kept]
    return area(valid[kept], run.costs.full, 0.0), valid[kept], test


def lightgbm(run, both):
    """Return the points of coupled or lazy costs, whichever is better on validation data."""
    found = [chosen_on_validation(kind, run, both) for kind in ("coupled", "lazy")]
    return max(found, key=lambda each: each[0])[1:]


def area(points, full, constant):
    """Return the area under the staircase of points in any order."""
    points = points[np.argsort(points[:, 0], kind="stable")]
    return CostAccuracyCurve(*points.T).area(full, constant)


def errors_at(chosen_by, test, full, constant):
    """Return the test error at each share, of the last affordable point by `chosen_by`."""
    errors = []
    for share in SHARES:
        affordable = np.flatnonzero(chosen_by[:, 0] <= share * full * (1 + 1e-12))
        errors.append(1 - (test[affordable[-1], 1] if affordable.size else constant))
    return errors


def runs_of(name, numbers, most_rows):
    """Yield the runs on a data set, with at most `most_rows` training rows and 5,000 test rows."""
    data = load_dataset(name, offline=True)
    kind = "given" if name == "pima" else "random"
    given = pd.read_csv("resources/costs/pima.csv") if kind == "given" else None
    costs = draw_costs(data, kind, numbers, SEED, given)
    sizes = (0.6, 0.2, 0.2)
    if most_rows and 0.6 * data.n_samples > most_rows:
        sizes = (most_rows, most_rows // 3, min(5000, int(0.2 * data.n_samples)))
    splits = draw_splits(data, numbers, SEED, sizes)
    yield from iterate(data, splits, costs, kind, SEED)
