"""Predictions of a cascade whose features are asked for when they are needed."""

import numpy as np

from ..base import Request
from ..costs import affords
from .cascade_fitting import StageReader


class CascadePurchases:
    """What n examples bought so far, and how far along the stages they are.

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
        self._X = np.zeros((n_samples, n_features))
        self._reader = StageReader(models, self._X)
        self._complete = np.full(n_samples, -1)  # last stage whose features are all there

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
        rows, n_bought = np.arange(self._complete.size), 0
        for stage in range(last + 1):
            features = candidate.cascade.stages[stage]
            for feature in features[n_bought:]:
                if not rows.size:
                    return self.outcome()
                answer = yield Request(rows, feature, self.outcome)
                self._X[rows, feature] = answer.values
                rows = rows[~answer.refused]
            self._complete[rows], n_bought = stage, len(features)
            if stage < last:
                rows = rows[~self._stop(stage, rows)]
        return self.outcome()

    def _stop(self, stage, rows):
        """Return which of the rows stop at a stage."""
        threshold = self._candidate.thresholds[stage]
        if threshold == np.inf or not rows.size:
            return np.zeros(rows.size, dtype=bool)
        cascade = self._candidate.cascade
        found = self._reader.predict(cascade, stage, rows)
        return self._reader.confidence(cascade, stage, found, rows) >= threshold

    def outcome(self):
        """Return the prediction of each example by the last stage whose features it has.

        Returns
        -------
        Outcome
        """
        made = type(self._blank)(
            self._blank.output.copy(), _copied(self._blank.probabilities), self._complete >= 0
        )
        for stage in np.unique(self._complete[made.answered]):
            rows = np.flatnonzero(self._complete == stage)
            found = self._reader.predict(self._candidate.cascade, int(stage), rows)
            made.output[rows] = self._label(found)
            if made.probabilities is not None:
                made.probabilities[rows] = found
        return made


def _copied(array):
    return None if array is None else array.copy()
