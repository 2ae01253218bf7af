"""Operating points with a guarantee: Learn then Test.

A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei: Learn then Test: Calibrating
Predictive Algorithms to Achieve Risk Control. arXiv:2110.01052 (2021).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from ..curves import pareto_indices
from ..exceptions import GuaranteeError
from ..validation import ParameterError, check_number

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Certificate:
    """An operating point whose limits hold with the confidence that was asked for.

    Attributes
    ----------
    stage : int
        Index of the operating point.
    budget : float
        What `predict(X, budget)` takes to use it: its mean cost on validation data.
    cost, error : float or None
        The limits of mean cost and error rate.
    confidence : float
        Least probability, over the draw of the calibration data, that they hold.
    tested : pandas.DataFrame
        The operating points in the order of the test: stage, calibration cost and error, p_value.
    """

    stage: int
    budget: float
    cost: float | None
    error: float | None
    confidence: float
    tested: pd.DataFrame


def binomial_p(n_errors, n, limit):
    """Return the p-value of "the error rate exceeds `limit`" after n_errors of n (exact)."""
    return float(binom.cdf(n_errors, n, limit))


def hoeffding_bentkus_p(mean, n, limit):
    """Return the p-value of "the expected loss exceeds `limit`" for losses in [0, 1].

    `mean` is their mean over `n` calibration examples, `limit` in [0, 1). The value is the smaller
    of Hoeffding's and Bentkus's bound (Angelopoulos et al., Proposition 4).
    """
    # Above the limit the loss is no evidence at all: the divergence is 0 there.
    low = min(mean, limit)
    inside = 0.0
    if low > 0:
        inside += low * np.log(low / limit)
    inside += (1 - low) * np.log((1 - low) / (1 - limit))
    # Rounded up, as the bound asks; the small part absorbs the rounding of n * mean.
    bentkus = np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, limit)
    return float(min(np.exp(-n * inside), bentkus, 1.0))


def certified(estimator, outcomes, y, cost, error, confidence):
    """Return the `Certificate` of the best operating point that keeps the limits.

    The operating points on the validation front are tested one after another, those first that kept
    the limits by the widest margin on validation data, until one fails: fixed sequence testing,
    which needs no correction for how many there are (Angelopoulos et al., section 3.2). `outcomes`
    are all stages applied to the calibration data, with output and acquired, `y` its targets.
    """
    _check_limits(estimator, cost, error, confidence)
    points = estimator.operating_points_
    # Points off the front are never chosen, and testing them would only cost power.
    front = points.iloc[pareto_indices(points["cost"], points["score"])]
    calibrated = _p_values(estimator, outcomes, y, cost, error).loc[front.index]
    # The order must not depend on the calibration data: else the sequence is not fixed.
    order = _margins(front, cost, error, estimator.feature_costs_.full).index
    tested = calibrated.loc[order].rename_axis("stage").reset_index()
    # The first failure ends the sequence: what comes later was not tested.
    passed = (tested["p_value"] <= 1 - confidence).cumprod().astype(bool)
    kept = front.loc[tested.loc[passed, "stage"]]
    if kept.empty:
        first = tested.iloc[0]
        named = {"cost": cost, "error": error}
        limits = [f"{name} <= {limit:g}" for name, limit in named.items() if limit is not None]
        raise GuaranteeError(
            f"no operating point keeps {' and '.join(limits)} with confidence {confidence:g}: the "
            f"most promising one has mean cost {first['cost']:.4g} and error {first['error']:.4g} "
            f"on the calibration data (p = {first['p_value']:.3g}). Raise a limit, lower the "
            "confidence, or give more calibration data."
        )
    # Under a cost limit the best score; under an error limit alone the least cost.
    best = kept["cost"].idxmin() if cost is None else kept["score"].idxmax()
    return Certificate(
        int(best), float(points["cost"][best]), cost, error, confidence, tested[passed]
    )


def surely_within(estimator, costs, budget):
    """Return the mask of operating points whose mean cost is within a budget beyond doubt.

    All of them at once with the confidence of 0.95 (Bonferroni), so that whichever is chosen keeps
    the budget. The bound speaks of the models that the `costs` were measured with: those of
    validation data are the estimator's own, those out of fold its refits.
    """
    full = estimator.feature_costs_.full
    # A cost that is the same for all examples is exact, and nothing exceeds that of all features.
    if estimator.fixed_costs() is not None or budget >= full:
        return np.ones(len(costs), dtype=bool)
    level = (1 - CONFIDENCE) / len(costs)
    n = estimator._n_measured
    return np.array([hoeffding_bentkus_p(cost / full, n, budget / full) <= level for cost in costs])


def _check_limits(estimator, cost, error, confidence):
    if cost is None and error is None:
        raise ParameterError("certify needs a limit: give cost, error or both.")
    if cost is not None:
        check_number(cost, "cost", low=0)
    if error is not None:
        check_number(error, "error", low=0, high=1)
        if not is_classifier(estimator):
            raise ParameterError("error is the rate of wrong classes: regressors take cost only.")
    check_number(confidence, "confidence", low=0, high=1, low_open=True)


def _p_values(estimator, outcomes, y, cost, error):
    """Return cost, error and p-value of each stage on the calibration data."""
    y = column_or_1d(y)
    full, fixed = estimator.feature_costs_.full, estimator.fixed_costs() is not None
    rows = []
    for stage in outcomes:
        check_consistent_length(stage.output, y)
        costs = estimator.feature_costs_.total(stage.acquired)
        wrong = stage.output != y if is_classifier(estimator) else np.full(y.size, np.nan)
        p_value = 0.0
        if cost is not None and not cost >= full:  # what all features cost is never exceeded
            # A cost that is the same for all examples needs no statistics.
            if fixed:
                p_value = float(costs[0] > cost)
            else:
                p_value = hoeffding_bentkus_p(float(costs.mean()) / full, y.size, cost / full)
        if error is not None:
            # Both limits must hold: the union of the two null hypotheses has the larger p-value.
            p_value = max(p_value, binomial_p(int(wrong.sum()), y.size, error))
        rows.append({"cost": costs.mean(), "error": wrong.mean(), "p_value": p_value})
    return pd.DataFrame(rows)


def _margins(front, cost, error, full):
    """Return by how much each point kept the limits on validation data, the widest first."""
    margin = pd.Series(np.inf, index=front.index)
    if cost is not None:
        # Costs as shares of the full cost, to be comparable with error rates.
        margin = np.minimum(margin, (cost - front["cost"]) / (full or 1.0))
    if error is not None:
        margin = np.minimum(margin, error - (1 - front["score"]))
    return margin.sort_values(ascending=False, kind="stable")
