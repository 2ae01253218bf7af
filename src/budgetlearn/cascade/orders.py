"""Orders of acquisition: the sequence of features in which a cascade acquires.

An order is a function from an `OrderProblem` to the list of all features, first to last.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from ..costs import FeatureCosts
from ..counting import count_fit, fit_counted
from ..forests import RandomForestClassifier
from ..forests.importance import oob_permutation_importance
from ..tree.binning import bin_features
from .gaps import below_all, filled
from .mixture import variance

# Weights of the prices along which LightGBM acquires, as `LightGBMCostClassifier` means them.
PATH = np.geomspace(10, 0.003, 9)
N_ROUNDS = 25
# Of all forests, those of stages too.
MAX_BINS = 255
# An order is an average over the examples: more of them do not change it.
MOST_ROWS = 20_000
# "schedule" looks at the importance afresh whenever this share of the features has gone.
REMOVED_AT_ONCE = 0.15


@dataclass(frozen=True, eq=False)
class OrderProblem:
    """Data, costs and seed that an order may look at."""

    X: np.ndarray  # (n_samples, n_features): examples
    y: np.ndarray  # (n_samples,): class indices, or numbers
    n_classes: int | None  # None in regression
    costs: FeatureCosts
    seed: int
    n_jobs: int | None = None
    weight: np.ndarray | None = None  # (n_samples,): how much each example counts; None: all alike

    @classmethod
    def of(cls, X, y, n_classes, costs, seed, n_jobs=None, weight=None):
        """Return the problem, on every k-th example where there are very many."""
        # Rounded up: at most `MOST_ROWS` are left, spread over the whole table.
        step = -(-len(X) // MOST_ROWS)
        weight = None if weight is None else weight[::step]
        return cls(
            np.ascontiguousarray(X[::step]), y[::step], n_classes, costs, seed, n_jobs, weight
        )

    @cached_property
    def without_gaps(self):
        """X as forests learn from it: missing values are below all others."""
        return filled(self.X, below_all(self.X)) if np.isnan(self.X).any() else self.X

    @cached_property
    def codes(self):
        """Codes of X, made once for the forests of all sets of features."""
        return bin_features(self.without_gaps, MAX_BINS)


def has_lightgbm():
    """Return whether LightGBM can be imported."""
    return find_spec("lightgbm") is not None


def lightgbm_order(problem):
    """Return the order in which LightGBM acquires features while prices lose weight.

    Along 9 falling tradeoffs a short boosting is charged for each feature at its first split
    ("coupled" costs). What it has acquired at one tradeoff is free at the next, so what comes then
    adds to that. What comes at the same tradeoff is ordered by gain per price; what never comes
    is acquired last, by price. Without LightGBM: `gain_per_cost_order`.
    """
    if not has_lightgbm():
        return gain_per_cost_order(problem)
    import lightgbm

    parameters = boosting_parameters(
        problem.n_classes,
        problem.seed,
        learning_rate=0.2,
        num_leaves=15,
        min_data_in_leaf=5,
        num_threads=problem.n_jobs or 1,
        force_row_wise=True,
    )
    weight = problem.weight
    target = problem.y if problem.n_classes else _standardised(problem.y, weight)
    data = lightgbm.Dataset(
        problem.X, target, weight=weight, params=dict(parameters), free_raw_data=False
    )
    costs, full = problem.costs, problem.costs.full or 1.0
    acquired, order = np.zeros(costs.n_features, dtype=bool), []
    for tradeoff in PATH:
        # What is acquired is free from here on: a group's charge is gone from the others' prices.
        price = costs.marginal(acquired) / full
        charged = {
            "cegb_tradeoff": tradeoff,
            "cegb_penalty_feature_coupled": (price * len(problem.X)).tolist(),
        }
        gain = boosted_gains({**parameters, **charged}, data)
        # A feature with a split has a gain, so gains say what this tradeoff acquires.
        fresh = np.flatnonzero((gain > 0) & ~acquired)
        worth = gain[fresh] / _price(price)[fresh]
        order += fresh[np.argsort(-worth, kind="stable")].tolist()
        acquired[fresh] = True
        if acquired.all():
            break
    # No tradeoff wanted these: nothing is known of them but their prices.
    rest = np.flatnonzero(~acquired)
    return order + rest[np.argsort(costs.marginal(acquired)[rest], kind="stable")].tolist()


def boosted_gains(parameters, data):
    """Return the gain of each feature in a short boosting."""
    import lightgbm

    count_fit()
    booster = lightgbm.Booster(parameters, data)
    for _ in range(N_ROUNDS):
        # True where no tree can split any more, at high prices from the first round on.
        if booster.update():
            break
    return booster.feature_importance("gain")


def boosting_parameters(n_classes, seed, **more):
    """Return LightGBM's parameters: the loss that fits the target, and results that repeat."""
    objective = {None: "regression", 2: "binary"}.get(n_classes, "multiclass")
    return {
        "objective": objective,
        "num_class": n_classes if objective == "multiclass" else 1,
        "seed": seed,
        "deterministic": True,
        "verbose": -1,
        **more,
    }


def _standardised(y, weight):
    """Return y with variance 1, so that a tradeoff means the same in every unit."""
    return (y - np.average(y, weights=weight)) / (np.sqrt(variance(y, weight)) or 1.0)


def gain_per_cost_order(problem):
    """Return the features by importance in a forest of all, per price."""
    everything = np.arange(problem.costs.n_features)
    worth = _importance(problem, everything) / _price(problem.costs.alone)
    return np.argsort(-worth, kind="stable").tolist()


def schedule_order(problem):
    """Return msB's removal sequence backwards: least importance per price is acquired last.

    The importance is looked at afresh, in a forest of what is left, whenever a seventh of the
    features has gone.
    """
    left, removed = np.arange(problem.costs.n_features), []
    while left.size > 1:
        # Shares of what is left: the last member of a group carries its whole charge.
        mask = np.zeros(problem.costs.n_features, dtype=bool)
        mask[left] = True
        worth = _importance(problem, left) / _price(problem.costs.shares(mask)[left])
        n_goes = max(1, int(REMOVED_AT_ONCE * left.size))
        goes = np.argsort(worth, kind="stable")[:n_goes]
        removed += left[goes].tolist()
        left = np.delete(left, goes)
    return [*left.tolist(), *reversed(removed)]


def _price(price):
    """Return prices above 0, to divide by: free features are worth most."""
    return np.maximum(price, 1e-9 * (price.max() or 1.0))


def _importance(problem, features):
    """Return the importance of some features in a forest of them, all above 0."""
    X = problem.without_gaps[:, features]
    if problem.n_classes is None:
        forest = RandomForestRegressor(
            100, min_samples_leaf=5, max_features=1 / 3, random_state=problem.seed
        )
        forest.set_params(n_jobs=problem.n_jobs)
        importance = fit_counted(
            forest, X, problem.y, sample_weight=problem.weight
        ).feature_importances_
    else:
        forest = RandomForestClassifier(
            max_bins=MAX_BINS, random_state=problem.seed, n_jobs=problem.n_jobs
        )
        codes = problem.codes.take(features)
        forest.fit(X, problem.y, sample_weight=problem.weight, binned=codes)
        importance = oob_permutation_importance(
            forest, X, problem.y, random_state=problem.seed, n_jobs=problem.n_jobs
        )
    # Permutation importance may be 0 or negative; a worth per price must be above 0.
    return np.maximum(importance, 1e-3 * (max(importance.max(), 0.0) or 1.0))


ORDERS = {
    "lightgbm": lightgbm_order,
    "schedule": schedule_order,
    "gain_per_cost": gain_per_cost_order,
}
