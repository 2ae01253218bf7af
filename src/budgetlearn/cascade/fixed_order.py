"""A cascade as a fixed order cut into stages: its predictions and its feature requests."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..costs import affords
from ..protocol import Request
from .mixture import with_temperature
from .models import ascending, filled


@dataclass(frozen=True, eq=False)
class Cascade:
    """One order of acquisition with the models of its stages."""

    name: str
    stages: tuple  # tuples of int: features acquired up to each stage, in the order of acquisition
    costs: np.ndarray  # (n_stages,): acquisition cost up to each stage
    mixtures: tuple  # the `Mixture` of each stage
    temperatures: np.ndarray | None  # (n_stages,): of the mixed probabilities; None in regression
    dynamic = False

    @property
    def change_kind(self):
        """Name of the models that, in regression, predict the change to the best-informed stage."""
        return f"change by {self.name}"

    @property
    def sizes(self):
        """Number of features acquired up to each stage."""
        return np.array([len(features) for features in self.stages])

    @cached_property
    def known(self):
        """The features of each stage in ascending order, as in the keys of models."""
        return list(map(ascending, self.stages))

    def model_keys(self):
        """Return (kind, ascending features) of every model that the stages may use."""
        more = () if self.temperatures is not None else (self.change_kind,)
        pairs = zip(self.known, self.mixtures, strict=True)
        return [(kind, known) for known, each in pairs for kind in (*each.kinds, *more)]

    def mixtures_between(self, most, least):
        """Return the mixtures of prefixes that end between two stages, by ascending features.

        They have up to `most` features, and the next stage's kinds of weight `least` or more.
        """
        return {
            ascending(features[:n]): mixture.heaviest(least)
            for features, before, mixture in zip(
                self.stages[1:], self.sizes, self.mixtures[1:], strict=False
            )
            for n in range(before + 1, min(len(features), most + 1))
        }

    def paid_beyond(self, stage, costs, cap):
        """Return the features of the next stage that a cap pays for, if it cannot pay for all.

        Each comes with the share of the next stage's additional cost that is paid up to it.
        """
        features, (start, end) = self.stages[stage + 1], self.costs[stage : stage + 2]
        lengths = range(len(self.stages[stage]) + 1, len(features))
        totals = [(features[n - 1], costs.subset(list(features[:n]))) for n in lengths]
        return [(f, (total - start) / (end - start)) for f, total in totals if affords(cap, total)]

    def reader(self, models, X, answers):
        """Return a reader of predictions for the rows of X; cascades may share the answers."""
        return CascadeReader(self, models, X, answers)

    def acquisitions(self, point, models, blank, label):
        """Return the acquisitions of a prediction that requests features one at a time."""
        return CascadeAcquisitions(point, models, blank, label)


class Answers:
    """Cache of the predictions of models for the rows of one table."""

    def __init__(self, n_rows):
        self._n_rows = n_rows
        self._known = {}  # key of a model -> (mask of rows, predictions)

    def of(self, key, rows, ask):
        """Return a model's predictions for some rows; `ask(rows)` computes missing ones."""
        if self._n_rows == 1:  # without masks, which would take as long as the model
            if key not in self._known:
                self._known[key] = ask(rows)
            return self._known[key]
        asked, answers = self._known.get(key) or (np.zeros(self._n_rows, dtype=bool), None)
        fresh = rows[~asked[rows]]
        if fresh.size:
            found = ask(fresh)
            if answers is None:
                answers = np.empty((self._n_rows, found.shape[1]))
                self._known[key] = asked, answers
            answers[fresh], asked[fresh] = found, True
        return answers[rows]


class Reader:
    """Predictions of a `Cascade` or a `DynamicOrder` for the rows of one table, stage by stage.

    Subclasses define `raw`, the predictions before calibration, and for regression `remaining`,
    the expected loss of stopping.
    """

    def __init__(self, order, X, answers):
        self.order, self._X, self._answers = order, X, answers

    def predict(self, stage, rows):
        """Return calibrated probabilities, or numbers, of some rows at a stage."""
        found = self.raw(stage, rows)
        if self.order.temperatures is None:
            return found
        return with_temperature(found, self.order.temperatures[stage])

    def confidence(self, stage, predictions, rows):
        """Return the largest probability; in regression, minus the expected loss."""
        if self.order.temperatures is not None:
            return np.maximum.reduce(predictions, axis=1)
        return -self.remaining(stage, rows)


class CascadeReader(Reader):
    """A reader that reads only the features of a stage, in the rows of X that reach it."""

    def __init__(self, cascade, models, X, answers):
        super().__init__(cascade, X, answers)
        self._models = models.models

    def raw(self, stage, rows):
        """Return the mixed predictions of a stage's models, (n_rows, n_outputs)."""
        mixture, features = self.order.mixtures[stage], self.order.known[stage]

        def mixed(X):
            return mixture.of([self._models[kind, features].predict(X) for kind in mixture.kinds])

        # The same features have the same mixture in every order, so orders share the cache.
        return self._ask(features, features, mixed, rows)

    def remaining(self, stage, rows):
        """Return the expected squared change up to the best-informed stage, (n_rows,)."""
        key = self.order.change_kind, self.order.known[stage]
        return self._ask(key, key[1], self._models[key].predict, rows)[:, 0]

    def _ask(self, key, features, predict, rows):
        def ask(fresh):
            # Models get the stage's columns only, so they cannot use any other.
            columns = np.array(features, dtype=np.intp)
            return predict(np.ascontiguousarray(self._X[fresh[:, None], columns]))

        return self._answers.of(key, rows, ask)

    def acquired(self, stops):
        """Return the mask of the features acquired by each example's last stage."""
        # Stopping at stage s acquires all of its features, even those that no model uses.
        masks = np.zeros((len(self.order.stages), self._X.shape[1]), dtype=bool)
        for mask, features in zip(masks, self.order.stages, strict=True):
            mask[list(features)] = True
        return masks[stops]


def walk(candidate, reader, n_samples):
    """Send examples through the stages of a `Candidate` until each one stops.

    `reader` is the cascade's `CascadeReader` or `DynamicReader`. Returns the stage at which each
    example stops, and the predictions of that stage, (n_samples, n_outputs).
    """
    stops = np.zeros(n_samples, dtype=np.intp)
    predictions = None
    rows = np.arange(n_samples)
    for stage, threshold in enumerate(candidate.thresholds):
        # No example stops here, so the stage's models are not needed.
        if threshold == np.inf:
            continue
        found = reader.predict(stage, rows)
        if predictions is None:
            predictions = np.empty((n_samples, found.shape[1]))
        stop = np.ones(rows.size, dtype=bool)
        if threshold > -np.inf:
            stop = reader.confidence(stage, found, rows) >= threshold
            if not np.logical_or.reduce(stop):
                continue
        stops[rows[stop]], predictions[rows[stop]] = stage, found[stop]
        rows = rows[~stop]
        if not rows.size:
            break
    return stops, predictions


class Acquisitions:
    """The features that examples have acquired so far at one operating point, by requests.

    Subclasses define `_confidence` of a stage for some rows and the `outcome` of all rows. `blank`
    is the `Outcome` with the constant prediction of every example, to be filled in. `label` turns
    predictions, (n_rows, n_outputs), into labels or numbers, (n_rows,).
    """

    def __init__(self, point, blank, label, X):
        self._point, self._blank, self._label = point, blank, label
        self._X = X  # (n_samples, n_features): NaN where a value is unknown

    def _ask(self, rows, feature):
        """Request a feature and store its values; return the mask of refusals, (n_rows,)."""
        answer = yield Request(rows, feature, self.outcome)
        self._X[rows, feature] = np.where(answer.refused, np.nan, answer.values)
        return answer.refused

    def _going(self, stage, rows):
        """Return the rows that continue from a stage to the next one."""
        threshold = self._point.thresholds[stage]
        if stage == self._point.last_stage or threshold == np.inf or not rows.size:
            return rows
        return rows[~(self._confidence(stage, rows) >= threshold)]

    def _filled(self, parts):
        """Return the outcome for pairs of rows and predictions; other rows keep the constant."""
        outcome = deepcopy(self._blank)
        for rows, found in parts:
            outcome.fill(rows, self._label(found), found)
        return outcome


class CascadeAcquisitions(Acquisitions):
    """Predictions by a fixed order that requests features stage by stage.

    After a refused value, a model that accepts any known features replaces the stages' models.
    """

    def __init__(self, point, models, blank, label):
        n_samples = blank.answered.size
        super().__init__(point, blank, label, np.full((n_samples, models.medians.size), np.nan))
        self._cascade, self._models = point.cascade, models
        self._reader = CascadeReader(self._cascade, models, self._X, Answers(n_samples))
        self._stage = np.full(n_samples, -1)  # the last completed stage
        # Examples with some features of a stage that the cap cannot fully pay for; the number of
        # these features, and their share of the stage's cost.
        self._further, self._n_beyond, self._share = np.empty(0, dtype=np.intp), 0, 0.0
        self._lacks = np.zeros(n_samples, dtype=bool)

    def requests(self, ledger):
        """Yield the `Request`s of all examples, stage by stage, and return the `Outcome`."""
        # Costs ascend, so the cap pays for the first stages.
        n_payable = int(affords(ledger.max_cost, self._cascade.costs).sum())
        last = min(self._point.last_stage, n_payable - 1)
        rows, n_acquired = np.arange(self._stage.size), 0
        for stage in range(last + 1):
            features = self._cascade.stages[stage]
            # A stage starts with the features of the earlier stages.
            for feature in features[n_acquired:]:
                # The stages' models need every feature, so a refusal rules them out.
                self._lacks[rows] |= yield from self._ask(rows, feature)
            self._stage[rows], n_acquired = stage, len(features)
            rows = self._going(stage, rows)
            if not rows.size:
                break
        if rows.size and 0 <= last < self._point.last_stage:
            # Spend what is left of the cap on the first features of the next stage.
            for feature, share in self._cascade.paid_beyond(last, ledger.costs, ledger.max_cost):
                self._lacks[rows] |= yield from self._ask(rows, feature)
                self._further, self._n_beyond, self._share = rows, self._n_beyond + 1, share
        return self.outcome()

    def _confidence(self, stage, rows):
        found, lacks = np.empty(rows.size), self._lacks[rows]
        # The fallback uses the same threshold, so that a refusal does not stop an example sooner.
        if lacks.any():
            found[lacks] = self._confidence_without(stage, rows[lacks])
        if not lacks.all():
            known, reader = rows[~lacks], self._reader
            found[~lacks] = reader.confidence(stage, reader.predict(stage, known), known)
        return found

    def _confidence_without(self, stage, rows):
        """Return the fallback's confidence; in regression, the stage's with medians for gaps."""
        X = self._X[rows]
        if self._cascade.temperatures is not None:
            return self._models.fallback_model.predict(X).max(axis=1)
        X = filled(X, self._models.medians)
        reader = CascadeReader(self._cascade, self._models, X, Answers(rows.size))
        return -reader.remaining(stage, np.arange(rows.size))

    def outcome(self):
        """Return the prediction of each example from its known values."""
        # Examples without a single value keep the constant.
        without = self._lacks & ~np.isnan(self._X).all(axis=1)
        complete = ~self._lacks & (self._stage >= 0)
        parts = []
        for stage in np.unique(self._stage[complete]):
            rows = np.flatnonzero(complete & (self._stage == stage))
            parts.append((rows, self._reader.predict(int(stage), rows)))
        # These replace the predictions of the stage.
        further = self._further[complete[self._further]]
        if further.size:
            parts.append((further, self._beyond_stage(further)))
        if without.any():
            parts.append((without, self._models.fallback_model.predict(self._X[without])))
        return self._filled(parts)

    def _beyond_stage(self, rows):
        """Return the predictions of rows that have acquired a part of the next stage."""
        stage = self._stage[rows[0]]  # all rows have the same stage and the same extra features
        n_known = len(self._cascade.stages[stage]) + self._n_beyond
        features = ascending(self._cascade.stages[stage + 1][:n_known])
        # Without models for these features, the stage's models, which are better, are mixed with
        # the fallback, which knows more; its weight is the share of the next stage that is paid.
        if features not in self._models.between:
            fallback = self._models.fallback_model.predict(self._X[rows])
            return (1 - self._share) * self._reader.predict(stage, rows) + self._share * fallback
        mixture, models = self._models.between[features]
        known = np.ascontiguousarray(self._X[rows[:, None], list(features)])
        exact = mixture.of([model.predict(known) for model in models])
        if self._cascade.temperatures is None:
            return exact
        return with_temperature(exact, self._cascade.temperatures[stage + 1])
