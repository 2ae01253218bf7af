"""Small fits of every forest, as digests: what must stay the same bit for bit.

After a change of results that is wanted, name the cases that it changes, and say why in the commit:

    python -m tests.forests.golden random_forest_gini gif_window
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor
from budgetlearn.cascade.models import BoostingKind, Table
from budgetlearn.forests import (
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    CostWeightedRFClassifier,
    RandomForestClassifier,
)
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.msb import ModelScheduleSearch
from budgetlearn.peers import GreedyMiserClassifier

STORED = Path(__file__).parent / "golden.json"
FAST = {"random_state": 0, "n_jobs": 1}


def table(name):
    """Return X, y and prices of a data set that scikit-learn brings along."""
    loaders = {"wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}
    X, y = loaders[name](return_X_y=True)
    X, y = X[:400], y[:400]
    return X, y, np.random.default_rng(0).integers(1, 101, X.shape[1]).astype(float)


def digest(*arrays):
    """Return a digest of the values, shapes and types of arrays."""
    sha = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()[:16]


def of_forest(model, X, decimals=None):
    """Return the digest of the trees and of what they predict and acquire.

    Values are rounded where they come from logarithms, whose last bit depends on the processor.
    """
    asked = "predict_proba" if hasattr(model, "predict_proba") else "predict"

    def rounded(values):
        return values if decimals is None else np.round(values, decimals) + 0.0  # no -0

    arrays = [
        array
        for tree in model.trees_
        for array in (
            tree.feature,
            tree.threshold,
            tree.children_left,
            tree.children_right,
            rounded(tree.value),
            tree.n_node_samples,
        )
    ]
    return digest(*arrays, rounded(getattr(model, asked)(X)), model.acquired_features(X))


def _budget_rf(data, **options):
    X, y, prices = table(data)
    options = {"n_estimators": 8, "cost_exponent": 1.0, **FAST} | options
    return of_forest(BudgetRFClassifier(feature_costs=prices).set_params(**options).fit(X, y), X)


def _budget_rf_regressor(data, **options):
    X, _, prices = table(data)
    target = X[:, 0] * X[:, 1] - X[:, 2]
    options = {"n_estimators": 8, **FAST} | options
    return of_forest(
        BudgetRFRegressor(feature_costs=prices).set_params(**options).fit(X, target), X
    )


def _random_forest(data, **options):
    X, y, _ = table(data)
    return of_forest(RandomForestClassifier(n_estimators=8, **FAST, **options).fit(X, y), X)


def _priced(kind, data, **options):
    X, y, prices = table(data)
    return of_forest(kind(feature_costs=prices, n_estimators=8, **FAST, **options).fit(X, y), X)


def _path():
    X, y, prices = table("wine")
    model = CostSensitiveRFPathClassifier(feature_costs=prices, n_estimators=8, **FAST).fit(X, y)
    stages = list(model.staged_acquired_features(X))
    return digest(*stages, *model.staged_predict(X))


def _gif(kind, data, **options):
    X, y, _ = table(data)
    target = X[:, 0] * X[:, 1] - X[:, 2] if kind is GIFRegressor else y
    options = {"node_budget": 200, "n_estimators": 30, "random_state": 0} | options
    decimals = 6 if "exponential" in options.get("loss", "") else None
    return of_forest(kind(**options).fit(X, target), X, decimals)


def _miser(data):
    X, y, prices = table(data)
    model = GreedyMiserClassifier(feature_costs=prices, cost_weights=(3, 0.1), n_trees=(5, 10)).fit(
        X, y
    )
    return digest(
        *(tree.threshold for tree in model.trees_),
        *model.staged_predict(X),
        *model.staged_acquired_features(X),
    )


def _boosted(data, numbers):
    X, y, _ = table(data)
    target, n_classes = (X[:, 0], None) if numbers else (y, int(y.max()) + 1)
    model = BoostingKind().fit(Table(X[:, 1:], target, n_classes), 0)
    # Probabilities to few digits: the last ones are those of the processor's exponential.
    return digest(*(tree.threshold for tree in model.trees.trees), model.predict(X[:, 1:]).round(9))


def _msb(data):
    X, y, prices = table(data)
    engine = RandomForestClassifier(n_estimators=20, max_bins=255)
    search = ModelScheduleSearch(engine, feature_costs=prices, random_state=0).fit(X, y)
    schedule = search.schedule_
    chosen = [np.asarray(variables) for variables in schedule.variables]
    return digest(schedule.costs, schedule.scores, *chosen)


CASES = {
    "budget_rf": lambda: _budget_rf("cancer"),
    "budget_rf_alphas": lambda: _budget_rf("wine", alpha=[0, 2, 8], budget=300),
    "budget_rf_drawn_features": lambda: _budget_rf("digits", alpha=8, growth__max_features="sqrt"),
    "budget_rf_random_thresholds": lambda: _budget_rf("cancer", growth__thresholds="random"),
    "budget_rf_first": lambda: _budget_rf("digits", growth__ties="first"),
    "budget_rf_bins": lambda: _budget_rf("cancer", growth__max_bins=255, leaves__voting="counts"),
    "budget_rf_powers": lambda: _budget_rf("wine", growth__impurity="powers"),
    "budget_rf_polynomial": lambda: _budget_rf("wine", growth__impurity="polynomial"),
    "budget_rf_expected_pairs": lambda: _budget_rf("cancer", growth__split="expected"),
    "budget_rf_expected_gini": lambda: _budget_rf(
        "cancer", growth__split="expected", growth__impurity="gini"
    ),
    "budget_rf_expected_entropy": lambda: _budget_rf(
        "digits", growth__split="expected", growth__impurity="entropy"
    ),
    "budget_rf_regressor": lambda: _budget_rf_regressor("cancer"),
    "budget_rf_regressor_drawn_features": lambda: _budget_rf_regressor(
        "cancer", growth__max_features="sqrt"
    ),
    "budget_rf_regressor_random_thresholds": lambda: _budget_rf_regressor(
        "cancer", growth__thresholds="random", growth__max_bins=64
    ),
    "budget_rf_regressor_reuse": lambda: _budget_rf_regressor(
        "digits", growth__reuse_discount=0.5, leaves__prune=0.3
    ),
    "random_forest_gini": lambda: _random_forest("cancer"),
    "random_forest_entropy": lambda: _random_forest("digits", criterion="entropy"),
    "random_forest_bins": lambda: _random_forest("cancer", max_bins=32, max_features=None),
    "random_forest_depth": lambda: _random_forest("digits", max_depth=4, bootstrap=False),
    "cost_sensitive_rf": lambda: _priced(CostSensitiveRFClassifier, "wine", cost_weight=0.2),
    "cost_sensitive_rf_drawn": lambda: _priced(
        CostSensitiveRFClassifier, "digits", cost_weight=0.2, max_features="sqrt"
    ),
    "cost_sensitive_rf_complementary": lambda: _priced(
        CostSensitiveRFClassifier, "digits", cost_weight=0.2, complementary=True
    ),
    "cost_sensitive_rf_path": _path,
    "cost_weighted_rf": lambda: _priced(CostWeightedRFClassifier, "digits"),
    "cost_weighted_rf_subset": lambda: _priced(
        CostWeightedRFClassifier, "cancer", subset="above_mean"
    ),
    "gif_regressor": lambda: _gif(GIFRegressor, "wine"),
    "gif_regressor_all_candidates": lambda: _gif(GIFRegressor, "wine", candidate_window=None),
    "gif_squared": lambda: _gif(GIFClassifier, "digits"),
    "gif_window": lambda: _gif(GIFClassifier, "wine", candidate_window=5),
    "gif_trimmed": lambda: _gif(GIFClassifier, "digits", loss="trimmed_exponential"),
    "gif_trimmed_all_candidates": lambda: _gif(
        GIFClassifier, "wine", loss="trimmed_exponential", candidate_window=None
    ),
    "gif_exponential": lambda: _gif(GIFClassifier, "wine", loss="exponential"),
    "gif_residuals": lambda: _gif(
        GIFClassifier, "wine", split_on="residuals", max_features=None, n_thresholds=3
    ),
    "gif_refit": lambda: _gif(GIFRegressor, "wine", joint_fit=2),
    "boosting": lambda: _boosted("wine", False),
    "boosting_two_classes": lambda: _boosted("cancer", False),
    "boosting_numbers": lambda: _boosted("wine", True),
    "greedy_miser": lambda: _miser("wine"),
    "greedy_miser_two_classes": lambda: _miser("cancer"),
    "msb": lambda: _msb("wine"),
    "msb_two_classes": lambda: _msb("cancer"),
}


def main(names):
    """Compute the named cases, or all, and store their digests."""
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    for name in names or CASES:
        stored[name] = CASES[name]()
    STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
