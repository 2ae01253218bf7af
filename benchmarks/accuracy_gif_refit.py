"""Globally induced forests whose weights are refitted in passes, with the paper's settings.

    python benchmarks/accuracy_gif_refit.py vowel friedman1 twonorm
    python benchmarks/accuracy_gif_refit.py --runs 3 letter

There are 1000 trees with learning rate 10^-1.5, one candidate a step and sqrt(p) features a split.
The node budget is 10 % (1 %) of the nodes of 1000 fully grown extremely randomized trees, estimated
from 20 of them on the same training part. Real data come from `BUDGETLEARN_DATA`. Prints the mean
error (squared, or percent wrong) and its standard deviation for `joint_fit=0` and `joint_fit=10`.
"""

import argparse
import warnings

import numpy as np
from _gif_data import SIZES, full_budget, parts

from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.gif import GIFClassifier, GIFRegressor

N_PASSES = 10


def errors(dataset, run):
    """Return the errors of one run, by loss and budget in percent: without and with passes."""
    task, (X, X_test, y, y_test) = parts(dataset, run)
    full, numbers = full_budget(task, X, y, run), task == "regression"

    def error(loss, percent, n_passes):
        how = {"loss": loss, "joint_fit": n_passes, "random_state": run}
        model = (GIFRegressor if numbers else GIFClassifier)(full * percent // 100, **how)
        wrong = model.fit(X, y).predict(X_test) - y_test
        return np.square(wrong).mean() if numbers else 100 * (wrong != 0).mean()

    losses = ("squared",) if numbers else ("squared", "trimmed_exponential")
    kinds = [(loss, percent) for loss in losses for percent in (1, 10)]
    return {kind: [error(*kind, 0), error(*kind, N_PASSES)] for kind in kinds}


def main():
    """Print one line for each data set, loss and budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["friedman1"], choices=SIZES, metavar="id")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    # The paper's budgets of 1 % are small for its 1000 trees.
    warnings.simplefilter("ignore", BudgetlearnWarning)
    print(
        f"{'data set':14}{'loss':21}{'budget':>7}{'joint_fit=0':>18}{f'joint_fit={N_PASSES}':>18}"
    )
    for dataset in options.datasets:
        runs = [errors(dataset, run) for run in range(options.runs)]
        for loss, percent in runs[0]:
            found = np.array([run[loss, percent] for run in runs])
            pairs = zip(found.mean(axis=0), found.std(axis=0, ddof=1), strict=True)
            cells = "".join(f"{f'{mean:.2f} ({sd:.2f})':>18}" for mean, sd in pairs)
            print(f"{dataset:14}{loss:21}{percent:>5} %{cells}", flush=True)


if __name__ == "__main__":
    main()
