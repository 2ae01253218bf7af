"""The methods that compete, in the order of the comparison, and their stages within a budget."""

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
from ..protocol.operating_points import cost_and_error
from ..protocol.prediction import each_stage
from .everything import CentredRegressor, boosted_trees, has_lightgbm, linear_model

DEFAULT = "cascade"
# Standard error of the cost's correction for unseen rows, as a share of it: of 0, 1/4, 1/3, 1/2,
# 3/4 and 1, the smallest with which 90 % of costs on unseen rows were within two standard errors.
CORRECTION_ERROR = 0.5
# Power of the number of rows in the cascade's time: it fits many rows once instead of in folds.
CASCADE_SCALING = 0.6
MOST_FOR_MSB = 60  # columns: msB fits models on hundreds of subsets of them


@dataclass(frozen=True)
class Method:
    """A competing method."""

    name: str  # in output
    kind: type | BaseEstimator  # a class, or an unfitted estimator to be cloned
    parameters: dict
    everything: bool = False  # whether it acquires all features; only for the full budget
    scaling: float = 1.0  # the seconds of a fit grow with this power of the number of rows

    def make(self, costs, seed, n_jobs, scoring=None):
        """Return the unfitted estimator, which compares its own models by `scoring`."""
        made = self.kind() if isinstance(self.kind, type) else clone(self.kind)
        made.set_params(feature_costs=costs, **self.parameters)
        wanted = {"random_state": seed, "n_jobs": n_jobs}
        # Some methods lack one of these parameters.
        known = made.get_params(deep=False)
        if scoring is not None and known.get("scoring", "") is None:
            made.set_params(scoring=scoring)
        return made.set_params(**{name: wanted[name] for name in wanted if name in known})


_BOOSTING = {"cost_weights": None, "n_trees": (20, 40)}
_GROWTH = Growth(max_depth=8, max_features=0.5, reuse_discount=0.5)
_BY_ENTROPY = replace(_GROWTH, impurity="entropy", split="expected")
_LEAVES = Leaves(prune=1, joint_fit=10)
_BUDGETRF = {"n_estimators": 40, "cost_exponent": 1, "growth": _GROWTH, "leaves": _LEAVES}
CONSTANT = Method("constant", None, {})  # acquires nothing, and is never fitted
_CLASSIFIERS = (
    Method("LightGBM costs", peers.LightGBMCostClassifier, _BOOSTING),
    Method(DEFAULT, ScheduleCascadeClassifier, {}, scaling=CASCADE_SCALING),
    Method("BudgetRF", BudgetRFClassifier, _BUDGETRF | {"growth": _BY_ENTROPY}),
    Method("filter + boosting", peers.FilterBoostingClassifier, {}),
    Method("sparse linear", peers.SparseLinearClassifier, {}),
    Method("msB", ModelScheduleSearch, {"refit": True}),
)
_REGRESSORS = (
    Method("BudgetRF", BudgetRFRegressor, _BUDGETRF),
    Method(DEFAULT, ScheduleCascadeRegressor, {}, scaling=CASCADE_SCALING),
)


def competitors(classifies, n_features):
    """Return a task's methods: those on all features, a fast one, the default, then the others."""
    kind = peers.AllFeaturesClassifier if classifies else CentredRegressor
    name = "LightGBM" if has_lightgbm() else "boosted trees"
    models = {name: boosted_trees(classifies), "linear model": linear_model(classifies)}
    methods = [Method(name, kind, {"estimator": each}, True) for name, each in models.items()]
    methods += _CLASSIFIERS if classifies else _REGRESSORS
    return [each for each in methods if each.name != "msB" or n_features <= MOST_FOR_MSB]


class Stages:
    """The stages of a fitted model with their costs and scores, from which a budget selects one.

    Costs are measured on X, the training examples, which are usually cheaper than other rows. They
    are `out_of_fold` if the model has measured them itself that way. `weighed` means that it was
    fitted with weights: its own measures include them, but costs must not. Errors count `groups`.
    """

    def __init__(self, model, X, weighed=False, groups=None):
        self.model = model
        acquired = (stage.acquired for stage in each_stage(model, X, {"acquired"}))
        found = [(model.feature_costs_.total(each), each.any()) for each in acquired]
        spent, self.acquires = zip(*found, strict=True)  # whether any row acquires a feature
        self.costs, self.errors = np.transpose([cost_and_error(each, groups) for each in spent])
        # Looked up without reading the attribute, which might start to measure out of fold.
        self.measured = "operating_points_" in vars(model)
        # Unmeasured stages rank by cost: on a path, costlier models come later.
        self.scores = model.operating_points_["score"].to_numpy() if self.measured else self.costs
        # Models that train on all data measure their points out of fold.
        on_all_rows = self.measured and getattr(model, "trains_on_validation", False)
        self.out_of_fold = on_all_rows and not weighed
        if self.out_of_fold:
            self.costs, own = model.operating_points_[["cost", "cost_se"]].to_numpy().T
            # The final model may charge all rows of the fit alike, unlike those out of fold.
            self.errors = np.where(self.errors == 0, own / REFIT_ERROR, self.errors)

    def choose(self, budget, inflation=1.0):
        """Return the index of the stage for a budget, or None if none is affordable."""
        within = np.flatnonzero(affords(budget, self._unseen(inflation)[1]))
        if not within.size:
            return None
        # The best affordable stage if stages were measured, otherwise the costliest.
        best = within[self.scores[within] >= self.scores[within].max()]
        # Of equals, the cheapest; on an unmeasured path, the last, which has the most trees.
        return int(best[self.costs[best].argmin()] if self.measured else best[-1])

    def _unseen(self, inflation):
        """Return the factors of the costs of unseen rows, and the expected means of these costs."""
        # No correction if all rows cost the same.
        factors = np.where(self.out_of_fold | (self.errors == 0), 1.0, inflation)
        return factors, np.minimum(factors * self.costs, self.model.feature_costs_.full)

    def quoted(self, stage, inflation):
        """Return the expected mean cost of a stage on unseen rows, and its standard error."""
        factor, expected = (each[stage] for each in self._unseen(inflation))
        # The factor was measured with other models, on fewer rows, and is itself uncertain.
        error = self.errors[stage] * (REFIT_ERROR if self.out_of_fold else factor)
        spread = np.hypot(error, CORRECTION_ERROR * (factor - 1) * self.costs[stage])
        return float(expected), float(spread)

    def settle(self):
        """Store the costs in the model, so that it need not measure them or keep training rows."""
        if not self.measured:
            points = {"cost": self.costs, "score": np.arange(len(self.costs))}
            self.model.operating_points_ = pd.DataFrame(points)
        vars(self.model).pop("_unmeasured", None)
