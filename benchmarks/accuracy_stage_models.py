"""The default cascade of one version compared with that of another: area, errors, seconds.

    python benchmarks/accuracy_stage_models.py measure wine --label new --runs 3 --to rows.csv
    python benchmarks/accuracy_stage_models.py compare --to rows.csv

`measure` appends a row for each table and run: the area under the staircase on test data, the test
error (1 - R² in regression) at 5, 10, 20 and 100 % of the full cost, and the processor seconds of
`fit`. Run it in a checkout of each version with a different `--label`; splits and prices are the
same. Data are split 60/20/20, with at most `--most-rows` training rows and random prices from 1 to
100 (pima has its own).

`compare` prints the differences for each table, and their means.
"""

import argparse
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from _areas import SHARES, area, errors_at, runs_of
from sklearn import datasets as generators

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.costs import random_costs
from budgetlearn.validation import derive_seed

SEED = 20261123
# Tables with numbers as targets.
NUMBERS = {
    "r_diabetes": lambda seed: generators.load_diabetes(return_X_y=True),
    "r_friedman1": lambda seed: generators.make_friedman1(900, 12, noise=1.0, random_state=seed),
    "r_friedman2": lambda seed: generators.make_friedman2(900, noise=100, random_state=seed),
    "r_friedman3": lambda seed: generators.make_friedman3(900, noise=0.1, random_state=seed),
    "r_linear": lambda seed: generators.make_regression(
        600, 20, n_informative=10, noise=50, random_state=seed
    ),
}


def number_runs(name, number):
    """Return the run of a table of numbers, in the same form as the others."""
    seed = derive_seed(SEED, name, number) & 0x7FFFFFFF
    X, y = NUMBERS[name](seed)
    drawn = np.random.RandomState(seed).permutation(len(y))
    train, valid, test = np.split(drawn, [int(0.6 * len(y)), int(0.8 * len(y))])
    parts = {
        part: (X[rows], y[rows])
        for part, rows in {"train": train, "valid": valid, "test": test}.items()
    }
    costs = random_costs(X.shape[1], seed)
    return SimpleNamespace(costs=costs, seed=lambda what: seed, **parts)


def row_of(run, name):
    """Return area, errors and seconds of the default cascade."""
    X, y = (np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True))
    numbers = name in NUMBERS
    kind = ScheduleCascadeRegressor if numbers else ScheduleCascadeClassifier
    start = time.process_time()
    model = kind(feature_costs=run.costs, random_state=run.seed("cascade")).fit(X, y)
    seconds = time.process_time() - start
    X, y_new = run.test
    constant = 0.0 if numbers else float((y_new == np.bincount(y).argmax()).mean())
    test = []
    for stage in model.stages(X):
        if numbers:
            score = 1 - np.mean((stage.output - y_new) ** 2) / y_new.var()
        else:
            score = (stage.output == y_new).mean()
        test.append((stage.cost.mean(), score))
    chosen_by = model.operating_points_[["cost", "score"]].to_numpy()
    errors = errors_at(chosen_by, np.array(test), run.costs.full, constant)
    return {
        "area": area(np.array(test), run.costs.full, constant),
        **{f"error at {share:g}": error for share, error in zip(SHARES, errors, strict=True)},
        "fit_seconds": seconds,
        "n_train": len(y),
    }


def measure(options):
    """Append the rows that are missing in the file."""
    path, done = Path(options.to), set()
    if path.exists():
        done = set(pd.read_csv(path)[["dataset", "run", "label"]].itertuples(index=False))
    for number in range(options.first, options.first + options.runs):
        for name in options.datasets:
            if (name, number, options.label) in done:
                continue
            runs = (
                [number_runs(name, number)]
                if name in NUMBERS
                else runs_of(name, [number], options.most_rows)
            )
            for run in runs:
                row = {"dataset": name, "run": number, "label": options.label} | row_of(run, name)
                print(
                    {
                        key: round(what, 3) if isinstance(what, float) else what
                        for key, what in row.items()
                    },
                    flush=True,
                )
                row = pd.DataFrame([row]).round(5)
                row.to_csv(path, mode="a", header=not path.exists(), index=False)


def compare(options):
    """Print how far the second label is ahead of the first."""
    rows = pd.read_csv(options.to).drop(columns="n_train")
    before, after = options.labels
    wide = rows.pivot_table(index=["dataset", "run"], columns="label").dropna()
    means = wide.groupby("dataset").mean()
    shown = pd.DataFrame({("area", each): means["area", each] for each in (before, after)})
    shown["area", "gain"] = shown["area", after] - shown["area", before]
    for share in SHARES:
        for each in (before, after):
            shown[f"error {share:.0%}", each] = means[f"error at {share:g}", each]
    shown["fit", "ratio"] = means["fit_seconds", after] / means["fit_seconds", before]
    print(shown.round(3).to_string())
    gains = shown["area", "gain"]
    ahead = wide["area", after] - wide["area", before]
    print(
        f"\narea {gains.mean():+.4f} ± {gains.sem():.4f} over {len(gains)} tables, ahead on "
        f"{(gains > 0).sum()}, in {(ahead > 0).sum()} of {len(ahead)} runs; least {gains.min():.4f}"
    )
    for share in SHARES:
        ratios = means[f"error at {share:g}", after] / means[f"error at {share:g}", before]
        print(f"error at {share:.0%} of the cost: {ratios.mean() - 1:+.1%}")
    print(f"fit seconds: {np.exp(np.log(shown['fit', 'ratio']).mean()):.2f} × in geometric mean")


def main():
    """Measure or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("datasets", nargs="*")
    parser.add_argument("--label", default="new")
    parser.add_argument("--labels", nargs=2, default=("old", "new"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--to", default="rows.csv")
    options = parser.parse_args()
    {"measure": measure, "compare": compare}[options.what](options)


if __name__ == "__main__":
    main()
