"""BudgetRF on the covertype sample if a prediction may look at 17 % of the features.

    python benchmarks/accuracy_budgetrf_covertype.py [--seeds 1]

The forest has 40 trees grown by entropy with unit costs, a discount for features that are acquired
already, pruning, and leaf values fitted together. Validation data choose the weight of pruning and
the number of trees within the limit. Then the forest is grown again on training and validation
data. Prints the test error and the share of the features that test rows acquire.
"""

import argparse

import numpy as np
from _budgetrf_data import covertype

from budgetlearn.budgetrf import BudgetRFClassifier, Growth, Leaves

SHARE = 0.17


def main():
    """Print a line for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    for seed in range(parser.parse_args().seeds):
        (X, y), valid, (X_test, y_test) = covertype(seed)
        forest = BudgetRFClassifier(
            n_estimators=40,
            growth=Growth(impurity="entropy", split="expected", max_bins=255, reuse_discount=0.2),
            leaves=Leaves(voting="counts", prune=[0.5, 1, 2], joint_fit=10),
            refit=True,
            budget=SHARE * X.shape[1],
            random_state=seed,
            n_jobs=1,
        ).fit(X, y, *valid)
        predicted, cost = forest.predict_with_cost(X_test)
        error, share = np.mean(predicted != y_test), cost.mean() / X.shape[1]
        print(f"seed {seed}: error {error:.4f} @ {share:.1%}, prune {forest.prune_:g}", flush=True)


if __name__ == "__main__":
    main()
