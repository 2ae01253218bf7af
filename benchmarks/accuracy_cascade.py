"""The cascade compared with LightGBM's feature costs, msB and plain models, on fresh splits.

    python benchmarks/accuracy_cascade.py wine pima --runs 3 --first 100 --to rows.csv
    python benchmarks/accuracy_cascade.py --to rows.csv

Data are split 60/20/20, with random prices from 1 to 100 (pima has its own, miniboone_tiny_measured
1 for each feature). The peers' models are fitted on the training data, chosen on validation data,
and fitted again on both; the cascade learns from both. LightGBM has 102 settings: 17 tradeoffs × 3
sizes with coupled and with lazy costs, of which the kind with the larger area on validation data
counts. The cascade has at most 100 candidates for an order. Plain models have all features.

Each run and method appends a row to the file: the area under the cost-accuracy staircase on the
test data, the error at 5, 10, 20 and 100 % of the full cost, and processor seconds. Rows that the
file has are not measured again. In the end the file is summed up.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from budgetbench.datasets import load_dataset
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.cascade.models import Table, as_kind
from budgetlearn.curves import CostAccuracyCurve, pareto_indices
from budgetlearn.forests import RandomForestClassifier
from budgetlearn.msb import ModelScheduleSearch
from budgetlearn.peers import LightGBMCostClassifier

SEED = 20261121
TRADEOFFS = (*np.geomspace(10, 0.003, 16), 0.0)
N_TREES = (20, 50, 100)
SHARES = (0.05, 0.1, 0.2, 1.0)
COSTS = {"pima": "given", "miniboone_tiny_measured": "unit"}
SPLITS = {"miniboone_tiny_measured": {"per_class": [500, 300, 300]}}


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
    """Return the points of coupled or lazy costs, whichever is better."""
    found = [chosen_on_validation(kind, run, both) for kind in ("coupled", "lazy")]
    return max(found, key=lambda each: each[0])[1:]


def msb(run, both):
    """Return the points of msB, with its chosen models fitted again on both parts."""
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


def cascade(dynamic):
    """Return the method that fits the cascade and chooses its points out of fold."""

    def points(run, both):
        model = ScheduleCascadeClassifier(
            feature_costs=run.costs, dynamic=dynamic, random_state=run.seed("cascade")
        )
        points = model.fit(*both).operating_points_
        return points[["cost", "score"]].to_numpy(), points_of(model, *run.test)

    return points


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


def plain(model):
    """Return the method that fits one model on all features and always chooses it."""

    def points(run, both):
        X, y = both
        n_classes = int(y.max()) + 1
        fitted = as_kind(model, n_classes).fit(Table(X, y, n_classes), run.seed("plain") % 2**31)
        right = fitted.predict(run.test[0]).argmax(axis=1) == run.test[1]
        return np.array([[run.costs.full, np.nan]]), np.array([[run.costs.full, right.mean()]])

    return points


METHODS = {
    "cascade": cascade("auto"),
    "cascade_fixed": cascade(False),
    "lightgbm": lightgbm,
    "forest": plain(RandomForestClassifier(max_bins=255)),
    "boosting": plain("boosting"),
    "msb": msb,
}


def row_of(name, run):
    """Return the row of a method."""
    both = tuple(np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True))
    constant = (run.test[1] == np.bincount(both[1]).argmax()).mean()
    start = time.process_time()
    chosen_by, test = METHODS[name](run, both)
    errors = errors_at(chosen_by, test, run.costs.full, constant)
    return {
        "dataset": run.dataset,
        "run": run.number,
        "method": name,
        "area": area(test, run.costs.full, constant),
        **{f"error at {share:g}": error for share, error in zip(SHARES, errors, strict=True)},
        "cpu_seconds": time.process_time() - start,
    }


def runs_of(name, numbers, most_rows):
    """Yield the runs on a data set, with at most `most_rows` training rows and 5,000 test rows."""
    data = load_dataset(name, offline=True)
    kind = COSTS.get(name, "random")
    given = pd.read_csv("resources/costs/pima.csv") if kind == "given" else None
    costs = draw_costs(data, kind, numbers, SEED, given)
    sizes = SPLITS.get(name, (0.6, 0.2, 0.2))
    if most_rows and 0.6 * data.n_samples > most_rows and name not in SPLITS:
        sizes = (most_rows, most_rows // 3, min(5000, int(0.2 * data.n_samples)))
    splits = draw_splits(data, numbers, SEED, sizes)
    yield from iterate(data, splits, costs, kind, SEED)


def measure(options):
    """Append the rows that are missing in the file."""
    path = Path(options.to)
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["dataset", "run", "method"]].itertuples(index=False))
    for number in range(options.first, options.first + options.runs):
        for name in options.datasets:
            wanted = [each for each in options.methods if (name, number, each) not in done]
            for run in runs_of(name, [number], options.most_rows) if wanted else ():
                for method in wanted:
                    row = pd.DataFrame([row_of(method, run)]).round(5)
                    row.to_csv(path, mode="a", header=not path.exists(), index=False)


def summary(rows):
    """Print the means, and how often and by how much the cascade is ahead."""
    means = rows.drop(columns="run").groupby(["dataset", "method"]).mean()
    print(means.round(4).to_string())
    wide = rows.pivot_table(index=["dataset", "run"], columns="method")
    for peer in ("lightgbm", "msb"):
        if ("area", peer) not in wide:
            continue
        ahead = (wide["area", "cascade"] - wide["area", peer]).dropna()
        sets = ahead.groupby("dataset").mean()
        print(
            f"\nlarger area than {peer}: in {(ahead > 0).sum()} of {len(ahead)} runs, in mean on "
            f"{(sets > 0).sum()} of {len(sets)} data sets (not on {list(sets[sets <= 0].index)})"
        )
        for share in SHARES:
            ours, theirs = (
                wide[f"error at {share:g}"].groupby("dataset").mean()[each].dropna()
                for each in ("cascade", peer)
            )
            print(f"  error at {share:.0%} of the cost: {(ours / theirs - 1).mean():+.1%}")
    full = wide["error at 1"].groupby("dataset").mean()
    if {"forest", "boosting"} <= set(full):
        gap = full["cascade"] - full[["forest", "boosting"]].min(axis=1)
        print("\nerror above the better plain model, all features:", gap.round(4).to_dict())


def main():
    """Measure the named data sets, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument(
        "--most-rows", type=int, help="largest number of training rows, without validation rows"
    )
    parser.add_argument("--to", required=True, help="csv file of results")
    options = parser.parse_args()
    measure(options)
    summary(pd.read_csv(options.to))


if __name__ == "__main__":
    main()
