"""`ScheduleCascadeClassifier` and `-Regressor`: acquire stage by stage, stop when confident."""

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, RegressorMixin

from ..msb.search import takes_missing
from ..protocol import BudgetedEstimator, GroupedFit, Outcome, Stage
from ..protocol.checked_data import n_classes_of
from ..protocol.documenting import documented, estimator_class
from ..protocol.operating_points import refuse_unscored
from ..protocol.scoring import refuse_unknown_score, score_outcome, stage_scorer, standard_error
from ..validation import INT32_MAX, ParameterError, check_list, check_number, is_flag
from . import pool
from .dynamic import FORESEEN, BayesTrees, Units, foreseen_trace, foresees_class
from .fixed_order import Answers, Cascade, walk
from .mixture import Mixture, origin_and_unit
from .models import (
    BoostingKind,
    ConstantModel,
    MaskedModel,
    OnDemand,
    StageModels,
    Table,
    as_kind,
    ascending,
    assign_folds,
    judged_folds,
    medians,
    models_between,
)
from .orders import ORDERS, confirmed_share, geometric_stages, nested_stages, ordered_acquisitions

# Most units (stretches of an order) that are hidden in the training examples of the fallback.
MOST_UNITS = 16
# Most units (single acquisitions, or steps of own nested sets) that a dynamic order chooses among.
MOST_FORESEEN = 200
# Most examples used to measure the cost of a dynamic order.
MOST_WALKED = 2_000
# If final trees spend less than this share of what the folds' trees did, their score is unknown.
SURELY_LESS = 0.6
# Fewest folds for the expected change. Models of half of the rows expect other changes than the
# final one, so that thresholds set on them would not keep their costs.
LEAST_FOLDS = 5
ONE_SE = "one_se"
# Smooth models are skipped on large tables, where they are slowest and gain least.
SMOOTH, MOST_SMOOTH_ROWS = ("linear", "kernel"), 20_000
# To favour rare classes, probabilities are divided by these powers of the class shares. Accuracy
# is best with a power of 0, balanced accuracy with about 1, F1 with a value in between.
LEANINGS = (-0.2, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25)


@estimator_class
class ScheduleCascade(GroupedFit, BudgetedEstimator):
    """Acquire features stage by stage, and stop at the first stage that is confident enough.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Cost of each feature; None: 1 each. The members of a cost group are acquired together if
        the group's charge is at least the sum of the prices of the members after the first.
    estimators : sequence of str, classifier or regressor, \
            default=("forest", "boosting", "linear", "kernel")
        Models of each stage, mixed with the weights that minimise the out-of-fold log loss or
        squared error: "forest" (100 trees), "boosting" (at most 240 rounds of trees of 15 leaves;
        from 5,000 examples, also more rounds or larger trees), "linear" (logistic or ridge
        regression), "kernel" (ridge regression on Gaussian kernels), "extra_trees", or any
        scikit-learn regressor, or classifier with `predict_proba`. Linear and kernel models are
        skipped above 20,000 examples if there are others, and kinds without weight at the first and
        last stage at the others.
    orders : sequence of str or nested sets, default=("boosted_path", "schedule")
        Orders of acquisition: "boosted_path" (the order in which boosting with feature costs
        acquires while prices lose weight), "schedule" (msB's removal by importance per price,
        reversed), "gain_per_cost", or a sequence of nested sets of features (names or indices),
        which then are the stages.
    n_stages : int, default=10
        Largest number of stages of an order.
    cv : int, default=5
        Number of folds for out-of-fold predictions. Forests use out-of-bag predictions instead.
        Above 20,000 examples (100,000 in regression), one tenth or so is held out once instead.
    dynamic : bool or "auto", default="auto"
        Whether each example chooses its next feature by the expected gain per price. False: all
        examples follow fixed orders. True: only the dynamic order is used. "auto": a dynamic order
        competes with the fixed ones out of fold, if the naive Bayes tree behind it, which is fast
        to fit, predicts the class nearly as well as they do. There is none in regression, and above
        20,000 examples or 200 features.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which operating points are chosen out of fold. Labels favour
        rare classes where that increases the score. None: expected accuracy or R².
    budget : float or "one_se", default=None
        Mean cost that `predict` keeps when it is called without a budget. None: the best operating
        point; "one_se": the cheapest one within one standard error of the best.
    verbose : bool, default=False
        Whether `fit` prints its progress.

    Attributes
    ----------
    points_ : list of Candidate
        The operating points with stages and thresholds.
    models_ : StageModels
        The models of the stages.
    """

    _groups = True
    _takes_sparse = True
    _spends_caps = True
    # In regression, models predict (target - origin) / unit.
    _origin, _unit = 0.0, 1.0

    estimators: Any = ("forest", "boosting", "linear", "kernel")
    orders: Any = ("boosted_path", "schedule")
    n_stages: int = 10
    cv: int = 5
    dynamic: Any = "auto"
    scoring: Any = None
    budget: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool = False

    @property
    def _only_dynamic(self):
        """True if only a dynamic order is used, without fixed ones as competitors."""
        return is_flag(self.dynamic) and bool(self.dynamic)

    def _label(self, predictions, leaning=None):
        """Return labels of probabilities multiplied by `leaning`, (n_classes,), or numbers."""
        if not isinstance(self, ClassifierMixin):
            return predictions[:, 0] * self._unit + self._origin
        if leaning is not None:
            predictions = predictions * leaning
        return self.classes_[predictions.argmax(axis=1)]

    @property
    def _takes_missing(self):
        # All models with a name accept missing values.
        return all(not hasattr(each, "fit") or takes_missing(each) for each in self._members())

    def _members(self):
        """Return the kinds of models as a list, each a name or an estimator."""
        one = isinstance(self.estimators, str) or hasattr(self.estimators, "fit")
        return [self.estimators] if one else check_list(self.estimators, "estimators")

    def _fit(self, train, valid, seeds):
        self._check_parameters(len(train.y))
        seed = int(seeds.randint(INT32_MAX))
        n_classes = n_classes_of(self)
        random, groups = np.random.RandomState(seed), train.groups
        folds = judged_folds(train.y, n_classes, self.cv, random, groups)
        # Class weights affect learning and choices; mean costs use the sample weights alone.
        weight, counted = train.weighed_for(self).weight, train.weight
        if n_classes is None:
            self._origin, self._unit = origin_and_unit(train.y)
            train = replace(train, y=(train.y - self._origin) / self._unit)
        table = Table(train.X, train.y, n_classes, folds, weight, counted, train.given, groups)
        kinds = self._kinds(n_classes, len(train.y))
        # Out-of-bag predictions are optimistic if rows of the same group are in the bag.
        if train.n_groups < 0.9 * len(train.y) and len(kinds) > 1:
            kinds.pop("forest", None)
        if "boosting" in kinds:
            kinds["boosting"] = BoostingKind.chosen(table)
        orders, units = self._stages_of_orders(table, seed)
        if self._only_dynamic:  # the last stage of each order is enough for the reference
            orders = {name: stages[-1:] for name, stages in orders.items()}
        sets = [features for stages in orders.values() for features in stages]
        self._say(f"fitting {', '.join(kinds)} on {len(set(map(frozenset, sets)))} sets")
        ends = [end for stages in orders.values() for end in (stages[0], stages[-1])]
        models = self._models(table, ends, sets, kinds, seed)
        models.medians = medians(table.X)
        self._errors = {}  # by id of a cascade: function that measures a score's standard error
        entries = self._pool(orders, units, table, models, seed)
        entries = self._at_own_cost(entries, table.judged)
        # A cap may select a candidate that is not optimal for any mean budget.
        stop_all = [each for each in entries if np.isnan(each.tradeoff)]
        self._routes = [each for each in stop_all if each.n_features > 0]
        front = pool.best_at_each_cost(entries, self._score_unit(entries))
        cascades = [each.cascade for each in (*self._routes, *front) if not each.cascade.dynamic]
        models.between = models_between(table, kinds, seed, cascades)
        # Each error takes a hundred scores, so measure it for operating points only.
        errors = vars(self).pop("_errors")
        if self.scoring is not None:
            front = [replace(p, observed_se=errors[id(p.cascade)](p)) for p in front]
        else:  # the first entry is the constant
            front = pool.with_corrections(front, entries[0].score)
        self._set_points(front, models.only(cascades))

    def _models(self, table, ends, sets, kinds, seed):
        """Return the models of all sets; those between the ends only of kinds with weight there."""
        models = StageModels.fit(table, ends, kinds, seed, self.n_jobs)
        judged = table.judged
        wanted = {kind for features in ends for kind in models.mixture(features, judged).kinds}
        kept = {name: kind for name, kind in kinds.items() if name in wanted}
        done = {ascending(features) for features in ends}
        rest = [features for features in sets if ascending(features) not in done]
        between = StageModels.fit(table, rest, kept, seed, self.n_jobs)
        return StageModels(models.models | between.models, models.held_out | between.held_out)

    def _pool(self, orders, units, table, models, seed):
        """Return the constant, and the candidates of all traces with a higher expected score."""
        judged = table.judged
        fixed = traces = [
            self._trace(name, stages, judged, models).calibrated(judged)
            for name, stages in orders.items()
        ]
        # All orders share one reference, so that their losses are comparable.
        last = (each.predictions[-1] for each in traces)
        reference = min(last, key=lambda found: judged.mean(judged.losses(found)))
        fallback_units, dynamic_units = units
        models.fallback_model = OnDemand(partial(MaskedModel.fit, table, fallback_units, seed))
        if self.dynamic:
            rivals = [] if self._only_dynamic else traces
            foreseen, reference = self._foreseen(dynamic_units, table, reference, rivals, seed)
            traces = [*rivals, *foreseen]
        self._say("the share of the gain that is not chance")
        share = confirmed_share(table, self.feature_costs_, fixed, reference, seed, self.n_jobs)
        stages = (stage for each in traces for stage in each.predictions)
        reference = pool.best_informed(judged, reference, stages, share)
        if table.n_classes is None:
            reference = pool.calibrated_numbers(reference, judged)
        entries = []
        for trace in traces:
            self._say(f"the points of {trace.order.name}")
            evidence = self._evidence(trace, reference, judged, models, seed)
            found = pool.candidates(evidence, self.feature_costs_.full)
            # Points between the steps of a dynamic order would hardly keep their budgets.
            if not trace.order.dynamic:
                found += pool.between(found, evidence, self.feature_costs_.full)
            entries += self._scored(found, evidence, leans=table.n_classes is not None)
        if str(self.scoring).startswith("roc_auc"):
            # The log loss gained grows with the square of how far classes are apart, the area
            # under the ROC curve with the distance itself.
            share **= 0.5
        constant = self._constant(reference, judged, models, seed)
        return pool.above_constant(entries, constant, share, self._score_unit([constant, *entries]))

    def _at_own_cost(self, entries, table):
        """Return the candidates, those of the dynamic order with the cost of its final trees."""
        # Trees of the folds learn from fewer examples and so acquire more, by a quarter on small
        # tables. To the simple final trees, training examples cost the same as new ones. A point
        # keeps its cost if another order scores as much for clearly less.
        table = table.thinned(MOST_WALKED)
        reader_of = cache(lambda order: order.reader(None, table.X, None))
        others = pool.best_at_each_cost([each for each in entries if each.cascade.name != FORESEEN])

        def own_cost(point):
            less = [each for each in others if each.cost <= SURELY_LESS * point.cost]
            if less and less[-1].score >= point.score:
                return point
            reader = reader_of(point.cascade)
            acquired = reader.acquired(walk(point, reader, len(table.X))[0])
            paid, n_acquired = self.feature_costs_.total(acquired), acquired.sum(axis=1)
            own = pool.cost_of_rows(paid, n_acquired, table.counted, table.groups)
            # The out-of-fold score does not hold for a walk that acquires far less: it gets that of
            # the constant, the first entry.
            score = point.score if own["cost"] >= SURELY_LESS * point.cost else entries[0].score
            return replace(point, score=score, **own)

        return [own_cost(each) if each.cascade.name == FORESEEN else each for each in entries]

    def _foreseen(self, units, table, reference, rivals, seed):
        """Return the traces of a dynamic order, if any, and the predictions from all features."""
        few = len(table.y) <= MOST_SMOOTH_ROWS and units.n_units <= MOST_FORESEEN
        if table.n_classes is None or not few:
            if self._only_dynamic:
                raise ParameterError(
                    f"dynamic=True needs classes, at most {MOST_SMOOTH_ROWS:,} examples, and at "
                    f"most {MOST_FORESEEN} features; set dynamic='auto', or False."
                )
            return [], reference
        self._say("whether naive Bayes trees predict the class well enough")
        trees = BayesTrees(table, seed)
        if not self._only_dynamic and not foresees_class(table, reference, trees):
            return [], reference
        self._say("the dynamic order")
        found = foreseen_trace(table, units, trees, rivals, self.n_jobs)
        if found is None:
            return [], reference
        trace, foreseen = found
        # Both use all features, so their mixture favours no order.
        informed = {"fixed": reference, "foreseen": foreseen}
        mixture = Mixture.fit(informed, table.y, table.n_classes, table.weight)
        return [trace.calibrated(table)], mixture.of([informed[kind] for kind in mixture.kinds])

    def _trace(self, name, stages, table, models):
        """Return the out-of-fold predictions of an order's stages."""
        costs = np.array([self.feature_costs_.subset(list(each)) for each in stages])
        mixtures = tuple(models.mixture(features, table) for features in stages)
        order = Cascade(name, tuple(stages), costs, mixtures, None)
        held_out = models.held_out_stages(stages, mixtures)
        return pool.Trace(order, held_out, costs[:, None], order.sizes[:, None])

    def _evidence(self, trace, reference, table, models, seed):
        """Return the `Evidence` of a trace, with losses relative to a reference."""
        if table.n_classes is not None:
            evidence = pool.class_evidence(trace, table, reference)
        else:
            squares = ((reference - trace.predictions) ** 2)[:, :, 0]
            changes = _changes(trace.order, squares, table, models, seed)
            evidence = pool.number_evidence(trace, changes, table, reference[:, 0])
        if trace.order.dynamic:
            return evidence
        reader = trace.order.reader(models, table.X, Answers(len(table.y)))

        def final(stage, rows):
            return reader.confidence(stage, reader.predict(stage, rows), rows)

        stages, X = trace.order.stages, table.without_gaps
        settled = pool.settled_in_cells(evidence.confidence, stages, X, final)
        return replace(evidence, confidence=settled)

    def _constant(self, reference, table, models, seed):
        """Return the candidate that acquires nothing: a cascade of one stage without features."""
        constant = (self.constant_ - self._origin) / self._unit
        models.models["constant", ()] = ConstantModel(constant)
        predictions = np.tile(constant, (1, len(table.y), 1))
        free = np.zeros((1, 1))
        ones = None if table.n_classes is None else np.ones(1)
        mixture = Mixture(("constant",), np.ones(1), ones)
        order = Cascade("constant", ((),), free[0], (mixture,), ones)
        trace = pool.Trace(order, predictions, free, free)
        evidence = self._evidence(trace, reference, table, models, seed)
        found = pool.candidates(evidence, self.feature_costs_.full)[-1:]  # one stage: all alike
        if table.n_classes is None:
            found = [replace(found[0], observed_se=table.error_of_mean())]
        return self._scored(found, evidence)[0]

    def _scored(self, found, evidence, leans=False):
        """Return candidates scored by `scoring`, or unchanged without it."""
        if self.scoring is None:
            return found
        table, classifies = evidence.table, evidence.table.n_classes is not None
        targets = self.classes_[table.y] if classifies else self._label(table.y[:, None])
        leanings = [None]
        if leans:  # each candidate favours rare classes by the power with the best score
            shares = np.bincount(table.y, minlength=table.n_classes) / len(table.y)
            leanings += [np.maximum(shares, pool.ROUNDING) ** -power for power in LEANINGS]

        def made(point, leaning):
            stops = pool.exit_stages(evidence.confidence, point.thresholds)
            found = evidence.trace.predictions[stops, np.arange(stops.size)]
            return Stage({}, self._label(found, leaning), found if classifies else None)

        def scored(point):
            scores = [
                score_outcome(self, self.scoring, made(point, leaning), targets, table.counted)
                for leaning in leanings
            ]
            # The first of equal ones: scores of probabilities do not depend on the leaning.
            best = int(np.argmax(scores))
            return replace(point, score=scores[best], observed=scores[best], leaning=leanings[best])

        def error(point):
            score = stage_scorer(self, self.scoring, made(point, point.leaning), targets)
            return standard_error(score, len(targets), table.counted, table.groups)

        found = [scored(each) for each in found]
        refuse_unscored(pd.DataFrame({"score": [each.score for each in found]}), len(table.y))
        self._errors.update((id(each.cascade), error) for each in found)
        return found

    def _score_unit(self, entries):
        """Return the size of the scores of candidates: some are in the unit of the targets."""
        if self.scoring is None or n_classes_of(self) is not None:
            return 1.0
        return max(abs(each.score) for each in entries) or 1.0

    def _check_parameters(self, n_samples):
        check_number(self.n_stages, "n_stages", low=2, integer=True)
        check_number(self.cv, "cv", low=2, integer=True)
        refuse_unknown_score(self)
        if not (isinstance(self.budget, str) and self.budget == ONE_SE):
            check_number(self.budget, "budget", low=0, none=True)
        if not is_flag(self.dynamic) and str(self.dynamic) != "auto":
            raise ParameterError(f"dynamic must be True, False or 'auto', got {self.dynamic!r}.")
        if n_samples < 2 * self.cv:
            wanted = f"cv={self.cv} folds need at least {2 * self.cv} examples"
            raise ParameterError(f"{wanted}, got n_samples={n_samples}. Give more, or lower cv.")

    def _say(self, what):
        if self.verbose:
            print(f"[{type(self).__name__}] {what}", flush=True)

    def _kinds(self, n_classes, n_samples):
        """Return the kinds to fit, by name: no smooth ones on large tables, unless all are."""
        names = [
            each if isinstance(each, str) else f"{type(each).__name__} {place}"
            for place, each in enumerate(self._members())
        ]
        if len(set(names)) < len(names):
            raise ParameterError(f"estimators must name distinct models, got {names}.")
        kinds = (as_kind(each, n_classes) for each in self._members())
        kinds = dict(zip(names, kinds, strict=True))
        few = {name: kind for name, kind in kinds.items() if name not in SMOOTH}
        return few if few and n_samples > MOST_SMOOTH_ROWS else kinds

    def _stages_of_orders(self, table, seed):
        """Return the distinct stages of each order by name, and the units of the first order."""
        # The units are a pair: stretches of the order for the fallback, and single acquisitions.
        orders = [self.orders] if isinstance(self.orders, str) else self.orders
        orders = check_list(orders, "orders")
        costs, found, units = self.feature_costs_, {}, None
        for place, order in enumerate(orders):
            name = order if isinstance(order, str) else f"own {place}"
            self._say(f"order {name}")
            sets = order if np.iterable(order) and not isinstance(order, str) else ()
            if len(sets) and all(np.iterable(each) and not isinstance(each, str) for each in sets):
                stages = parts = nested_stages(self._indices(order), costs.n_features)
                singles = Units.of_stages(parts, costs)
            elif isinstance(order, str) and order in ORDERS:
                acquisitions = ordered_acquisitions(order, table, costs, seed, self.n_jobs)
                stages = geometric_stages(acquisitions, costs, self.n_stages)
                parts = geometric_stages(acquisitions, costs, MOST_UNITS)
                singles = Units(tuple(acquisitions), costs)
            else:
                wanted = f"names from {[*ORDERS]} or nested lists of features"
                raise ParameterError(f"orders must hold {wanted}, got {order!r}.")
            # The fallback and a dynamic order need one set of units: that of the first order.
            units = units or (Units.of_stages(parts, costs), singles)
            if stages not in found.values():
                found[name] = stages
        return found, units

    def _indices(self, sets):
        """Return nested sets with each name replaced by its feature's index."""
        place = {name: k for k, name in enumerate(self.feature_costs_.names or ())}
        # A number is an index, unless some columns have numbers as names.
        numbered = not all(isinstance(name, str) for name in place)
        named = {f for one in sets for f in one if numbered or isinstance(f, str)}
        unknown = sorted(map(str, named - set(place)))
        if unknown:
            raise ParameterError(f"the nested sets name unknown features: {', '.join(unknown)}.")
        return [[place.get(f, f) for f in one] for one in sets]

    def _set_points(self, front, models):
        self.points_, self.models_ = front, models
        names = np.array(self.feature_costs_.labels, dtype=object)
        self.operating_points_ = pd.DataFrame(
            {
                "cost": each.cost,
                "cost_se": each.cost_se,
                "score": each.score,
                "score_se": each.observed_se,
                "observed": each.observed,
                "nodes": np.nan,
                "n_features": each.n_features,
                "setting": self._setting(each),
                "variables": tuple(names[list(each.cascade.stages[each.last_stage])]),
            }
            for each in front
        )

    @staticmethod
    def _setting(point):
        exits = point.thresholds < np.inf
        return {"order": point.cascade.name, "tradeoff": point.tradeoff, "exits": int(exits.sum())}

    @property
    def n_stages_(self):
        """Number of operating points."""
        return len(self.points_)

    def _most_costs(self):
        full = self.feature_costs_.full
        ends = [(each.cascade, each.last_stage) for each in self.points_]
        return np.array([full if one.dynamic else one.costs[stage] for one, stage in ends])

    def _default_stage(self):
        if self.budget is None:
            return self.n_stages_ - 1
        if self.budget == ONE_SE:
            points = self.operating_points_
            least = points["score"].iloc[-1] - points["score_se"].iloc[-1]
            return int(np.flatnonzero(points["score"] >= least)[0])
        return self.choose(self.budget)

    def _stages(self, X, which, want):
        # Any number may replace unexpected missing values, as the caller refuses them. Expected
        # ones stay NaN.
        refused = np.isnan(X) & ~self.missing_in_training_
        answers, readers, zeroed = Answers(len(X)), {}, np.where(refused, 0.0, X)
        for index in which:
            point = self.points_[index]
            # Points of one cascade share a reader, which caches the predictions of its models.
            key = id(point.cascade)
            if key not in readers:
                table = X if point.cascade.dynamic else zeroed
                readers[key] = point.cascade.reader(self.models_, table, answers)
            stops, predictions = walk(point, readers[key], len(X))
            stage = Stage(self._setting(point), facts={"budget": point.cost})
            stage.output = self._label(predictions, point.leaning)
            if isinstance(self, ClassifierMixin):
                stage.probabilities = predictions
                chosen = np.searchsorted(self.classes_, stage.output)
                stage.estimate = predictions[np.arange(len(X)), chosen]
            if "acquired" in want:
                stage.acquired = readers[key].acquired(stops)
            yield stage

    def _acquisitions(self, n_samples, stage, ledger):
        blank = Outcome.constant(self, n_samples)
        point = self.points_[stage]
        if ledger.max_cost < np.inf:
            point = pool.under_cap(point, self._routes, ledger.costs, ledger.max_cost)
        label = partial(self._label, leaning=point.leaning)
        acquisitions = point.cascade.acquisitions(point, self.models_, blank, label)
        return (yield from acquisitions.requests(ledger))


def _changes(cascade, squares, table, models, seed):
    """Fit models of the change at each stage but the last; return their out-of-fold predictions."""
    changes, name = np.zeros(squares.shape), cascade.change_kind
    n_folds = LEAST_FOLDS if table.folds is None else max(LEAST_FOLDS, table.folds.max() + 1)
    random = np.random.RandomState(seed)
    folds = assign_folds(table.y, None, n_folds, random, table.groups)  # with few folds, others
    for stage, features in enumerate(cascade.stages[:-1]):
        about = Table(table.X, squares[stage] / table.variance, None, folds, table.weight)
        one = StageModels.fit(about, [features], {name: as_kind("boosting", None)}, seed)
        models.models.update(one.models)
        changes[stage] = one.held_out[name, ascending(features)][:, 0]
    return changes


@estimator_class
class ScheduleCascadeClassifier(ClassifierMixin, ScheduleCascade):
    """Acquire features stage by stage, and stop at the first stage confident of the class.

    An order of acquisition (msB's idea: nested sets of variables, cheap to expensive) is cut into
    stages of geometrically growing cost. Each stage has models on all features acquired so far. An
    example stops at the first stage whose confidence reaches its threshold (FMCC's idea).

    The thresholds minimise loss + λ · cost, for 40 values of λ. Of these, points between them, and
    "always stop at stage s", for all orders, the operating points are those with a higher score
    than all cheaper ones. All choices use out-of-fold predictions, and the final models are fitted
    on all data.

    Attributes
    ----------
    operating_points_ : DataFrame
        Cost, expected `score`, its standard error and the `observed` accuracy of each operating
        point, all out of fold, so not optimistic as scores on the training data would be.

    Notes
    -----
    Validation data given to `fit` are used for training like the rest, because all choices are
    made out of fold. Operating points are compared by their expected score: the accuracy of the
    best-informed stage, minus the calibrated probability that, according to this stage, is lost by
    the labels of the point. This varies less by chance than the observed accuracy. `score` also
    counts what true labels add to it, as far as this is not chance. Sample and class weights
    affect these scores; mean costs use sample weights alone.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.cascade import ScheduleCascadeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> cascade = ScheduleCascadeClassifier(
    ...     feature_costs=range(1, 14), estimators="forest", random_state=0
    ... )
    >>> cascade = cascade.fit(X, y)
    >>> bool(cascade.acquisition_cost(X, budget=20).mean() < 25)
    True
    """

    class_weight: Any = None


@documented
class ScheduleCascadeRegressor(RegressorMixin, ScheduleCascade):
    """Acquire features stage by stage, and stop when more would hardly change the prediction.

    The cascade of `ScheduleCascadeClassifier` for regression. At each stage, boosted trees on the
    features acquired so far predict how far the prediction is from that of the best-informed stage,
    as a squared difference in units of the target's variance. An example stops where that is below
    the threshold.

    Attributes
    ----------
    operating_points_ : DataFrame
        Cost, expected R² (`score`), standard error and `observed` R² of each point, out of fold.
    """
