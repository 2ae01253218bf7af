"""The cascade beside LightGBM's feature costs and msB, on splits that no setting was chosen on.

    python benchmarks/accuracy_cascade.py wine pima --runs 3 --first 100

Splits 60/20/20, prices random in 1..100 (pima: its own). The peers' models are fitted on the
training data, chosen on validation data, and fitted again on both, as the cascade is. LightGBM has
102 settings (17 tradeoffs × 3 sizes, coupled and lazy; the kind with the larger area on validation
data counts), the cascade at most 100 candidates. Prints for each run the area under the
cost-accuracy staircase on the test data and the error at 5, 10, 20 and 100 % of the full cost.
"""

import argparse
import time

import numpy as np
import pandas as pd

from budgetlearn.benchmark.runs import draw_costs, draw_splits, iterate
from budgetlearn.curves import CostAccuracyCurve, pareto_indices
from budgetlearn.datasets import load_dataset
from budgetlearn.forest import RandomForestClassifier
from budgetlearn.msb import ModelScheduleSearch
from budgetlearn.peers import LightGBMCostClassifier
from budgetlearn.sequential import ScheduleCascadeClassifier

SEED = 20261121
TRADEOFFS = (*np.geomspace(10, 0.003, 16), 0.0)
N_TREES = (20, 50, 100)
SHARES = (0.05, 0.1, 0.2, 1.0)


def points_of(model, X, y):
    """Return mean cost and accuracy of every stage, (n_stages, 2)."""
    outcomes = zip(model.staged_predict(X), model.staged_acquired_features(X), strict=True)
    return np.array(
        [(model.feature_costs_.total(bought).mean(), (out == y).mean()) for out, bought in outcomes]
    )


def chosen_on_validation(kind, run, both):
    """Return (area on validation data, points to choose by, test points) of a LightGBM."""

    def fitted(X, y):
        return LightGBMCostClassifier(
            run.costs,
            penalty=kind,
            tradeoffs=TRADEOFFS,
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
    """Return the points of the better of coupled and lazy."""
    found = [chosen_on_validation(kind, run, both) for kind in ("coupled", "lazy")]
    return max(found, key=lambda each: each[0])[1:]


def msb(run, both):
    """Return the points of msB, its chosen models fitted again on both parts."""
    search = ModelScheduleSearch(feature_costs=run.costs, random_state=run.seed("msb"))
    schedule = search.fit(*run.train, *run.valid).schedule_
    X, y = both
    test = []
    for variables, cost in zip(schedule.variables, schedule.costs, strict=True):
        columns = list(variables)
        forest = RandomForestClassifier(max_bins=255, random_state=run.seed("msb"))
        right = forest.fit(X[:, columns], y).predict(run.test[0][:, columns]) == run.test[1]
        test.append((cost, right.mean()))
    return np.column_stack([schedule.costs, schedule.scores]), np.array(test)


def cascade(run, both):
    """Return the points of the cascade, chosen out of fold."""
    model = ScheduleCascadeClassifier(run.costs, random_state=run.seed("cascade"))
    points = model.fit(*both).operating_points_
    return points[["cost", "score"]].to_numpy(), points_of(model, *run.test)


def area(points, full, constant):
    """Return the area under the staircase of points in any order."""
    points = points[np.argsort(points[:, 0], kind="stable")]
    return CostAccuracyCurve(*points.T).area(full, constant)


def errors_at(chosen_by, test, full, constant):
    """Return the test error of the last point affordable by what it was chosen by, each share."""
    errors = []
    for share in SHARES:
        affordable = np.flatnonzero(chosen_by[:, 0] <= share * full * (1 + 1e-12))
        errors.append(1 - (test[affordable[-1], 1] if affordable.size else constant))
    return errors


def rows_of(run):
    """Yield a row for each method."""
    both = tuple(np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True))
    constant = (run.test[1] == np.bincount(both[1]).argmax()).mean()
    for method in (cascade, lightgbm, msb):
        start = time.process_time()
        chosen_by, test = method(run, both)
        yield {
            "dataset": run.dataset,
            "run": run.number,
            "method": method.__name__,
            "area": area(test, run.costs.full, constant),
            **{
                f"error at {share:g}": error
                for share, error in zip(
                    SHARES, errors_at(chosen_by, test, run.costs.full, constant), strict=True
                )
            },
            "cpu_seconds": time.process_time() - start,
        }


def main():
    """Print the rows as they come, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--most-rows", type=int, default=None, help="keep this many rows")
    options = parser.parse_args()
    found, numbers = [], range(options.first, options.first + options.runs)
    for name in options.datasets:
        data = load_dataset(name, offline=True)
        kind, given = (
            ("given", pd.read_csv("resources/costs/pima.csv"))
            if name == "pima"
            else ("random", None)
        )
        splits = draw_splits(data, numbers, SEED, (0.6, 0.2, 0.2))
        if options.most_rows and len(splits) > options.most_rows:
            left_out = np.random.default_rng(0).permutation(len(splits))[options.most_rows :]
            splits.iloc[left_out] = -1
        costs = draw_costs(data, kind, numbers, SEED, given)
        for run in iterate(data, splits, costs, kind, SEED):
            for row in rows_of(run):
                found.append(row)
                print(
                    "  ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values()),
                    flush=True,
                )
    table = pd.DataFrame(found).drop(columns="run").groupby(["dataset", "method"]).mean()
    print(table.round(4).to_string())


if __name__ == "__main__":
    main()
