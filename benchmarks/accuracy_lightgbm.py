"""Error and number of features of LightGBM with feature costs and of BudgetRF, on MiniBooNE.

    python benchmarks/accuracy_lightgbm.py

There are 2000 training and test rows and unit costs. Prints test error @ mean number of acquired
features for the largest model of each tradeoff, and for BudgetRF at 1, 10, 20 and 40 trees.
"""

from _budgetrf_data import miniboone

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.peers import GreedyMiserClassifier, LightGBMCostClassifier

TRADEOFFS = (10, 3, 1, 0.5, 0.3, 0.2, 0.1, 0.03, 0)
# The defaults of lightgbm.train.
THEIR_DEFAULTS = {"n_trees": (100,), "learning_rate": 0.1, "num_leaves": 31}
METHODS = {
    "LightGBM's defaults, coupled": LightGBMCostClassifier(
        cost_weights=TRADEOFFS, min_child_samples=20, **THEIR_DEFAULTS
    ),
    "LightGBM's defaults, lazy": LightGBMCostClassifier(
        cost_weights=TRADEOFFS, min_child_samples=20, penalty="lazy", **THEIR_DEFAULTS
    ),
    "ours, coupled": LightGBMCostClassifier(cost_weights=TRADEOFFS, n_trees=(40,)),
    "ours, lazy": LightGBMCostClassifier(cost_weights=TRADEOFFS, n_trees=(40,), penalty="lazy"),
    "GreedyMiser": GreedyMiserClassifier(cost_weights=TRADEOFFS, n_trees=(40,)),
    "BudgetRF": BudgetRFClassifier(random_state=0),
}


def main():
    """Print a line for each method."""
    (X, y), _, (X_test, y_test) = miniboone()
    for name, model in METHODS.items():
        model.fit(X, y)
        stages = zip(
            model.staged_predict(X_test), model.staged_acquired_features(X_test), strict=True
        )
        points = [((p != y_test).mean(), a.sum(axis=1).mean()) for p, a in stages]
        if name == "BudgetRF":
            points = [points[n_trees - 1] for n_trees in (1, 10, 20, 40)]
        line = "  ".join(f"{error:.3f} @ {n:.1f}" for error, n in points)
        print(f"{name:30}{line}", flush=True)


if __name__ == "__main__":
    main()
