"""Operating points: cost and score of each stage, measured, and with a guarantee (Learn then Test).

Measured on validation data or out of fold; a guarantee needs calibration data that are others.
"""

import warnings
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import pandas as pd
from scipy.special import rel_entr
from scipy.stats import binom
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length

from ..costs import affords
from ..curves import pareto_indices
from ..exceptions import BudgetError, BudgetlearnWarning, GuaranteeError
from ..parallel import one_thread
from ..validation import MOST_AMOUNT, ParameterError, check_number
from .checked_data import table_for
from .feature_requests import Stage
from .scoring import mean_and_error, score_and_error

FOLDS = 5
# Of the statement that a mean cost is within a budget.
CONFIDENCE = 0.95


def refuse_extreme(estimator, *parts):
    """Raise where examples have numbers to predict whose squares, as scores sum them, are none."""
    for y in () if is_classifier(estimator) else [part.targets for part in parts]:
        differ = np.ptp(y, axis=0) if np.abs(y).max() <= MOST_AMOUNT else np.inf
        if not np.logical_or(differ == 0, (differ >= 1 / MOST_AMOUNT) & (differ < np.inf)).all():
            raise ParameterError(
                f"to be scored, targets must be numbers of up to {MOST_AMOUNT:g} that differ by "
                f"{1 / MOST_AMOUNT:g} or more, got {y.min():g} to {y.max():g}: write them in "
                "another unit."
            )


def refuse_alike(estimator, train, valid):
    """Raise where R² is to score numbers, and those of the validation data are all alike."""
    refuse_extreme(estimator, train, valid)
    if is_classifier(estimator) or getattr(estimator, "scoring", None) is not None:
        return
    # Where training has one value only, a constant is all there is to learn, and R² does no harm.
    n = len(valid.y)
    if n < 2 or (np.ptp(valid.targets, axis=0).max() == 0 < np.ptp(train.targets, axis=0).max()):
        raise ParameterError(
            "R² compares errors with the spread of the targets, and the validation data need at "
            f"least two different ones: got {n} row{'s' * (n > 1)}, the first with "
            f"{valid.targets[0]!s}. Give more rows, or scoring='neg_mean_absolute_error' where the "
            "estimator has that parameter."
        )


def refuse_unscored(points, n_samples):
    """Return points, or one, if all have a score on the examples, else raise `ParameterError`."""
    if np.isnan(points["score"]).any():
        raise ParameterError(
            f"scoring gives no number (NaN) for the {n_samples} held-out examples, so that "
            "nothing can be chosen by it: give more of them, of all classes, or another scoring."
        )
    return points


def cost_and_error(cost, groups=None):
    """Return the mean of what examples cost and its standard error, exactly 0 of equal costs."""
    mean, error = mean_and_error(cost, groups=groups)
    return mean, error if np.ptp(cost) else 0.0


def measured(estimator, stages, targets, groups=None):
    """Return the operating points: all stages, applied to examples, measured by their `targets`.

    `cost_se` and `score_se` are standard errors, `n_features` the mean number acquired, and
    `variables` names all that some example acquired.
    """
    return pd.DataFrame([measures(estimator, stage, targets, groups) for stage in stages])


def measures(estimator, stage, targets, groups=None):
    """Return the row of the operating points of one stage."""
    found = cost_and_error(estimator.feature_costs_.total(stage.acquired), groups)
    found += score_and_error(estimator, stage, targets, groups)
    columns = dict(zip(("cost", "cost_se", "score", "score_se"), found, strict=True))
    return columns | acquisitions_of(estimator, stage)


def acquisitions_of(estimator, stage):
    """Return what a row of the operating points says of a stage beside its cost and score."""
    names = np.array(estimator.feature_costs_.labels, dtype=object)
    return {
        "nodes": stage.nodes,
        "n_features": float(stage.acquired.sum(axis=1).mean()),
        "setting": stage.setting,
        "variables": tuple(names[stage.acquired.any(axis=0)]),
    }


def scored_parts(estimator):
    """Return the parts of a `Stage` that its cost and its score need."""
    return frozenset({"acquired"} | estimator._score_parts())


def known_points(estimator):
    """Return cost and score of each stage; where nothing was measured, fixed cost and rank."""
    if "operating_points_" in vars(estimator):
        return estimator.operating_points_
    costs = estimator.fixed_costs()
    # Stages go from cheap to expensive: a later one is taken to be better.
    return pd.DataFrame({"cost": costs, "score": np.arange(len(costs))})


def points_to_choose_from(estimator):
    """Return cost and score of each stage, measured now where they are not yet."""
    known = vars(estimator)
    if "operating_points_" in known or estimator.fixed_costs() is None:
        return estimator.operating_points_
    if estimator.n_stages_ > 1:  # one stage leaves nothing to choose
        if known.get("_unmeasured") is not None:
            return estimator.operating_points_
        warnings.warn(
            f"this {type(estimator).__name__} was stored before its operating points were "
            "measured: the last one within the budget is taken to be the best. Read "
            "operating_points_ before storing it.",
            BudgetlearnWarning,
            stacklevel=4,
        )
    return known_points(estimator)


# What a check of the training data sets, and refits share.
_CHECKED = (
    *("classes_", "feature_costs_", "categories_"),
    *("missing_in_training_", "constant_", "n_features_in_"),
)


def measured_out_of_fold(estimator, examples):
    """Return the operating points of a fitted estimator, measured on rows that refits left out."""
    if examples is None:
        raise BudgetError(
            f"this {type(estimator).__name__} does not know what its operating points cost and "
            "score: it was stored before that or made by `within`, and rows are not stored, or its "
            "`forest` may have seen them. Read operating_points_ before storing it, or pass "
            "validation data, fit(X, y, X_val, y_val)."
        )
    folds = _folds(estimator, examples)
    # Rows of no fold are those of a class with one row, which no refit could learn without.
    held_out = [np.flatnonzero(folds == fold) for fold in range(FOLDS) if (folds == fold).any()]
    if not held_out:
        text = "no row can be left out to measure by, each class has one row only"
        raise BudgetError(f"{text}: give more, or validation data, fit(X, y, X_val, y_val).")
    tested = examples.take(np.concatenate(held_out))
    refuse_alike(estimator, examples, tested)
    parts, want = [], scored_parts(estimator)
    for rows in held_out:
        with one_thread():
            refit = _refitted(estimator, examples, np.setdiff1d(np.arange(len(folds)), rows))
        table = table_for(refit, estimator, examples.X[rows])
        parts.append(_aligned(refit, table, estimator.n_stages_, want))
    stages = _joined(estimator, parts, tested.X)
    return refuse_unscored(measured(estimator, stages, tested.targets), len(tested.y))


def _folds(estimator, examples):
    """Return the fold of each row, classes each in proportion; -1 for rows that all refits see."""
    n, random = len(examples.y), np.random.RandomState(0)
    folds = np.full(n, -1)
    codes = examples.y if is_classifier(estimator) else np.zeros(n, dtype=np.intp)
    start = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        if members.size > 1:
            # Each class goes on where the last one ended, so that folds are equally large.
            folds[members] = (start + np.arange(members.size)) % FOLDS
            start += members.size
    return folds


def _refitted(estimator, examples, rows):
    """Return an estimator of the same parameters, fitted on some rows."""
    refit = clone(estimator)
    if "verbose" in refit.get_params(False):
        refit.set_params(verbose=False)
    vars(refit).update({name: own for name, own in vars(estimator).items() if name in _CHECKED})
    refit._learn_from(examples.take(rows), None)
    return refit


def _joined(estimator, others, X):
    """Yield each stage of the estimator with the predictions of the refits for their rows of X."""
    fixed = estimator.fixed_costs() is not None
    own = estimator._stages(X, range(estimator.n_stages_), frozenset({"acquired"}))
    for stage, *parts in zip(own, *others, strict=True):
        joined = Stage(stage.setting, nodes=stage.nodes)
        joined.output = np.concatenate([part.output for part in parts])
        if parts[0].probabilities is not None:
            joined.probabilities = np.concatenate([part.probabilities for part in parts])
        # Costs that do not depend on the example are those of the model.
        acquired = [stage.acquired] if fixed else [part.acquired for part in parts]
        joined.acquired = np.concatenate(acquired)
        yield joined


def _aligned(refit, X, n_stages, want):
    """Yield the stages of a refit that stand for `n_stages` others, by their place."""
    # Most methods make as many stages on any rows; a path may end earlier.
    places = np.rint(np.linspace(0, refit.n_stages_ - 1, n_stages)).astype(int)
    if n_stages == 1:
        places[:] = refit.n_stages_ - 1
    different, times = np.unique(places, return_counts=True)
    for stage, n in zip(refit._stages(X, different.tolist(), want), times, strict=True):
        yield from repeat(stage, n)


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


def hoeffding_bentkus_p(mean, n, limit):
    """Return the p-value of "the expected loss exceeds `limit`" for n losses in [0, 1].

    It is the smaller of Hoeffding's and Bentkus's bound (Angelopoulos et al., Proposition 4).
    """
    # Above the limit the loss is no evidence at all: the divergence is 0 there.
    low = min(mean, limit)
    inside = rel_entr(low, limit) + rel_entr(1 - low, 1 - limit)
    # Rounded up, as the bound asks; the small part absorbs the rounding of n * mean.
    bentkus = np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, limit)
    return float(min(np.exp(-n * inside), bentkus, 1.0))


def certified(estimator, outcomes, y, cost, error, confidence):
    """Return the `Certificate` of the best operating point that keeps the limits.

    Learn then Test (Angelopoulos et al. 2021, arXiv:2110.01052): the points on the validation front
    are tested one after another, those first that kept the limits by the widest margin there, until
    one fails: fixed sequence testing, which needs no correction for how many there are (section
    3.2). `outcomes` are all stages applied to the calibration data, `y` its targets.
    """
    _check_limits(estimator, cost, error, confidence)
    points = estimator.operating_points_
    front = points.iloc[pareto_indices(points["cost"], points["score"])]
    calibrated = _p_values(estimator, outcomes, y, cost, error).loc[front.index]
    # The order must not depend on the calibration data: else the sequence is not fixed.
    order = _margins(estimator, front, cost, error).index
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
    if cost is not None:
        _warn_of_nothing(kept["cost"], front["cost"], cost, len(y))
    return Certificate(
        int(best), float(points["cost"][best]), cost, error, confidence, tested[passed]
    )


def most_costs(estimator):
    """Return what no example pays more than at each stage."""
    return estimator._most_costs()


def surely_within(estimator, costs, budget):
    """Return the mask of operating points whose mean cost is within a budget beyond doubt.

    Out of fold the bound speaks of the refits that the `costs` were measured with.
    """
    full = estimator.feature_costs_.full
    # A cost that is the same for all examples is exact, and nothing exceeds that of all features.
    if estimator.fixed_costs() is not None or budget >= full:
        return np.ones(len(costs), dtype=bool)
    points = estimator.operating_points_
    # What asks one example for nothing asks none: before the first answer all are the same.
    most = most_costs(estimator)[points.index]
    exact = affords(budget, most) | (points["n_features"] == 0)
    # All at once (Bonferroni), so that whichever is chosen keeps the budget.
    level = (1 - CONFIDENCE) / len(costs)
    n = estimator._n_measured
    sure = [hoeffding_bentkus_p(cost / full, n, budget / full) <= level for cost in costs]
    sure = (np.array(sure) | exact) & affords(budget, costs)
    _warn_of_nothing(costs[sure], costs, budget, n)
    return sure


def _warn_of_nothing(sure, costs, limit, n):
    """Warn where some costs are within a limit, but of these only 0 surely, by n examples."""
    if len(sure) and not sure.any() and costs[affords(limit, costs)].any():
        text = f"only what buys nothing is sure to cost at most {limit:g} on average, by {n}"
        text = f"{text} examples: give more, or a larger limit."
        warnings.warn(text, BudgetlearnWarning, stacklevel=2)


def _check_limits(estimator, cost, error, confidence):
    if cost is None and error is None:
        raise ParameterError("certify needs a limit: give cost, error or both.")
    check_number(cost, "cost", low=0, none=True)
    if error is not None:
        check_number(error, "error", low=0, high=1)
        if not is_classifier(estimator):
            raise ParameterError("error is the rate of wrong classes: regressors take cost only.")
    check_number(confidence, "confidence", low=0, high=1, low_open=True)


def _p_values(estimator, outcomes, y, cost, error):
    """Return cost, error and p-value of each stage on the calibration data."""
    full, rows = estimator.feature_costs_.full, []
    for stage, most in zip(outcomes, most_costs(estimator), strict=False):
        check_consistent_length(stage.output, y)
        costs = estimator.feature_costs_.total(stage.acquired)
        wrong = stage.output != y if is_classifier(estimator) else np.full(len(y), np.nan)
        p_value = 0.0
        # No statistics are needed of what is never exceeded, or asks one example for nothing.
        if cost is not None and not affords(cost, most) and stage.acquired.any():
            p_value = hoeffding_bentkus_p(float(costs.mean()) / full, len(y), cost / full)
        if error is not None:
            # Exact: the chance of so few errors at the limit. Both limits must hold: the union of
            # the two null hypotheses has the larger p-value.
            p_value = max(p_value, float(binom.cdf(int(wrong.sum()), len(y), error)))
        rows.append({"cost": costs.mean(), "error": wrong.mean(), "p_value": p_value})
    return pd.DataFrame(rows)


def _margins(estimator, front, cost, error):
    """Return by how much each point kept the limits on validation data, the widest first."""
    margin = pd.Series(np.inf, index=front.index)
    if cost is not None:
        # What is never exceeded comes first; costs are shares of the full one, as error rates are.
        tested = ~affords(cost, most_costs(estimator)[front.index])
        margin[tested] = (cost - front["cost"]) / (estimator.feature_costs_.full or 1.0)
    if error is not None:
        margin = np.minimum(margin, error - (1 - front["score"]))
    return margin.sort_values(ascending=False, kind="stable")
