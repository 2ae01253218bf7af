"""Areas under the Pareto staircase, and mean cost-accuracy curves with their spread over runs.

A run that a method did not complete counts: the method has no model there, so it buys nothing at
any budget and scores what the free constant does. Left out, it would raise a method that fails
where it is hard.
"""

import numpy as np
import pandas as pd

from budgetlearn.costs import affords, spendable
from budgetlearn.curves import CostAccuracyCurve
from budgetlearn.exceptions import ConfigError

from ..study.records import OK, RecordError
from .schedules import CASE, GROUP, RUN, check_points, counted_runs, first_message

MOST_BUDGETS = 100
MIN_POINTS, MIN_COSTS = 20, 5  # of a smooth mean


def staircase(costs, values, budgets, below):
    """Return for each budget the value of the most expensive point that it affords.

    Parameters
    ----------
    costs, values : ndarray of shape (n_points,)
        Points in any order.
    budgets : ndarray of shape (n_budgets,)
        In the unit of the costs.
    below : object
        What a budget gets that affords nothing.

    Returns
    -------
    ndarray of shape (n_budgets,)
    """
    # Stable: of models of equal cost the later one counts, in every figure alike.
    order = np.argsort(costs, kind="stable")
    position = np.searchsorted(costs[order], spendable(budgets), side="right")
    return np.concatenate(([below], values[order]))[position]


def lowess_mean(costs, scores):
    """Return a smooth mean of scores over costs, after Fig. 9 of Yan et al.

    Cleveland's lowess with two fifths of the points in each neighbourhood, ten at least, and no
    robustness iterations. The paper names only R's function; its defaults (two thirds, three
    iterations) take the few cheap models for outliers and miss the steep start of most curves.

    Parameters
    ----------
    costs, scores : array-like of shape (n_points,)
        Operating points of all runs.

    Returns
    -------
    tuple of two ndarrays, or None
        Distinct costs, ascending, and the mean there; None for fewer than 20 points or 5 distinct
        costs, and where ties leave the local regression undetermined.
    """
    from statsmodels.nonparametric.smoothers_lowess import lowess

    costs, scores = np.asarray(costs, dtype=float), np.asarray(scores, dtype=float)
    grid = np.unique(costs)
    if costs.size < MIN_POINTS or grid.size < MIN_COSTS:
        return None
    # Neighbourhoods of equal costs have no slope; the outcome is checked below instead.
    with np.errstate(all="ignore"):
        smooth = lowess(scores, costs, frac=max(0.4, 10 / costs.size), it=0, xvals=grid)
    return (grid, smooth) if np.isfinite(smooth).all() else None


def mean_curve(points, column, baselines, most=MOST_BUDGETS):
    """Return the mean test score of one method under each budget, and its spread over runs.

    In each run a budget gets the most expensive model of the schedule that it affords; where it
    affords none, the free constant, as in the area under the Pareto (Yan et al., section 5.2), and
    so in a run that the method did not complete: on shares of the full cost the area under this
    curve is the mean AUP.

    Parameters
    ----------
    points : DataFrame
        The schedules of one method in one case, from `compressed_points`.
    column : {"cost_fraction", "cost"}
        The unit of the budgets.
    baselines : Series
        Test score of the free constant in each run of the case; runs that it lacks are left out.
    most : int
        Of more budgets at which some run changes its model, so many quantiles are kept.

    Returns
    -------
    DataFrame
        budget (ascending), mean, sd (NaN for one run), n_affording (runs that afford a model),
        n_runs.
    """
    points = points[points["run"].isin(baselines.index)]
    budgets = np.unique(points[column].to_numpy(dtype=float))
    if budgets.size > most:
        # Quantiles, as most budgets lie where the curves bend.
        ranks = np.linspace(0, budgets.size - 1, most).round().astype(int)
        budgets = budgets[ranks]
    n_runs = len(baselines)
    scores = np.empty((n_runs, budgets.size))
    for row, (run, baseline) in enumerate(baselines.items()):
        own = points[points["run"] == run]
        values = own["test_score"].to_numpy(dtype=float)
        scores[row] = staircase(own[column].to_numpy(float), values, budgets, baseline)
    cheapest = points.groupby("run")[column].min().to_numpy(dtype=float)
    affording = affords(budgets, cheapest[:, None]).sum(axis=0)
    return pd.DataFrame(
        {
            "budget": budgets,
            "mean": scores.mean(axis=0) if n_runs else np.nan,
            "sd": scores.std(axis=0, ddof=1) if n_runs > 1 else np.nan,
            "n_affording": affording,
            "n_runs": n_runs,
        }
    )


def control_point(points, column):
    """Return the one operating point of a control as a curve of one row; see `mean_curve`."""
    score = points["test_score"]
    row = {"budget": points[column].mean(), "mean": score.mean(), "sd": score.std()}
    return pd.DataFrame([row | {"n_affording": len(points), "n_runs": len(points)}])


CONSTANT = "constant"
_DRAWN = ["cost_fraction", "test_score", "valid_fraction", "valid_score"]


def baselines_of(points, column="test_score"):
    """Return {(dataset, costs, run): score of the free constant, NaN where it failed}.

    Parameters
    ----------
    column : {"test_score", "valid_score"}, default="test_score"
        On which part.

    Raises
    ------
    RecordError
        When the control costs something.
    ConfigError
        When a run lacks it.
    """
    control = points[points["method"] == CONSTANT]
    priced = control[(control["status"] == OK) & (control["cost"] != 0)]
    if len(priced):
        raise RecordError(
            f"The method {CONSTANT!r} must cost nothing, but {len(priced)} of its operating points "
            f"do, first {tuple(priced.iloc[0][[*RUN, 'cost']])}."
        )
    have = set(map(tuple, control[[*CASE, "run"]].to_numpy()))
    need = list(map(tuple, points[[*CASE, "run"]].drop_duplicates().to_numpy()))
    absent = [key for key in need if key not in have]
    if absent:
        raise ConfigError(
            f"The area under the Pareto needs the majority-class rate of each run left of the "
            f"cheapest model; {len(absent)} of {len(need)} runs lack it, first {absent[0]}. "
            f"Include the control method {CONSTANT!r} in the study."
        )
    # A constant that failed makes its run unusable for all: NaN, not a guess.
    good = control["status"] == OK
    scores = control[column].where(good)
    return dict(zip(map(tuple, control[[*CASE, "run"]].to_numpy()), scores, strict=True))


def _staircase(costs, scores, baseline):
    """Return the area under a staircase of points in any order of cost, cost already a share."""
    order = np.argsort(costs, kind="stable")
    return CostAccuracyCurve(costs[order], scores[order]).area(1.0, baseline)


def _areas(kept, baseline, valid_baseline):
    """Return (aup_test, aup_valid) of one run's schedule; without one it buys nothing."""
    if kept is None:
        return baseline, valid_baseline
    valid = kept["valid_score"].to_numpy(dtype=float)
    test = _staircase(
        kept["cost_fraction"].to_numpy(dtype=float),
        kept["test_score"].to_numpy(dtype=float),
        baseline,
    )
    return test, _staircase(kept["valid_fraction"].to_numpy(dtype=float), valid, valid[0])


def area_table(points, schedules, expected=None):
    """Return the area under the Pareto staircase (AUP) of each method in each run.

    Parameters
    ----------
    points : DataFrame
        Operating points with the control method "constant" in every run.
    schedules : DataFrame
        The same, compressed on validation data: `budgetbench.analysis.schedules.compressed_points`.
    expected : DataFrame, default=None
        dataset, costs, method, run of everything that was to be done: see `counted_runs`.

    Returns
    -------
    DataFrame
        dataset, costs, method, run;
        aup_test: test scores over the share of the full cost, the majority-class rate left of
        the cheapest model, and everywhere in a run that was not completed;
        aup_valid: validation scores, the cheapest model's own score carried left;
        n_points: length of the schedule;
        status: "ok", else why there is no model. Both areas are NaN where the constant failed.

    Raises
    ------
    ConfigError
        When a run lacks the constant control.
    """
    points = check_points(points)
    # Section 5.2 of Yan et al.: left of the cheapest model stands the majority class.
    baselines, valid_baselines = baselines_of(points), baselines_of(points, "valid_score")
    schedules = dict(list(schedules[[*RUN, *_DRAWN]].groupby(RUN)))
    statuses = points.groupby(RUN)["status"].agg(first_message).to_dict()
    rows = []
    for key in counted_runs(points, expected).itertuples(index=False, name=None):
        case_run, kept = (key[0], key[1], key[3]), schedules.get(key)
        areas = _areas(kept, baselines[case_run], valid_baselines[case_run])
        status = OK if kept is not None else statuses.get(key, "missing: it left no record")
        # Such a run says nothing of the method: no area, rather than a wrong one.
        if np.isnan(baselines[case_run]):
            areas = (np.nan, np.nan)
            status = f"failed: {CONSTANT} failed in this run" if status == OK else status
        rows.append((*key, *areas, 0 if kept is None else len(kept), status))
    return pd.DataFrame(rows, columns=[*RUN, "aup_test", "aup_valid", "n_points", "status"])


def summary_table(areas):
    """Return mean and standard deviation of the areas over the runs of each method.

    Parameters
    ----------
    areas : DataFrame
        From `area_table`.

    Returns
    -------
    DataFrame
        dataset, costs, method, mean_test, sd_test, mean_valid, sd_valid; n_runs (completed),
        n_failed (all others), n_constant (of these, the runs that count as the free constant).
        Means of no run and standard deviations of one run are NaN.
    """
    # Runs that failed stay in the mean, by their area; here they are only counted.
    failed = areas["status"] != OK
    groups = areas.assign(failed=failed, constant=failed & areas["aup_test"].notna())
    groups = groups.groupby(GROUP)
    return pd.DataFrame(
        {
            "mean_test": groups["aup_test"].mean(),
            "sd_test": groups["aup_test"].std(),
            "mean_valid": groups["aup_valid"].mean(),
            "sd_valid": groups["aup_valid"].std(),
            "n_runs": groups["failed"].size() - groups["failed"].sum(),
            "n_failed": groups["failed"].sum(),
            "n_constant": groups["constant"].sum(),
        }
    ).reset_index()
