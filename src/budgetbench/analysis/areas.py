"""Areas under the Pareto staircase, whole and up to a horizon, and mean cost-accuracy curves.

A run that a method did not complete counts with the score of the free constant, as if the method
acquired nothing at any budget. Otherwise methods would gain by failing on hard data.
"""

import numpy as np
import pandas as pd

from budgetlearn.costs import affords, spendable
from budgetlearn.curves import CostAccuracyCurve
from budgetlearn.exceptions import ConfigError

from ..study.records import OK, RecordError
from .schedules import CASE_RUN, GROUP, RUN, compressed_points

CONSTANT = "constant"  # the control that acquires nothing
MOST_BUDGETS = 100
MIN_POINTS, MIN_COSTS = 20, 5  # for a smooth mean
# Horizon → the largest share of the full cost that may be spent; "log" weighs decades equally.
HORIZONS = {"10 %": 0.1, "25 %": 0.25, "50 %": 0.5, "100 %": 1.0, "log": None}
LOG_DECADES = 2.0  # the logarithmic axis starts at a hundredth of the full cost


def never_undercut(costs):
    """Return the indices of the points of a schedule that cost less than every later one."""
    # A schedule is ordered by validation costs; test costs may have another order. As a budget
    # selects the last model that it affords, one that costs no less than a later one is never used.
    cheapest_later = np.minimum.accumulate(np.append(costs, np.inf)[:0:-1])[::-1]
    return np.flatnonzero(costs < cheapest_later)


def staircase(costs, values, budgets, below):
    """Return for each budget the value of the last affordable point, or `below` without one."""
    kept = never_undercut(costs)
    position = np.searchsorted(costs[kept], spendable(budgets), side="right")
    return np.concatenate(([below], values[kept]))[position]


def lowess_mean(costs, scores):
    """Return the distinct costs, ascending, and the smooth mean there (Fig. 9 of Yan et al.).

    This is Cleveland's lowess without robustness iterations, and with two fifths of the points, but
    at least ten, in each neighbourhood. The paper names only R's function, whose defaults (two
    thirds, three iterations) take the few cheap models for outliers and miss most steep starts.
    None: fewer than `MIN_POINTS` points or `MIN_COSTS` costs, or ties leave the mean undetermined.
    """
    from statsmodels.nonparametric.smoothers_lowess import lowess

    costs, scores = np.asarray(costs, dtype=float), np.asarray(scores, dtype=float)
    grid = np.unique(costs)
    if costs.size < MIN_POINTS or grid.size < MIN_COSTS:
        return None
    # Neighbourhoods of equal costs have no slope, which the check below detects.
    with np.errstate(all="ignore"):
        smooth = lowess(scores, costs, frac=max(0.4, 10 / costs.size), it=0, xvals=grid)
    return (grid, smooth) if np.isfinite(smooth).all() else None


def free_scores(case):
    """Return the free constant's test score by run, which is where curves start."""
    return case[case["method"] == CONSTANT].set_index("run")["test_score"].astype(float)


def distinct_budgets(costs, most):
    """Return at most `most` of the budgets at which a model becomes affordable, ascending."""
    budgets = np.unique(costs)
    # Sums of the same prices may differ in the last bits, but select the same models.
    cheaper = np.concatenate(([-np.inf], budgets))[:-1]
    budgets = budgets[budgets > spendable(cheaper)]
    if budgets.size <= most:
        return budgets
    # Quantiles put most budgets where the curves bend.
    return budgets[np.linspace(0, budgets.size - 1, most).round().astype(int)]


def mean_curve(points, column, baselines):
    """Return the mean test score of one method under each budget, and its spread over runs.

    In each run a budget selects the last affordable model of the schedule, or the free constant if
    there is none or the method did not complete the run. So the area under this curve, over shares
    of the full cost, is the mean AUP (Yan et al., section 5.2).

    `points` are the schedules of one method in one case. `column` is the unit of the budgets,
    "cost_fraction" or "cost". `baselines`, the free constant's scores, has the runs that count.
    """
    runs, costs, scored = (points[name].to_numpy() for name in ("run", column, "test_score"))
    budgets = distinct_budgets(costs[np.isin(runs, baselines.index)].astype(float), MOST_BUDGETS)
    n_runs, affording = len(baselines), 0
    scores = np.empty((n_runs, budgets.size))
    for row, (run, baseline) in enumerate(baselines.items()):
        own = costs[runs == run].astype(float)
        scores[row] = staircase(own, scored[runs == run], budgets, baseline)
        affording += affords(budgets, own.min(initial=np.inf))
    mean = scores.mean(axis=0) if n_runs else np.nan
    sd = scores.std(axis=0, ddof=1) if n_runs > 1 else np.nan
    curve = {"budget": budgets, "mean": mean, "sd": sd, "n_affording": affording}
    return pd.DataFrame(curve | {"n_runs": n_runs})


def control_point(points, column):
    """Return the single operating point of a control as a curve of one row; see `mean_curve`."""
    score = points["test_score"]
    row = {"budget": points[column].mean(), "mean": score.mean(), "sd": score.std()}
    return pd.DataFrame([row | {"n_affording": len(points), "n_runs": len(points)}])


def baselines_of(points, column="test_score"):
    """Return {(dataset, costs, run): score of the free constant, NaN if it lacks one}."""
    control = points[points["method"] == CONSTANT]
    priced = control[(control["status"] == OK) & (control["cost"] != 0)]
    if len(priced):
        raise RecordError(
            f"The method {CONSTANT!r} must cost nothing, but {len(priced)} of its operating points "
            f"have a cost, first {tuple(priced.iloc[0][[*RUN, 'cost']])}."
        )
    # If the constant failed, the run is unusable for all methods.
    scores = control[column].where(control["status"] == OK)
    baselines = dict(zip(map(tuple, control[CASE_RUN].to_numpy()), scores, strict=True))
    need = list(map(tuple, points[CASE_RUN].drop_duplicates().to_numpy()))
    if need and not baselines:
        raise ConfigError(
            f"The area under the Pareto needs the score of the free constant in each run, but all "
            f"{len(need)} runs lack it. Include the control method {CONSTANT!r} in the study."
        )
    # Without `strict`, a report may lack the constant's record of a run, as if it had failed.
    return dict.fromkeys(need, np.nan) | baselines


def _each_run(points, schedules, expected):
    """Yield the key, the case and run, and the schedule of each run that counts.

    The schedule, possibly empty, is an array of costs and scores on test data, of the models that
    some budget selects, and another on validation data, of all models.
    """
    test = schedules[["cost_fraction", "test_score"]].to_numpy(dtype=float)
    valid = schedules[["valid_fraction", "valid_score"]].to_numpy(dtype=float)
    counted, places = points[RUN], schedules.groupby(RUN).indices
    if expected is not None:
        # Runs that no method has begun are not missing but still to come.
        begun = expected[RUN].merge(points[CASE_RUN].drop_duplicates(), on=CASE_RUN)
        counted = pd.concat([begun, counted])
    counted = counted.drop_duplicates().sort_values(RUN)
    for key in counted.itertuples(index=False, name=None):
        rows = places.get(key, np.zeros(0, dtype=int))
        used = rows[never_undercut(test[rows, 0])]
        dataset, costs, _, run = key
        yield key, (dataset, costs, run), test[used].T, valid[rows].T


def area_table(points, schedules=None, expected=None):
    """Return the area under the Pareto staircase (AUP) of each method in each run.

    `schedules` are by default `compressed_points`. Without a model, `status` gives the reason.
    """
    # Yan et al. (section 5.2) do not say what counts below the cheapest model. Here it is the free
    # constant on test data.
    schedules = compressed_points(points) if schedules is None else schedules
    baselines, valid_baselines = baselines_of(points), baselines_of(points, "valid_score")
    statuses = points[points["status"] != OK].groupby(RUN)["status"].first().to_dict()
    rows = []
    for key, case_run, test, valid in _each_run(points, schedules, expected):
        baseline, n_points = baselines[case_run], valid.shape[1]
        # On validation data the curve starts at the cheapest model's own score.
        start = valid[1, 0] if n_points else valid_baselines[case_run]
        curves = (CostAccuracyCurve(*test), baseline), (CostAccuracyCurve(*valid), start)
        areas = [curve.area(1.0, below) for curve, below in curves]
        status = OK if n_points else statuses.get(key, "missing: it left no record")
        # Without the constant's score the area is unknown.
        if np.isnan(baseline):
            areas = [np.nan, np.nan]
            status = f"failed: {CONSTANT} failed in this run" if status == OK else status
        rows.append((*key, *areas, n_points, status))
    return pd.DataFrame(rows, columns=[*RUN, "aup_test", "aup_valid", "n_points", "status"])


def summary_table(areas):
    """Return mean and standard deviation of the areas over the runs of each method."""
    # Failed runs are part of the means, with the constant's area.
    failed = areas["status"] != OK
    known = areas["aup_test"].notna()
    counted = areas.assign(n_runs=~failed, n_failed=failed, n_constant=failed & known)
    groups = counted.groupby(GROUP)
    table = groups[["aup_test", "aup_valid"]].agg(["mean", "std"])
    table.columns = ["mean_test", "sd_test", "mean_valid", "sd_valid"]
    return table.join(groups[["n_runs", "n_failed", "n_constant"]].sum()).reset_index()


def horizon_areas(points, schedules, expected=None):
    """Return `aup` of each run up to each horizon, the mean test score over budgets up to it."""
    baselines, rows = baselines_of(points), []
    for key, case_run, (costs, scores), _ in _each_run(points, schedules, expected):
        baseline = baselines[case_run]
        if np.isnan(baseline):
            continue
        # The cheapest models share the start of the log axis, where the last of them counts.
        decades = np.clip(1 + np.log10(np.maximum(costs, 1e-99)) / LOG_DECADES, 0, 1)
        linear, logarithmic = CostAccuracyCurve(costs, scores), CostAccuracyCurve(decades, scores)
        for name, share in HORIZONS.items():
            area = linear.area(share, baseline) if share else logarithmic.area(1.0, baseline)
            rows.append((*key, name, area))
    return pd.DataFrame(rows, columns=[*RUN, "horizon", "aup"])


def horizon_table(areas):
    """Return mean_test, sd_test and n_runs of `horizon_areas` over runs."""
    groups = areas.groupby([*GROUP, "horizon"], sort=False)["aup"]
    return groups.agg(mean_test="mean", sd_test="std", n_runs="count").reset_index()
