"""Acquisitions of stages that look at the same features of every example."""

import numpy as np

from ..costs import affords
from .examples import working_dtype
from .operating_points import known_points
from .requests import Outcome, Request


class FixedFeatures:
    """Values known of n examples, and the stages that can still predict them.

    `stage` is the one to predict with; cheaper ones stand in where a feature cannot be had.
    """

    def __init__(self, estimator, n_samples, stage):
        self.estimator, self.n_samples = estimator, n_samples
        shape = (n_samples, estimator.n_features_in_)
        # By column, as they are filled.
        self.X = np.full(shape, np.nan, dtype=np.float64, order="F")
        self.known = np.zeros(shape, dtype=bool, order="F")
        self.refused = np.zeros(shape, dtype=bool, order="F")
        self.any_refused = False
        self.order = self._preference(stage)
        # Fixed features do not depend on the example, so that one blank row shows them.
        blank = np.zeros((1, shape[1]))
        stages = estimator._stages(blank, sorted(self.order), frozenset({"acquired"}))
        self.needs = {
            k: stage.acquired[0] for k, stage in zip(sorted(self.order), stages, strict=True)
        }

    def _preference(self, stage):
        """Return the chosen stage, then those that cost no more, best first."""
        costs = np.asarray(self.estimator.fixed_costs())
        points = known_points(self.estimator)
        # The last key of lexsort counts first: score, then cost.
        best_first = np.lexsort((points["cost"].to_numpy(), -points["score"].to_numpy()))
        # What stands in for a stage must not cost more than was agreed to.
        allowed = affords(costs[stage], costs)
        return [stage, *(k for k in best_first.tolist() if allowed[k] and k != stage)]

    def possible(self, rows, stage):
        """Return the rows that can still have all that a stage needs."""
        if not self.any_refused:
            return rows
        return rows[~(self.refused[rows] & self.needs[stage]).any(axis=1)]

    def requests(self, stage):
        """Return the features of a stage, cheap ones first."""
        # Cheap ones first: should a later one be refused, little was spent in vain.
        features = np.flatnonzero(self.needs[stage])
        return features[np.argsort(self.estimator.feature_costs_.alone[features], kind="stable")]

    def take(self, rows, feature, answer):
        """Keep the answer to a request."""
        self.X[rows, feature] = answer.values
        self.known[rows, feature] = ~answer.refused
        self.refused[rows, feature] = answer.refused
        self.any_refused |= bool(answer.refused.any())

    def outcome(self):
        """Return the prediction of each example by the best stage whose features it knows."""
        outcome = Outcome.blank(self.estimator, self.n_samples)
        for stage in self.order:
            rows = np.flatnonzero(~outcome.answered)
            if not rows.size:
                break
            # Needs are compared with what is known, whichever stage it was acquired for.
            rows = rows[(self.known[rows] | ~self.needs[stage]).all(axis=1)]
            if rows.size:
                self._predict(outcome, rows, stage)
        return outcome

    def _predict(self, outcome, rows, stage):
        want = {"output"} if outcome.probabilities is None else {"output", "probabilities"}
        X = self.X[rows].astype(working_dtype(self.estimator), order="C", copy=False)
        made = next(iter(self.estimator._stages(X, [stage], frozenset(want))))
        outcome.output[rows] = made.output
        if outcome.probabilities is not None:
            outcome.probabilities[rows] = made.probabilities
        outcome.answered[rows] = True


def fixed_acquisitions(estimator, n_samples, stage):
    """Yield the requests of a stage with fixed features, and return its `Outcome`.

    Where a feature is refused, the best stage that costs no more and does without takes over.
    """
    state = FixedFeatures(estimator, n_samples, stage)
    waiting = np.arange(n_samples)
    # Only rows whose stage became impossible go on to the next best one.
    for stage in state.order:
        for feature in state.requests(stage):
            rows = state.possible(waiting, stage)
            rows = rows[~state.known[rows, feature]]
            if rows.size:
                answer = yield Request(rows, int(feature), state.outcome)
                state.take(rows, feature, answer)
        done = state.possible(waiting, stage)
        if done.size == waiting.size:
            break
        waiting = np.setdiff1d(waiting, done)
    return state.outcome()
