"""Convex mixtures of a stage's kinds of models, weighted on out-of-fold predictions.

The probabilities of each kind are first calibrated by a temperature.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ..protocol.calibration import FLOOR, fit_temperature
from .kernels import mixed, tempered

# Targets are shifted if their minimum is beyond this multiple of their span.
FAR = 1e4


def with_temperature(probabilities, temperature):
    """Return probabilities ∝ p^(1 / T), with p at least FLOOR; one T, or one for each row."""
    probabilities = np.ascontiguousarray(probabilities, dtype=np.float64)
    return tempered(probabilities, np.array(temperature, dtype=np.float64, ndmin=1), FLOOR)


def variance(values, weight=None):
    """Return the variance of values with some weights; None: equal weights."""
    return np.average((values - np.average(values, weights=weight)) ** 2, weights=weight)


def origin_and_unit(values):
    """Return origin and unit of values, or of each column: trees learn (value - origin) / unit."""
    # Squares of numbers far from zero lose the digits that differ, and scikit-learn's trees treat
    # variances below 2e-16 and differences below 1e-7 as 0. A power of two as unit scales exactly.
    least, span = values.min(axis=0), np.ptp(values, axis=0)
    return np.where(np.abs(least) > FAR * span, least, 0.0), 2.0 ** np.frexp(span)[1]


# Pseudo-examples for each kind, which draw the weights of small tables towards equality.
PRIOR = 3.0
N_STEPS = 100
# Kinds with less weight are dropped: they are not worth their time.
LEAST_WEIGHT = 0.05
# Weight of the equation "the weights sum to 1", as a multiple of the number of examples.
SURE = 10.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Kinds of models and their weights at a stage."""

    kinds: tuple  # their names
    weights: np.ndarray  # (n_kinds,): above 0; they sum to 1
    temperatures: np.ndarray | None  # (n_kinds,): of each kind's probabilities; None in regression

    @classmethod
    def fit(cls, held_out, y, n_classes, weight=None):
        """Return the mixture that minimises the log loss or, in regression, the squared error.

        `held_out`: out-of-fold predictions, (n_samples, n_outputs), by kind. `weight` averages 1.
        """
        kinds = tuple(held_out)
        if n_classes is None:
            weights = _least_squares(np.array([held_out[kind][:, 0] for kind in kinds]), y, weight)
            temperatures = None
        else:
            temperatures = np.array([fit_temperature(held_out[kind], y, weight) for kind in kinds])
            calibrated = map(with_temperature, held_out.values(), temperatures)
            chances = np.array([each[np.arange(len(y)), y] for each in calibrated])
            weights = _expectation_maximisation(chances, weight)
        return cls(kinds, weights, temperatures).heaviest(LEAST_WEIGHT)

    def heaviest(self, least):
        """Return the mixture of the kinds with at least the weight `least`, or of the heaviest."""
        kept = np.flatnonzero(self.weights >= min(least, self.weights.max()))
        temperatures = None if self.temperatures is None else self.temperatures[kept]
        shares = self.weights[kept] / self.weights[kept].sum()
        return Mixture(tuple(self.kinds[place] for place in kept), shares, temperatures)

    def of(self, predictions):
        """Return the mixture of the kinds' predictions, (n_samples, n_outputs) each."""
        # In one call, because several would take longer than the models of a row.
        contiguous = [np.ascontiguousarray(each, dtype=np.float64) for each in predictions]
        return mixed(contiguous, self.weights, self.temperatures, FLOOR)


def _expectation_maximisation(chances, weight):
    """Return the weights of least log loss, given each kind's probability of the true class."""
    n_kinds, n_samples = chances.shape
    weight = 1.0 if weight is None else weight
    weights = np.full(n_kinds, 1 / n_kinds)
    for _ in range(N_STEPS):
        parts = weights[:, None] * chances
        own = (weight * (parts / parts.sum(axis=0))).sum(axis=1)
        weights = (own + PRIOR) / (n_samples + n_kinds * PRIOR)
    return weights


def _least_squares(predictions, y, weight):
    """Return the convex weights that minimise the squared error."""
    n_kinds = len(predictions)
    # In standard deviations of the target, so that the extra rows do not depend on its unit.
    errors = (predictions - y) / (np.sqrt(variance(y, weight)) or 1.0)
    root = 1.0 if weight is None else np.sqrt(weight)
    # With weights that sum to 1, the error of the mixture is the weighted sum of the errors.
    pull = np.sqrt(PRIOR * np.mean((root * errors) ** 2))
    rows = np.vstack([(root * errors).T, pull * np.eye(n_kinds), np.full(n_kinds, SURE * len(y))])
    goal = np.concatenate([np.zeros(len(y)), np.full(n_kinds, pull / n_kinds), [SURE * len(y)]])
    weights, _ = nnls(rows, goal)
    return weights / weights.sum()
