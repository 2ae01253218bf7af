"""How near msB comes to the exhaustive search (Yan et al., section 4 and Table 2).

    python benchmarks/msb_optimality.py [--runs 10] [--n-jobs 2] [data sets ...]

Each run has its own split (60/20/20) and prices; msB and the exhaustive search fit the same models
on the same variables. Prints mean areas in both readings, and the ratio of the means to the
exhaustive search's.
"""

import argparse

import numpy as np

from budgetlearn.benchmark.runs import draw_costs, draw_splits, iterate
from budgetlearn.curves import CostAccuracyCurve
from budgetlearn.datasets import load_dataset
from budgetlearn.forest import RandomForestClassifier
from budgetlearn.msb import ExhaustiveSearch, ModelScheduleSearch

SEED = 20260101
PAPER = ("importance", "cost", "sampling", "l1")
SEARCHES = {
    "msB": lambda **shared: ModelScheduleSearch(sequences=PAPER, **shared),
    "msB + forward": lambda **shared: ModelScheduleSearch(sequences=(*PAPER, "forward"), **shared),
    "exhaustive": lambda **shared: ExhaustiveSearch(**shared),
}


def areas(search, run):
    """Return the area of the fitted schedule in the validation and in the test reading."""
    schedule, (X, y) = search.schedule_, run.test
    tested = [np.mean(predicted == y) for predicted in search.staged_predict(X)]
    majority = np.mean(y == np.bincount(run.train[1]).argmax())
    full = run.costs.full
    return (
        schedule.area(full, schedule.scores[0]),
        CostAccuracyCurve(schedule.costs, tested).area(full, majority),
    )


def measure(name, n_runs, n_jobs):
    """Return areas of shape (n_runs, searches, 2) and the numbers of models visited."""
    data = load_dataset(name)
    splits = draw_splits(data, range(n_runs), SEED, [0.6, 0.2, 0.2])
    costs = draw_costs(data, "random", range(n_runs), SEED)
    found, visited = [], []
    for run in iterate(data, splits, costs, "random", SEED):
        shared = {
            "estimator": RandomForestClassifier(n_estimators=100),
            "feature_costs": run.costs,
            "random_state": run.seed("msb"),
            "n_jobs": n_jobs,
        }
        fitted = [make(**shared).fit(*run.train, *run.valid) for make in SEARCHES.values()]
        found.append([areas(search, run) for search in fitted])
        visited.append([count(search) for search in fitted])
    return np.array(found), np.mean(visited, axis=0)


def count(search):
    """Return how many different models a search holds."""
    if hasattr(search, "subsets_"):
        return search.subsets_.size
    return len({model.variables for models in search.sequences_.values() for model in models})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["concrete"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    print("data set, search, models visited; AUP, its sd and ratio: validation, then test reading")
    for name in options.datasets:
        found, visited = measure(name, options.runs, options.n_jobs)
        means, spread = found.mean(axis=0), found.std(axis=0, ddof=1)
        for i, search in enumerate(SEARCHES):
            shares = means[i] / means[-1]
            cells = "".join(
                f"   {means[i, part]:.3f} ± {spread[i, part]:.3f} {shares[part]:.3f}"
                for part in (0, 1)
            )
            print(f"{name:22s} {search:14s} {visited[i]:7.1f}{cells}", flush=True)


if __name__ == "__main__":
    main()
