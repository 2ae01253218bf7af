"""Operating points: measured cost and score of each stage, and guarantees (Learn then Test).

They are measured on validation data or out of fold. A guarantee needs separate calibration data.
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
from .scoring import error_of_mean, mean_and_error, score_and_error

FOLDS = 5
# Confidence of budget_mode="guaranteed".
CONFIDENCE = 0.95


def refuse_extreme(estimator, *parts):
    """Raise if the squares of numeric targets, which scores sum up, overflow or underflow."""
    if is_classifier(estimator):
        return
    for y in [part.targets for part in parts]:
        differ = np.ptp(y, axis=0) if np.abs(y).max() <= MOST_AMOUNT else np.inf
        if not np.logical_or(differ == 0, (differ >= 1 / MOST_AMOUNT) & (differ < np.inf)).all():
            raise ParameterError(
                f"targets must be at most {MOST_AMOUNT:g} and differ by {1 / MOST_AMOUNT:g} or "
                f"more to be scored, got {y.min():g} to {y.max():g}: use another unit."
            )


def refuse_alike(estimator, train, valid):
    """Raise if R² would be computed on validation targets that are all equal."""
    refuse_extreme(estimator, train, valid)
    if is_classifier(estimator) or getattr(estimator, "scoring", None) is not None:
        return
    # Allowed if training targets are all equal, too: then any model is a constant.
    n = len(valid.y)
    if n < 2 or (np.ptp(valid.targets, axis=0).max() == 0 < np.ptp(train.targets, axis=0).max()):
        raise ParameterError(
            "R² compares errors with the spread of the targets, and the validation data need at "
            f"least two different ones: got {n} row{'s' * (n > 1)}, the first with "
            f"{valid.targets[0]!s}. Give more rows, or scoring='neg_mean_absolute_error' where the "
            "estimator has that parameter."
        )


def refuse_unscored(points, n_samples):
    """Return the points (a frame or one row); raise `ParameterError` if a score is NaN."""
    if np.isnan(points["score"]).any():
        raise ParameterError(
            f"scoring is NaN for the {n_samples} held-out examples, so it cannot be used to "
            "choose: give more examples, of all classes, or another scoring."
        )
    return points


def cost_and_error(cost, groups=None):
    """Return the mean cost and its standard error, which is exactly 0 if all costs are equal."""
    mean, error = mean_and_error(cost, groups=groups)
    return mean, error if np.ptp(cost) else 0.0


def measured(estimator, stages, targets, groups=None):
    """Return the operating points: cost and score of all stages on examples with `targets`.

    `cost_se` and `score_se` are standard errors, `n_features` is the mean number of acquired
    features, and `variables` has the names of all features that any example acquired.
    """
    return pd.DataFrame([measures(estimator, stage, targets, groups) for stage in stages])


def measures(estimator, stage, targets, groups=None):
    """Return the row of one stage in the operating points."""
    cost, cost_se = cost_and_error(estimator.feature_costs_.total(stage.acquired), groups)
    score, score_se = score_and_error(estimator, stage, targets, groups)
    return point_of(estimator, stage, cost, cost_se, score, score_se)


def point_of(estimator, stage, cost, cost_se, score, score_se):
    """Return the row of a stage in the operating points, given its measured cost and score."""
    names = np.array(estimator.feature_costs_.labels, dtype=object)
    return {
        "cost": cost,
        "cost_se": cost_se,
        "score": score,
        "score_se": score_se,
        "nodes": stage.nodes,
        "n_features": float(stage.acquired.sum(axis=1).mean()),
        "setting": stage.setting,
        "variables": tuple(names[stage.acquired.any(axis=0)]),
    }


def scored_parts(estimator):
    """Return the parts of a `Stage` that its cost and its score need."""
    return frozenset({"acquired"} | estimator._score_parts())


def known_points(estimator):
    """Return cost and score of each stage; if unmeasured, the fixed cost and the rank."""
    if "operating_points_" in vars(estimator):
        return estimator.operating_points_
    costs = estimator.fixed_costs()
    # Stages go from cheap to expensive, so later ones are assumed to be better.
    return pd.DataFrame({"cost": costs, "score": np.arange(len(costs))})


def points_to_choose_from(estimator):
    """Return cost and score of each stage, after measuring them if necessary."""
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


# Attributes set by the checks of training data, which refits share.
_CHECKED = (
    *("classes_", "feature_costs_", "categories_"),
    *("missing_in_training_", "constant_", "n_features_in_"),
)


def measured_out_of_fold(estimator, examples):
    """Return the operating points of a fitted estimator, measured out of fold by refits."""
    if examples is None:
        raise BudgetError(
            f"this {type(estimator).__name__} does not know what its operating points cost and "
            "score, and no longer has its training rows: it was stored before they were measured, "
            "made by `within`, or its `forest` may have seen the rows. Read operating_points_ "
            "before storing it, or pass validation data, fit(X, y, X_val, y_val)."
        )
    folds = _folds(estimator, examples)
    # Rows of classes with a single row are in no fold, as every refit needs them.
    held_out = [np.flatnonzero(folds == fold) for fold in range(FOLDS) if (folds == fold).any()]
    if not held_out:
        what = "the operating points cannot be measured, as no class has more than one row"
        raise BudgetError(f"{what}: give more rows, or validation data, fit(X, y, X_val, y_val).")
    tested = examples.take(np.concatenate(held_out))
    refuse_alike(estimator, examples, tested)
    parts, want = [], scored_parts(estimator)
    # Each refit also predicts the rows of the next fold, which it has seen, to compare their cost.
    for rows, seen in zip(held_out, [*held_out[1:], held_out[0]], strict=True):
        with one_thread():
            refit = _refitted(estimator, examples, np.setdiff1d(np.arange(len(folds)), rows))
        table = table_for(refit, estimator, examples.X[np.append(rows, seen)])
        parts.append(_aligned(refit, table, estimator.n_stages_, want))
    ratios = []
    stages = _joined(estimator, parts, tested.X, [rows.size for rows in held_out], ratios, want)
    points = refuse_unscored(measured(estimator, stages, tested.targets), len(tested.y))
    by_r2 = not is_classifier(estimator) and getattr(estimator, "scoring", None) in (None, "r2")
    if by_r2 and tested.targets.ndim == 1:
        # Where nothing is acquired, the model itself was measured: a mean, on its own rows.
        points.loc[points["n_features"] == 0, "score_se"] = error_of_mean(tested.targets)
    # The ratio comes from other models, so half of the correction counts as its error.
    correction = points["cost"] * np.subtract(ratios, 1.0)
    points["cost"] = np.minimum(points["cost"] + correction, estimator.feature_costs_.full)
    points["cost_se"] = np.hypot(points["cost_se"] * ratios, correction / 2)
    return points


def _folds(estimator, examples):
    """Return the fold of each row, stratified by class; -1 for rows that all refits train on."""
    n, random = len(examples.y), np.random.RandomState(0)
    folds = np.full(n, -1)
    codes = examples.y if is_classifier(estimator) else np.zeros(n, dtype=np.intp)
    start = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        if members.size > 1:
            # Each class continues where the last one ended, so that folds are equally large.
            folds[members] = (start + np.arange(members.size)) % FOLDS
            start += members.size
    return folds


def _refitted(estimator, examples, rows):
    """Return an estimator with the same parameters, fitted on some rows."""
    refit = clone(estimator)
    if "verbose" in refit.get_params(False):
        refit.set_params(verbose=False)
    vars(refit).update({name: own for name, own in vars(estimator).items() if name in _CHECKED})
    refit._learn_from(examples.take(rows), None)
    return refit


def _joined(estimator, others, X, sizes, ratios, want):
    """Yield each stage of the estimator, with the refits' predictions of their held-out rows.

    Acquisitions are those of the estimator, as refits may choose other features, of rows that it
    has seen. `ratios` get the refits' cost of unseen rows divided by that of the same rows as seen.
    """
    costs, fixed = estimator.feature_costs_, estimator.fixed_costs() is not None
    own = estimator._stages(X, range(estimator.n_stages_), frozenset({"acquired"}))
    for index, (stage, *parts) in enumerate(zip(own, *others, strict=True)):
        if not stage.acquired.any():
            # Refits that acquire something would promise their score for nothing.
            ratios.append(1.0)
            yield from estimator._stages(X, [index], want)
            continue
        joined = Stage(stage.setting, nodes=stage.nodes, acquired=stage.acquired)
        pairs = list(zip(parts, sizes, strict=True))
        joined.output = np.concatenate([part.output[:n] for part, n in pairs])
        if parts[0].probabilities is not None:
            joined.probabilities = np.concatenate([part.probabilities[:n] for part, n in pairs])
        unseen = sum(costs.total(part.acquired[:n]).sum() for part, n in pairs)
        seen = sum(costs.total(part.acquired[n:]).sum() for part, n in pairs)
        ratios.append(1.0 if fixed or not seen else unseen / seen or 1.0)
        yield joined


def _aligned(refit, X, n_stages, want):
    """Yield the stages of a refit that correspond to `n_stages` of the final model, by position."""
    # Most methods always have the same number of stages; a path may end earlier.
    places = np.rint(np.linspace(0, refit.n_stages_ - 1, n_stages)).astype(int)
    if n_stages == 1:  # `linspace` would take the first stage, but a single stage is the last one
        places[:] = refit.n_stages_ - 1
    different, times = np.unique(places, return_counts=True)
    for stage, n in zip(refit._stages(X, different.tolist(), want), times, strict=True):
        yield from repeat(stage, n)


@dataclass(frozen=True)
class Certificate:
    """An operating point that keeps limits with the requested confidence.

    Attributes
    ----------
    stage : int
        Index of the operating point.
    budget : float
        Budget that selects it, `predict(X, budget)`: its mean cost on validation data.
    cost, error : float or None
        Limits of mean cost and error rate.
    confidence : float
        Lower bound of the probability, over the draw of the calibration data, that they hold.
    tested : pandas.DataFrame
        Operating points that passed, in the test's order: stage, calibration cost, error, p_value.
    """

    stage: int
    budget: float
    cost: float | None
    error: float | None
    confidence: float
    tested: pd.DataFrame


def hoeffding_bentkus_p(mean, n, limit):
    """Return the p-value of "the expected loss exceeds `limit`" for n losses in [0, 1]."""
    # The smaller of Hoeffding's and Bentkus's bound (Angelopoulos et al., Proposition 4).
    # A mean above the limit is no evidence against the hypothesis: the divergence is 0.
    low = min(mean, limit)
    inside = rel_entr(low, limit) + rel_entr(1 - low, 1 - limit)
    # The bound rounds up; 1e-9 absorbs the rounding error of n * mean.
    bentkus = np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, limit)
    return float(min(np.exp(-n * inside), bentkus, 1.0))


def betting_p(losses, limit, level):
    """Return the p-value of "the expected loss exceeds `limit`" for losses in [0, 1]."""
    # 1 / the most that bets on losses below the limit win. Bets, which suit the `level` of a test,
    # are larger if losses vary little (Bates et al. 2021, arXiv:2101.02703, Proposition 5).
    # Shuffled, as a table may be sorted: bets may depend on earlier losses, but the order may not.
    losses = np.random.RandomState(0).permutation(losses)
    counts = np.arange(2, losses.size + 2)
    means = (0.5 + losses.cumsum()) / counts
    variances = np.append(0.25, (0.25 + ((losses - means) ** 2).cumsum()) / counts)[:-1]
    # Below 1, so that a single loss cannot take everything that was won.
    bets = np.minimum(np.sqrt(-2.0 * np.log(max(level, 1e-12)) / losses.size / variances), 0.99)
    return float(np.exp(-max(np.log1p(bets * (limit - losses)).cumsum().max(), 0.0)))


def certified(estimator, outcomes, y, cost, error, confidence):
    """Return the `Certificate` of the best operating point that keeps the limits.

    Learn then Test (Angelopoulos et al. 2021, arXiv:2110.01052) with fixed sequence testing, which
    needs no correction for multiple tests (section 3.2). The points on the Pareto front of the
    validation data are tested in order of decreasing margin to the limits there, until one fails.
    `outcomes` are all stages applied to the calibration data, `y` its targets.
    """
    if cost is None and error is None:
        raise ParameterError("certify needs a limit: give cost, error or both.")
    check_number(cost, "cost", low=0, none=True)
    check_number(error, "error", low=0, high=1, none=True)
    if error is not None and not is_classifier(estimator):
        raise ParameterError("error limits the error rate of classifiers: give cost instead.")
    check_number(confidence, "confidence", low=0, high=1, low_open=True)
    points = estimator.operating_points_
    front = points.iloc[pareto_indices(points["cost"], points["score"])]
    level = 1 - confidence
    calibrated = _p_values(estimator, outcomes, y, cost, error, level).loc[front.index]
    # For a fixed sequence, the order must not depend on the calibration data.
    order = _margins(estimator, front, cost, error).index
    tested = calibrated.loc[order].rename_axis("stage").reset_index()
    # The first failure ends the sequence; later points do not count as tested.
    passed = (tested["p_value"] <= level).cumprod().astype(bool)
    kept = front.loc[tested.loc[passed, "stage"]]
    if kept.empty:
        first = tested.iloc[0]
        named = {"cost": cost, "error": error}
        limits = [f"{name} <= {limit:.10g}" for name, limit in named.items() if limit is not None]
        advice = "Raise a limit"
        if error is None:
            most = most_costs(estimator)[int(first["stage"])]
            # The first limit that passes the test, in thousandths of `most`. The last one is `most`
            # itself, which no example exceeds. 1.001, as four digits may round the limit down.
            tried = np.append(np.linspace(0, 1, 1001)[1:-1], 1 / 1.001)
            keeps = [betting_p(first["losses"], limit, level) <= level for limit in tried[:-1]]
            least = 1.001 * most * tried[np.argmax([*keeps, True])]
            advice = f"Raise the limit to {least:.4g}"
        raise GuaranteeError(
            f"no operating point keeps {' and '.join(limits)} with confidence {confidence:g}: the "
            f"most promising one has mean cost {first['cost']:.4g} and error {first['error']:.4g} "
            f"on the calibration data (p = {first['p_value']:.3g}). {advice}, lower the "
            "confidence, or give more calibration data."
        )
    # With a limit of the cost, take the best score; with a limit of the error only, the least cost.
    best = kept["cost"].idxmin() if cost is None else kept["score"].idxmax()
    if cost is not None:
        _warn_of_nothing(kept["cost"], front["cost"], cost, len(y))
    tested = tested[passed].drop(columns="losses")
    return Certificate(int(best), float(points["cost"][best]), cost, error, confidence, tested)


def most_costs(estimator):
    """Return an upper bound of the cost of any example at each stage, (n_stages,)."""
    return estimator._most_costs()


def surely_within(estimator, costs, budget):
    """Return the mask of operating points whose mean cost is within a budget with confidence."""
    full = estimator.feature_costs_.full
    # Fixed costs are exact, and no cost exceeds that of all features.
    if estimator.fixed_costs() is not None or budget >= full:
        return np.ones(len(costs), dtype=bool)
    points = estimator.operating_points_
    # Before the first acquisition all examples are alike: either all acquire something, or none.
    most = most_costs(estimator)[points.index]
    exact = affords(budget, most) | (points["n_features"] == 0)
    # Bonferroni correction, so that the bound holds for whichever point is chosen.
    level = (1 - CONFIDENCE) / len(costs)
    n = estimator._n_measured
    # The bound of exact points is not used; `full`, unlike their most, cannot be 0.
    tops = np.where(exact, full, most)
    shares = zip(costs / tops, budget / tops, strict=True)
    sure = [hoeffding_bentkus_p(mean, n, limit) <= level for mean, limit in shares]
    sure = (np.array(sure) | exact) & affords(budget, costs)
    _warn_of_nothing(costs[sure], costs, budget, n)
    return sure


def _warn_of_nothing(sure, costs, limit, n):
    """Warn if the limit is only guaranteed for points of cost 0, although others are within it."""
    if len(sure) and not sure.any() and costs[affords(limit, costs)].any():
        text = f"with {n} examples, only points that acquire nothing are sure to cost at most"
        text = f"{text} {limit:.10g} on average: give more examples, or a larger limit."
        warnings.warn(text, BudgetlearnWarning, stacklevel=2)


def _p_values(estimator, outcomes, y, cost, error, level):
    """Return cost, error, p-value and losses (shares of the most) of each stage."""
    rows = []
    for stage, most in zip(outcomes, most_costs(estimator), strict=False):
        check_consistent_length(stage.output, y)
        costs = estimator.feature_costs_.total(stage.acquired)
        wrong = stage.output != y if is_classifier(estimator) else np.full(len(y), np.nan)
        p_value, losses = 0.0, costs / (most or 1.0)
        # No test is needed if no example can exceed the limit, or if none acquires anything.
        if cost is not None and not affords(cost, most) and stage.acquired.any():
            p_value = betting_p(losses, cost / most, level)
        if error is not None:
            # The exact probability of so few errors at the limit. As both limits must hold, the
            # null hypothesis is a union, whose p-value is the larger one.
            p_value = max(p_value, float(binom.cdf(int(wrong.sum()), len(y), error)))
        rows.append((costs.mean(), wrong.mean(), p_value, losses))
    return pd.DataFrame(rows, columns=["cost", "error", "p_value", "losses"])


def _margins(estimator, front, cost, error):
    """Return the margin of each point to the limits on validation data, largest first."""
    margin = pd.Series(np.inf, index=front.index)
    if cost is not None:
        # Points that never exceed the limit come first. Costs are shares, as error rates are.
        tested = ~affords(cost, most_costs(estimator)[front.index])
        margin[tested] = (cost - front["cost"]) / (estimator.feature_costs_.full or 1.0)
    if error is not None:
        margin = np.minimum(margin, error - (1 - front["score"]))
    return margin.sort_values(ascending=False, kind="stable")
