"""Predictions of a cascade whose features are asked for when they are needed."""

import numpy as np

from ..base import Request
from ..costs import affords
from .cascade_fitting import StageReader


class CascadePurchases:
    """What n examples bought so far, and how far along the stages they are.

    A value that cannot be had is skipped: from then on a model that takes any known features stands
    in for the stages' models.

    Parameters
    ----------
    candidate : Candidate
        The operating point.
    models : StageModels
        Of its cascade.
    blank : Outcome
        The constant prediction of every example, to be filled in.
    label : callable
        From predictions of shape (n_rows, n_outputs) to labels or numbers of shape (n_rows,).
    n_features : int
        Columns of the table that does not exist.
    """

    def __init__(self, candidate, models, blank, label, n_features):
        self._candidate, self._blank, self._label = candidate, blank, label
        n_samples = blank.answered.size
        self._X = np.full((n_samples, n_features), np.nan)
        self._reader = StageReader(models, self._X)
        self._models = models
        self._stage = np.full(n_samples, -1)  # the last one that was gone through
        self._lacks = np.zeros(n_samples, dtype=bool)

    def requests(self, ledger):
        """Yield the `Request`s of all examples, stage by stage, and return the `Outcome`.

        Parameters
        ----------
        ledger : Ledger
            What each may spend: no stage is begun that the cap does not pay to its end.

        Yields
        ------
        Request
        """
        candidate = self._candidate
        last = candidate.last_stage
        if ledger.capped:
            affordable = affords(ledger.max_cost, candidate.cascade.costs)
            last = min(last, int(affordable.sum()) - 1)
        rows, n_bought = np.arange(self._stage.size), 0
        for stage in range(last + 1):
            features = candidate.cascade.stages[stage]
            for feature in features[n_bought:]:
                answer = yield Request(rows, feature, self.outcome)
                self._X[rows, feature] = np.where(answer.refused, np.nan, answer.values)
                self._lacks[rows] |= answer.refused
            self._stage[rows], n_bought = stage, len(features)
            if stage < last:
                rows = rows[~self._stop(stage, rows)]
            if not rows.size:
                break
        return self.outcome()

    def _stop(self, stage, rows):
        """Return which of the rows stop at a stage."""
        threshold = self._candidate.thresholds[stage]
        stop = np.zeros(rows.size, dtype=bool)
        if threshold < np.inf:
            lacks = self._lacks[rows]
            stop[~lacks] = self._confidence(stage, rows[~lacks]) >= threshold
            stop[lacks] = self._confidence_without(stage, rows[lacks]) >= threshold
        return stop

    def _confidence(self, stage, rows):
        if not rows.size:
            return np.zeros(0)
        cascade = self._candidate.cascade
        found = self._reader.predict(cascade, stage, rows)
        return self._reader.confidence(cascade, stage, found, rows)

    def _confidence_without(self, stage, rows):
        """Return how sure the stand-in is; in regression what the stage expects of usual values."""
        if not rows.size:
            return np.zeros(0)
        cascade, X = self._candidate.cascade, self._X[rows]
        if cascade.temperatures is not None:
            return self._models.stand_in.predict(X).max(axis=1)
        reader = StageReader(self._models, np.where(np.isnan(X), self._models.usual, X))
        return reader.confidence(cascade, stage, None, np.arange(rows.size))

    def outcome(self):
        """Return the prediction of each example by what it has.

        Returns
        -------
        Outcome
        """
        without = self._lacks & ~np.isnan(self._X).all(axis=1)
        complete = ~self._lacks & (self._stage >= 0)
        probabilities = self._blank.probabilities
        made = type(self._blank)(
            self._blank.output.copy(),
            None if probabilities is None else probabilities.copy(),
            without | complete,
        )
        for stage in np.unique(self._stage[complete]):
            rows = np.flatnonzero(complete & (self._stage == stage))
            self._fill(made, rows, self._reader.predict(self._candidate.cascade, int(stage), rows))
        if without.any():
            self._fill(made, without, self._models.stand_in.predict(self._X[without]))
        return made

    def _fill(self, made, rows, found):
        made.output[rows] = self._label(found)
        if made.probabilities is not None:
            made.probabilities[rows] = found
