"""Temperatures: probabilities as sure as they are right."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

# A class that no tree voted for is not impossible.
FLOOR = 1e-4
# More examples than these do not change a single number.
MOST_ROWS = 10_000
_LOG_RANGE = (np.log(0.2), np.log(5.0))


def with_temperature(probabilities, temperature):
    """Return probabilities ∝ p^(1 / T), no class below a floor: T > 1 less sure, T < 1 surer."""
    return softmax(np.log(np.maximum(probabilities, FLOOR)) / temperature, axis=1)


def fit_temperature(probabilities, labels, weight=None):
    """Return the temperature of least log loss for examples that the model has not seen.

    `weight` is how much each example counts; None: all alike. C. Guo, G. Pleiss, Y. Sun, K. Q.
    Weinberger. On calibration of modern neural networks. ICML 2017.
    """
    # Every k-th example, so that a table sorted by class stays balanced.
    step = -(-len(labels) // MOST_ROWS)
    labels, weight = labels[::step], None if weight is None else weight[::step]
    logs = np.log(np.maximum(probabilities[::step], FLOOR))
    rows = np.arange(labels.size)

    # T is searched as its logarithm: twice as sure and half as sure are equally far from 1.
    def log_loss(log_temperature):
        scores = logs / np.exp(log_temperature)
        top = scores.max(axis=1)
        log_sums = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        return float(np.average(log_sums - scores[rows, labels], weights=weight))

    found = minimize_scalar(log_loss, bounds=_LOG_RANGE, method="bounded", options={"xatol": 1e-2})
    return float(np.exp(found.x))
