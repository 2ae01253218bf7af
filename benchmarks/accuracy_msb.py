"""The area under msB's schedule (AUP) in eight readings, and the effect of msB's parameters on it.

    BUDGETLEARN_DATA=… python benchmarks/accuracy_msb.py [--runs N] [--datasets NAME …] [VARIANT …]

Splits, costs and seeds are those of the workflow's studies. A reading is a part (validation data,
which chose the models, or test data) and a way to measure the area:

- under the staircase, continued to the left of the cheapest model by its own score ("carried") or
  by the majority-class rate;
- as a mean over only those budgets that afford a model, under the staircase ("afforded") or under
  straight lines between the models ("lines").

Prints mean and standard deviation over the runs.
"""

import argparse

import numpy as np
from _measuring import DATA
from sklearn.ensemble import RandomForestClassifier as Peer

from budgetbench.datasets import load_dataset
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetlearn.curves import CostAccuracyCurve
from budgetlearn.forests import RandomForestClassifier, oob_permutation_importance
from budgetlearn.msb import (
    CostSequence,
    ImportanceSequence,
    ModelScheduleSearch,
    SamplingSequence,
)

SEED = 20260101
PRINTED = {"concrete": 0.6904, "vehicle": 0.7559, "naval": 0.9723}


def forest(**parameters):
    """Return msB's engine with some parameters changed."""
    return RandomForestClassifier(**{"max_bins": 255, **parameters})


def oob_sequences(run, seed):
    """Return the paper's four sequences, with importance on out-of-bag data."""
    model = forest(random_state=seed).fit(*run.train)
    importance = oob_permutation_importance(model, *run.train, random_state=seed)
    return [ImportanceSequence(importance), "cost", SamplingSequence(importance), "l1"]


class ImportanceByIndex(ImportanceSequence):
    """Among equally important variables, remove the one in the first column."""

    def chooser(self, problem):
        importance = problem.importance_or(self.importance)
        return lambda left: min(left, key=importance.__getitem__)


class CostByIndex(CostSequence):
    """Among equally expensive variables, remove the one in the first column."""

    def chooser(self, problem):
        return lambda left: max(left, key=problem.costs.costs.__getitem__)


def by_index(run, seed):
    """Return parameters with which column order breaks ties."""
    sequences = [ImportanceByIndex(), CostByIndex(), "sampling", "l1"]
    return {"estimator": forest(), "sequences": sequences}


VARIANTS = {
    "default": lambda run, seed: {"estimator": forest()},
    "exact": lambda run, seed: {"estimator": forest(max_bins=None)},
    "trees500": lambda run, seed: {"estimator": forest(n_estimators=500)},
    "all-features": lambda run, seed: {"estimator": forest(max_features=None)},
    "oob": lambda run, seed: {"estimator": forest(), "sequences": oob_sequences(run, seed)},
    "one-variable": lambda run, seed: {"estimator": forest(), "min_variables": 1},
    "ties-by-index": by_index,
    "refit": lambda run, seed: {"estimator": forest(), "refit": True},
    "peer": lambda run, seed: {"estimator": Peer()},
}


def areas(run, variant, method="msb"):
    """Return {reading: AUP} of one run."""
    seed = run.seed(method)
    search = ModelScheduleSearch(
        **VARIANTS[variant](run, seed), feature_costs=run.costs, random_state=seed
    ).fit(*run.train, *run.valid)
    schedule = search.schedule_
    X, y = run.test
    test = [np.mean(predicted == y) for predicted in search.staged_predict(X)]
    majority = np.unique(run.train[1], return_counts=True)[1].max() / len(run.train[1])
    found = {}
    for part, scores in (("validation", schedule.scores), ("test", np.array(test))):
        shares = np.append(schedule.costs / run.costs.full, 1.0)
        curve = CostAccuracyCurve(schedule.costs, scores)
        stairs = curve.area(run.costs.full, 0.0)
        lines = stairs + np.diff(scores) @ np.diff(shares[:-1]) / 2
        found[f"{part}, carried"] = stairs + scores[0] * shares[0]
        found[f"{part}, majority"] = stairs + majority * shares[0]
        found[f"{part}, afforded"] = stairs / (1 - shares[0])
        found[f"{part}, lines"] = lines / (1 - shares[0])
    return found


def measure(name, variant, n_runs):
    """Print the AUP of one data set and variant."""
    data = load_dataset(name, data_dir=DATA)
    splits = draw_splits(data, range(n_runs), SEED, [0.6, 0.2, 0.2])
    costs = draw_costs(data, "random", range(n_runs), SEED)
    rows = [areas(run, variant) for run in iterate(data, splits, costs, "random", SEED)]
    for reading in rows[0]:
        values = [row[reading] for row in rows]
        print(
            f"{name}, {variant}, {reading}: {np.mean(values):.4f} ± {np.std(values, ddof=1):.4f} "
            f"(printed {PRINTED.get(name, 'nowhere')}, {n_runs} runs)",
            flush=True,
        )


def main():
    """Measure the named variants, or all, on each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", default=["concrete", "vehicle"])
    parser.add_argument("variants", nargs="*", choices=[[], *VARIANTS], metavar="VARIANT")
    options = parser.parse_args()
    for name in options.datasets:
        for variant in options.variants or VARIANTS:
            measure(name, variant, options.runs)


if __name__ == "__main__":
    main()
