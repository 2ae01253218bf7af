"""What the cascades for classes and for numbers share."""

from abc import abstractmethod

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from .._validation import INT32_MAX, ParameterError, check_number
from ..base import BudgetedEstimator, Stage
from .cascade_dynamic_fitting import dynamic_journey
from .cascade_fitting import StageModels, StageReader, walk
from .cascade_masked import MaskedModel, Units
from .cascade_models import Table, as_kind, assign_folds
from .cascade_orders import ORDERS, OrderProblem
from .cascade_pool import Journey, best_at_each_cost, candidates
from .cascade_route import Cascade
from .cascade_stages import geometric_stages, nested_stages, with_whole_groups

# What a dynamic order chooses among: the features, or where there are more, stretches of an order.
MOST_UNITS = 16
ONE_SE = "one_se"


class ScheduleCascade(BudgetedEstimator):
    """Buy features stage by stage, stop where the stage is sure enough.

    A subclass says what the stages' predictions mean.
    """

    # Its operating points are measured out of fold: scores on validation data would be in-sample.
    trains_on_validation = True
    _groups = True
    _chooses_on_validation = True

    def __init__(
        self,
        feature_costs=None,
        *,
        estimators=("forest", "boosting"),
        orders=("lightgbm", "schedule"),
        n_stages=10,
        cv=5,
        dynamic=False,
        budget=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.feature_costs = feature_costs
        self.estimators = estimators
        self.orders = orders
        self.n_stages = n_stages
        self.cv = cv
        self.dynamic = dynamic
        self.budget = budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _n_classes(self):
        """Return the number of classes; None in regression."""

    @abstractmethod
    def _calibrated(self, journey, table):
        """Return a journey whose predictions are as sure as they are right."""

    @abstractmethod
    def _losses(self, predictions, table):
        """Return how far predictions are from the true target of each example."""

    @abstractmethod
    def _evidence(self, journey, reference, table, models, seed):
        """Return the `Evidence` of a journey in the eyes of a reference."""

    @abstractmethod
    def _label(self, predictions):
        """Return labels or numbers for predictions of shape (n_samples, n_outputs)."""

    def _learn_from(self, train, valid):
        if valid is not None:
            train = train.joined(valid)
        self._fit(train, None, check_random_state(self.random_state))

    def _fit(self, train, valid, seeds):
        self._check_parameters(len(train.y))
        seed = int(seeds.randint(INT32_MAX))
        n_classes = self._n_classes()
        folds = assign_folds(train.y, n_classes, self.cv, np.random.RandomState(seed))
        table = Table(train.X, train.y, n_classes, folds)
        kinds = self._kinds(n_classes)
        orders, units = self._stages_of_orders(table, seed)
        if self.dynamic is True:  # one stage of each order: the reference
            orders = {name: stages[-1:] for name, stages in orders.items()}
        sets = [features for stages in orders.values() for features in stages]
        self._say(f"fitting {', '.join(kinds)} on {len(set(map(frozenset, sets)))} sets")
        models = StageModels.fit(table, sets, kinds, seed, self.n_jobs)
        models.usual = np.median(table.X, axis=0)
        self._set_points(self._front(orders, units, table, models, seed), models)

    def _front(self, orders, units, table, models, seed):
        """Return the operating points: the best candidates of all journeys."""
        journeys = [
            self._calibrated(self._journey(name, stages, table, models), table)
            for name, stages in orders.items()
        ]
        reference = min(
            (each.predictions[-1] for each in journeys),
            key=lambda last: self._losses(last, table).mean(),
        )
        if self.dynamic is False:
            models.stand_in = MaskedModel.fit(table.X, table.y, table.n_classes, units, seed)
        else:
            self._say("the dynamic order")
            dynamic = dynamic_journey(table, units, reference, seed, self.n_jobs)
            models.stand_in = dynamic.route.masked
            dynamic = self._calibrated(dynamic, table)
            reference = (reference + dynamic.predictions[-1]) / 2
            journeys = [*(journeys if self.dynamic == "auto" else []), dynamic]
        pool = []
        for journey in journeys:
            evidence = self._evidence(journey, reference, table, models, seed)
            pool += candidates(journey.route, evidence, self.feature_costs_.full)
        return best_at_each_cost(pool)

    def _journey(self, name, stages, table, models):
        """Return what the stages of an order say out of fold."""
        costs = np.array([self.feature_costs_.subset(list(each)) for each in stages])
        kinds = tuple(self._best_kinds(features, table, models) for features in stages)
        route = Cascade(name, tuple(stages), costs, kinds, None)
        held_out = models.held_out_stages(stages, kinds)
        return Journey(route, held_out, costs[:, None], route.sizes[:, None])

    def _best_kinds(self, features, table, models):
        """Return the kinds of models that a stage averages: all, or one that is clearly better."""
        losses = {
            kinds: self._losses(models.held_out_stages([features], [kinds])[0], table)
            for kinds in (models.kinds, *((kind,) for kind in models.kinds))
        }
        best = min(losses, key=lambda kinds: losses[kinds].mean())
        gains = losses[models.kinds] - losses[best]
        return best if gains.mean() > gains.std() / np.sqrt(gains.size) else models.kinds

    def _check_parameters(self, n_samples):
        check_number(self.n_stages, "n_stages", low=2, integer=True)
        check_number(self.cv, "cv", low=2, integer=True)
        if self.budget not in (None, ONE_SE):
            check_number(self.budget, "budget", low=0)
        if not (isinstance(self.dynamic, bool) or self.dynamic == "auto"):
            raise ParameterError(f"dynamic must be True, False or 'auto', got {self.dynamic!r}.")
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
        """Return the stages of each order by its name, of equal ones the first; and the units."""
        orders = [self.orders] if isinstance(self.orders, str) else list(self.orders)
        costs, found, units = self.feature_costs_, {}, None
        problem = OrderProblem.of(table.X, table.y, table.n_classes, costs, seed, self.n_jobs)
        for place, order in enumerate(orders):
            name = order if isinstance(order, str) else f"own {place}"
            self._say(f"order {name}")
            if not isinstance(order, str):
                stages = parts = nested_stages(self._indices(order), costs.n_features)
            elif order in ORDERS:
                purchases = with_whole_groups(ORDERS[order](problem), costs)
                stages = geometric_stages(purchases, costs, self.n_stages)
                parts = geometric_stages(purchases, costs, MOST_UNITS)
            else:
                known = ", ".join(map(repr, ORDERS))
                raise ParameterError(
                    f"an order must be one of {known}, or nested sets of features; got {order!r}."
                )
            units = units or Units.of_stages(parts, costs)
            if stages not in found.values():
                found[name] = stages
        if not found:
            raise ParameterError("orders must name at least one order of purchase, got none.")
        return found, units

    def _indices(self, sets):
        """Return nested sets with each name replaced by its feature's index."""
        place = {name: k for k, name in enumerate(self._column_names() or ())}
        # A number is an index, but a name where columns are called by numbers.
        numbered = not all(isinstance(name, str) for name in place)
        named = {f for one in sets for f in one if numbered or isinstance(f, str)}
        unknown = sorted(map(str, named - set(place)))
        if unknown:
            raise ParameterError(f"the nested sets name unknown features: {', '.join(unknown)}.")
        return [[place.get(f, f) for f in one] for one in sets]

    def _set_points(self, front, models):
        """Keep the operating points and what they need."""
        self.points_ = front
        self.models_ = models.only({id(c.cascade): c.cascade for c in front}.values())
        names = np.array(self._names(), dtype=object)
        rows = []
        for point in front:
            last = point.cascade.stages[point.last_stage]
            rows.append(
                {
                    "cost": point.cost,
                    "score": point.score,
                    "score_se": point.observed_se,
                    "observed": point.observed,
                    "nodes": np.nan,
                    "n_features": point.n_features,
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
        if self.budget == ONE_SE:
            points = self.operating_points_
            least = points["score"].iloc[-1] - points["score_se"].iloc[-1]
            return int(np.flatnonzero(points["score"] >= least)[0])
        return self._chosen(self.budget, None, False)

    def _stages(self, X, which, want):
        # A missing value that is looked at is refused by the caller, whatever is predicted here.
        stage_reader, readers = StageReader(self.models_, np.nan_to_num(X, nan=0.0)), {}
        for index in which:
            point = self.points_[index]
            key = id(point.cascade)
            if key not in readers:
                readers[key] = point.cascade.reader(stage_reader, X)
            stops, predictions = walk(point, readers[key], len(X))
            stage = Stage(self._setting(point), facts={"budget": point.cost})
            stage.output = self._label(predictions)
            if self._n_classes() is not None:
                stage.probabilities = predictions
                stage.estimate = predictions.max(axis=1)
            stage.acquired = readers[key].acquired(stops)
            yield stage

    def _purchases(self, n_samples, stage, ledger):
        blank = self._constant_outcome(n_samples)
        point = self.points_[stage]
        purchases = point.cascade.purchases(
            point, self.models_, blank, self._label, self.n_features_in_
        )
        return (yield from purchases.requests(ledger))
