"""Seconds of one run of each method on the data sets of the showcase, in one thread.

    python benchmarks/speed_methods.py lightgbm_coupled greedy_miser [--datasets wine digits]

Prints the seconds of the fit (with all settings of a grid), and the CPU seconds of the fit and its
whole evaluation.
"""

import argparse
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from budgetbench.datasets import load_dataset
from budgetbench.study.experiment import run_method
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetbench.study.study import Study
from budgetlearn.costs import read_prices
from budgetlearn.files import read_yaml

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config"


METHODS = read_yaml(CONFIG / "methods.yaml")
SETTINGS = read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "studies/showcase.yaml")
STUDY = Study.from_config(SETTINGS, ROOT)


def first_run(name):
    """Return the first run of the showcase on a data set."""
    data = load_dataset(name)
    kind = next(kind for dataset, kind in STUDY.cases if dataset == name)
    given = [read_prices(ROOT / path) for path in STUDY.price_list(name, kind)]
    split = draw_splits(data, [0], STUDY.seed, STUDY.sizes(name))
    costs = draw_costs(data, kind, [0], STUDY.seed, *given)
    return next(iter(iterate(data, split, costs, kind, STUDY.seed)))


def specification(method, dataset):
    """Return a method's entry in the showcase, or in the methods file."""
    return STUDY.spec(method, dataset) if method in STUDY.methods else METHODS[method]


def main():
    """Print a line for each data set and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    datasets = ["wine", "breast_cancer", "digits", "gaussian_mixture"]
    parser.add_argument("--datasets", nargs="+", default=datasets)
    parser.add_argument("methods", nargs="+", metavar="method")
    options = parser.parse_args()
    print(f"{'':38}{'fit':>9}{'in all':>9}{'points':>8}  best test score")
    for name in options.datasets:
        run = first_run(name)
        for method in options.methods:
            start = time.process_time()
            with threadpool_limits(1):
                rows = list(run_method(method, specification(method, name), run))
            spent = time.process_time() - start
            best = max(row.get("test_score", float("nan")) for row in rows)
            fit = rows[0]["fit_seconds"]
            line = f"{name:18}{method:20}{fit:8.2f}s{spent:8.2f}s{len(rows):8}"
            print(f"{line}  {best:.3f}  {rows[-1]['status']}", flush=True)


if __name__ == "__main__":
    main()
