"""The methods that compete, in the order in which time allows, and how each keeps a budget."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from .. import peers
from ..budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from ..cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from ..cascade.pool import REFIT_ERROR
from ..costs import affords
from ..msb import ModelScheduleSearch
from ..protocol.prediction import each_stage
from .everything import CentredRegressor, boosted_trees, has_lightgbm, linear_model

DEFAULT = "cascade"
# How uncertain the correction of a cost for unseen rows is, as a share of itself: of 0, 1/4, 1/3,
# 1/2, 3/4 and 1 the least with which 90 % of costs on unseen rows were within two standard errors.
CORRECTION_ERROR = 0.5
MOST_FOR_MSB = 60  # it fits models on hundreds of subsets of the columns


@dataclass(frozen=True)
class Method:
    """A way to turn a budget into a policy."""

    name: str  # in output
    kind: type | BaseEstimator  # the estimator, or an unfitted one that is copied
    parameters: dict
    everything: bool = False  # acquires all features of every row: for the full budget alone

    def make(self, costs, seed, n_jobs):
        """Return the unfitted estimator."""
        made = self.kind() if isinstance(self.kind, type) else clone(self.kind)
        made.set_params(feature_costs=costs, **self.parameters)
        wanted = {"random_state": seed, "n_jobs": n_jobs}
        # Not every method is random, or has threads.
        known = made.get_params(deep=False)
        return made.set_params(**{name: wanted[name] for name in wanted if name in known})


_BOOSTING = {"cost_weights": None, "n_trees": (20, 40)}
_GROWTH = Growth(max_depth=8, max_features=0.5, reuse_discount=0.5)
_BUDGETRF = {
    "n_estimators": 40,
    "cost_exponent": 1,
    "growth": _GROWTH,
    "leaves": Leaves(prune=1, joint_fit=10),
}
CONSTANT = Method("constant", None, {})  # buys nothing, and is not fitted
_CLASSIFIERS = (
    Method("LightGBM costs", peers.LightGBMCostClassifier, _BOOSTING),
    Method(
        "BudgetRF",
        BudgetRFClassifier,
        {**_BUDGETRF, "growth": replace(_GROWTH, impurity="entropy", split="expected")},
    ),
    Method("filter + boosting", peers.FilterBoostingClassifier, {}),
    Method(DEFAULT, ScheduleCascadeClassifier, {}),
    Method("sparse linear", peers.SparseLinearClassifier, {}),
    Method("msB", ModelScheduleSearch, {"refit": True}),
)
_REGRESSORS = (
    Method("BudgetRF", BudgetRFRegressor, _BUDGETRF),
    Method(DEFAULT, ScheduleCascadeRegressor, {}),
)


def competitors(classifies, n_features):
    """Return the methods for a task: cheap ones, the default, and what takes longer for less."""
    kind = peers.AllFeaturesClassifier if classifies else CentredRegressor
    name = "LightGBM" if has_lightgbm() else "boosted trees"
    models = {name: boosted_trees(classifies), "linear model": linear_model(classifies)}
    methods = [Method(name, kind, {"estimator": each}, True) for name, each in models.items()]
    methods += _CLASSIFIERS if classifies else _REGRESSORS
    return [each for each in methods if each.name != "msB" or n_features <= MOST_FOR_MSB]


class Stages:
    """The stages of a fitted model, with what each costs and scores: budgets choose among them.

    Costs are those of X, the training examples, of which the model is sooner sure than of other
    rows; or `out_of_fold`, where the model has measured them so. `weighed`: it learned from
    weights, which its own measures count, too, and costs must not.
    """

    def __init__(self, model, X, weighed=False):
        self.model = model
        bought = (stage.acquired for stage in each_stage(model, X, {"acquired"}))
        found = [(model.feature_costs_.total(each), each.any()) for each in bought]
        spent, self.buys = zip(*found, strict=True)  # costs, and whether any row buys a feature
        self.costs = np.array([each.mean() for each in spent])
        self.errors = np.array([each.std() for each in spent]) / np.sqrt(len(X))
        # Only what `fit` measured: reading the attribute would measure out of fold.
        self.measured = "operating_points_" in vars(model)
        # Models of more price come later on a path of growing ones.
        self.scores = model.operating_points_["score"].to_numpy() if self.measured else self.costs
        # Models that learn from all rows have measured themselves on all of them.
        on_all_rows = self.measured and getattr(model, "trains_on_validation", False)
        self.out_of_fold = on_all_rows and not weighed
        if self.out_of_fold:
            self.costs = model.operating_points_["cost"].to_numpy()

    def choose(self, budget):
        """Return the index of the stage for a budget; None where there is none.

        Of a model that has measured its stages the best affordable one, else the one that costs
        most.
        """
        within = np.flatnonzero(affords(budget, self.costs))
        if not within.size:
            return None
        best = within[self.scores[within] >= self.scores[within].max()]
        # Of equals the cheapest; of a path's models of equal cost the last, with most trees.
        return int(best[self.costs[best].argmin()] if self.measured else best[-1])

    def quoted(self, stage, inflation):
        """Return the mean cost to expect of a stage on other rows, and its standard error."""
        cost, error = self.costs[stage], self.errors[stage]
        # Where all pay the same nothing depends on what the model has seen.
        factor = 1.0 if self.out_of_fold or error == 0 else inflation
        # The factor is that of other models, on fewer rows.
        error *= REFIT_ERROR if self.out_of_fold else factor
        spread = np.hypot(error, CORRECTION_ERROR * (factor - 1) * cost)
        return float(min(factor * cost, self.model.feature_costs_.full)), float(spread)

    def settle(self):
        """Keep the costs on the model, which then measures nothing itself and holds no rows."""
        if not self.measured:
            points = {"cost": self.costs, "score": np.arange(len(self.costs))}
            self.model.operating_points_ = pd.DataFrame(points)
        vars(self.model).pop("_unmeasured", None)
