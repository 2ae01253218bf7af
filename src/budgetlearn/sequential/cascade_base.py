"""What the cascades for classes and for numbers share."""

from abc import abstractmethod

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from .._validation import INT32_MAX, ParameterError, check_number
from ..base import BudgetedEstimator, Stage
from ..base.examples import checked_examples
from .cascade_fitting import StageModels, StageReader, walk
from .cascade_models import Table, as_kind, assign_folds
from .cascade_orders import ORDERS, OrderProblem
from .cascade_pool import best_at_each_cost, candidates
from .cascade_purchases import CascadePurchases
from .cascade_stages import geometric_stages, nested_stages, with_whole_groups


class ScheduleCascade(BudgetedEstimator):
    """Buy features stage by stage, stop where the stage is sure enough.

    A subclass says what the stages' predictions mean.
    """

    # Its operating points are measured out of fold: scores on validation data would be in-sample.
    trains_on_validation = True
    _groups = True
    _chooses_on_validation = True

    @abstractmethod
    def _n_classes(self):
        """Return the number of classes; None in regression."""

    @abstractmethod
    def _cascades(self, orders, table, models, seed):
        """Return (Cascade, Evidence) of each order, all on one footing."""

    @abstractmethod
    def _label(self, predictions):
        """Return labels or numbers for predictions of shape (n_samples, n_outputs)."""

    def _learn(self, X, y, X_val, y_val, weight=None):
        train, valid = checked_examples(self, X, y, X_val, y_val, weight)
        if valid is not None:
            train = train.joined(valid)
        self._fit(train, None, check_random_state(self.random_state))
        return self

    def _fit(self, train, valid, seeds):
        self._check_parameters(len(train.y))
        seed = int(seeds.randint(INT32_MAX))
        n_classes = self._n_classes()
        folds = assign_folds(train.y, n_classes, self.cv, np.random.RandomState(seed))
        table = Table(train.X, train.y, n_classes, folds)
        kinds = self._kinds(n_classes)
        orders = self._stages_of_orders(table, seed)
        sets = [features for stages in orders.values() for features in stages]
        self._say(f"fitting {', '.join(kinds)} on {len(set(map(frozenset, sets)))} sets")
        models = StageModels.fit(table, sets, kinds, seed, self.n_jobs)
        pool = []
        for cascade, evidence in self._cascades(orders, table, models, seed):
            pool += candidates(cascade, evidence, self.feature_costs_.full)
        self._set_points(best_at_each_cost(pool), models)

    def _check_parameters(self, n_samples):
        check_number(self.n_stages, "n_stages", low=2, integer=True)
        check_number(self.cv, "cv", low=2, integer=True)
        if self.budget is not None:
            check_number(self.budget, "budget", low=0)
        if n_samples < 2 * self.cv:
            raise ParameterError(
                f"cv={self.cv} folds need at least {2 * self.cv} examples, got "
                f"n_samples={n_samples}. Give more, or lower cv."
            )

    def _say(self, what):
        if self.verbose:
            print(f"[{type(self).__name__}] {what}", flush=True)

    def _kinds(self, n_classes):
        """Return the kinds of models by name."""
        estimators = self.estimators
        if isinstance(estimators, str) or hasattr(estimators, "fit"):
            estimators = [estimators]
        names = [
            each if isinstance(each, str) else f"{type(each).__name__} {place}"
            for place, each in enumerate(estimators)
        ]
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"estimators must be one or more different ones, got {names}.")
        return {
            name: as_kind(each, n_classes) for name, each in zip(names, estimators, strict=True)
        }

    def _stages_of_orders(self, table, seed):
        """Return the stages of each order, by its name; of equal ones the first."""
        orders = [self.orders] if isinstance(self.orders, str) else list(self.orders)
        costs, found = self.feature_costs_, {}
        problem = OrderProblem.of(table.X, table.y, table.n_classes, costs, seed, self.n_jobs)
        for place, order in enumerate(orders):
            name = order if isinstance(order, str) else f"own {place}"
            self._say(f"order {name}")
            if not isinstance(order, str):
                stages = nested_stages(self._indices(order), costs.n_features)
            elif order in ORDERS:
                purchases = with_whole_groups(ORDERS[order](problem), costs)
                stages = geometric_stages(purchases, costs, self.n_stages)
            else:
                known = ", ".join(map(repr, ORDERS))
                raise ParameterError(
                    f"an order must be one of {known}, or nested sets of features; got {order!r}."
                )
            if stages not in found.values():
                found[name] = stages
        if not found:
            raise ParameterError("orders must name at least one order of purchase, got none.")
        return found

    def _indices(self, sets):
        """Return nested sets with each name replaced by its feature's index."""
        names = list(getattr(self, "feature_names_in_", []))
        unknown = {each for one in sets for each in one if isinstance(each, str)} - set(names)
        if unknown:
            raise ParameterError(
                f"the nested sets name unknown features: {', '.join(sorted(unknown))}."
            )
        return [[names.index(f) if isinstance(f, str) else f for f in one] for one in sets]

    def _set_points(self, front, models):
        """Keep the operating points and what they need."""
        self.points_ = front
        self.models_ = models.only({id(c.cascade): c.cascade for c in front}.values())
        names = np.array(self._names(), dtype=object)
        rows = []
        for point in front:
            last = point.cascade.stages[point.last_stage]
            sizes = np.array([len(features) for features in point.cascade.stages])
            rows.append(
                {
                    "cost": point.cost,
                    "score": point.score,
                    "score_se": point.observed_se,
                    "observed": point.observed,
                    "nodes": np.nan,
                    "n_features": float(sizes @ point.shares),
                    "setting": self._setting(point),
                    "variables": tuple(names[list(last)]),
                }
            )
        self.operating_points_ = pd.DataFrame(rows)

    @staticmethod
    def _setting(point):
        exits = point.thresholds < np.inf
        return {"order": point.cascade.name, "tradeoff": point.tradeoff, "exits": int(exits.sum())}

    @property
    def n_stages_(self):
        """Number of operating points."""
        return len(self.points_)

    def _default_stage(self):
        if self.budget is None:
            return self.n_stages_ - 1
        return self._chosen(self.budget, None, False)

    def _stages(self, X, which, want):
        # A missing value that is looked at is refused by the caller, whatever is predicted here.
        reader = StageReader(self.models_, np.nan_to_num(X, nan=0.0))
        for index in which:
            point = self.points_[index]
            stops, predictions = walk(point, reader, len(X))
            stage = Stage(self._setting(point), facts={"budget": point.cost})
            stage.output = self._label(predictions)
            if self._n_classes() is not None:
                stage.probabilities = predictions
                stage.estimate = predictions.max(axis=1)
            stage.acquired = self._masks(point)[stops]
            yield stage

    def _masks(self, point):
        """Return which features each stage has bought, (n_stages, n_features)."""
        masks = np.zeros((len(point.cascade.stages), self.n_features_in_), dtype=bool)
        for mask, features in zip(masks, point.cascade.stages, strict=True):
            mask[list(features)] = True
        return masks

    def _purchases(self, n_samples, stage, ledger):
        blank = self._constant_outcome(n_samples)
        purchases = CascadePurchases(
            self.points_[stage], self.models_, blank, self._label, self.n_features_in_
        )
        return (yield from purchases.requests(ledger))
