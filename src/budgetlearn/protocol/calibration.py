"""Calibration of probabilities by a temperature, which scikit-learn has only from 1.8 on."""

import numpy as np
from scipy.optimize import minimize_scalar

# Smallest probability, as a class without any votes is not impossible.
FLOOR = 1e-4
# Most examples used to fit a temperature, which is a single number.
MOST_ROWS = 10_000
_LOG_RANGE = (np.log(0.2), np.log(5.0))


def fit_temperature(probabilities, labels, weight=None):
    """Return the temperature that minimises the log loss on examples the model has not seen.

    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger. On calibration of modern neural networks. ICML
    2017. `weight` holds the weights of the examples; None: equal weights.
    """
    return scale_of(np.log(np.maximum(probabilities, FLOOR)), labels, weight, _LOG_RANGE)


def scale_of(scores, labels, weight, log_range):
    """Return T, log T within a range, with least log loss of probabilities ∝ exp(score / T)."""
    # Every k-th example, so that a table sorted by class stays balanced.
    step = -(-len(labels) // MOST_ROWS)
    labels, weight = labels[::step], None if weight is None else weight[::step]
    # Classes as rows, because sums over a short last axis are slow.
    scores, rows = np.ascontiguousarray(scores[::step].T), np.arange(labels.size)

    # The search is on a log scale, on which T and 1 / T are equally far from 1.
    def log_loss(log_temperature):
        scaled = scores / np.exp(log_temperature)
        top = scaled.max(axis=0)
        log_sums = top + np.log(np.exp(scaled - top).sum(axis=0))
        return float(np.average(log_sums - scaled[labels, rows], weights=weight))

    found = minimize_scalar(log_loss, bounds=log_range, method="bounded", options={"xatol": 1e-2})
    return float(np.exp(found.x))
