"""Areas when only a part of the full cost may be spent: does the winner depend on how much?"""

import numpy as np
import pandas as pd

from budgetlearn.curves import CostAccuracyCurve

from .areas import baselines_of
from .ranks import ranking_of
from .schedules import CASE, GROUP, RUN, counted_runs

# Horizon → the share of the full cost that may be spent at most; "log" weighs each decade alike.
HORIZONS = {"10 %": 0.1, "25 %": 0.25, "50 %": 0.5, "100 %": 1.0, "log": None}
LOG_DECADES = 2.0  # the logarithmic axis starts at a hundredth of the full cost


def _areas(costs, scores, baseline):
    """Return {horizon: mean height of a staircase up to it}, on the log axis too.

    Points are in the order of their costs before the log axis puts the cheapest together at its
    start, so that of these the most expensive counts there.
    """
    # Stable sorting before the clip keeps the most expensive of the cheapest last.
    order = np.argsort(costs, kind="stable")
    costs, scores = costs[order], scores[order]
    with np.errstate(divide="ignore"):
        decades = np.clip(1 + np.log10(costs) / LOG_DECADES, 0, 1)
    # Both are areas under the same staircase; only the axis differs.
    linear, logarithmic = CostAccuracyCurve(costs, scores), CostAccuracyCurve(decades, scores)
    return {
        horizon: logarithmic.area(1.0, baseline) if share is None else linear.area(share, baseline)
        for horizon, share in HORIZONS.items()
    }


def horizon_areas(points, schedules, expected=None):
    """Return the area under the test staircase of each run, up to each horizon.

    Parameters
    ----------
    points : DataFrame
        Operating points with the control method "constant" in every run.
    schedules : DataFrame
        From `budgetbench.analysis.schedules.compressed_points`.
    expected : DataFrame, default=None
        dataset, costs, method, run of everything that was to be done: see
        `budgetbench.analysis.schedules.counted_runs`.

    Returns
    -------
    DataFrame
        dataset, costs, method, run, horizon, aup: the mean over all budgets up to the horizon of
        the test score that a budget buys, the free constant's where it buys nothing, as in a
        run that was not completed. At "100 %" that is `aup_test` of
        `budgetbench.analysis.areas.area_table`. Runs in which the constant failed are left out.
    """
    baselines, rows = baselines_of(points), []
    drawn = dict(list(schedules[[*RUN, "cost_fraction", "test_score"]].groupby(RUN)))
    for key in counted_runs(points, expected).itertuples(index=False, name=None):
        baseline = baselines[key[0], key[1], key[3]]
        if np.isnan(baseline):
            continue
        kept = drawn.get(key, schedules.iloc[:0])
        costs = kept["cost_fraction"].to_numpy(dtype=float)
        scores = kept["test_score"].to_numpy(dtype=float)
        rows += [(*key, *each) for each in _areas(costs, scores, baseline).items()]
    return pd.DataFrame(rows, columns=[*RUN, "horizon", "aup"])


def horizon_table(areas):
    """Return mean and standard deviation over runs of the areas up to each horizon.

    Parameters
    ----------
    areas : DataFrame
        From `horizon_areas`.

    Returns
    -------
    DataFrame
        dataset, costs, method, horizon, mean_test, sd_test, n_runs.
    """
    groups = areas.groupby([*GROUP, "horizon"], sort=False)["aup"]
    found = {"mean_test": groups.mean(), "sd_test": groups.std(), "n_runs": groups.count()}
    return pd.DataFrame(found).reset_index()


def horizon_ranks(table, methods):
    """Return the mean rank of each method over the data sets, at every horizon.

    Parameters
    ----------
    table : DataFrame
        From `horizon_table`.

    Returns
    -------
    DataFrame
        Methods × horizons, the best at 100 % first; NaN where a method lacks an area somewhere.
    """
    ranks = {
        horizon: ranking_of(table[table["horizon"] == horizon], methods).mean
        for horizon in HORIZONS
    }
    return pd.DataFrame(ranks).sort_values("100 %", kind="stable")


def winners(ranks):
    """Return {horizon: method of the best mean rank}, in the order of the horizons."""
    return {horizon: column.idxmin() for horizon, column in ranks.items() if column.notna().any()}


def survives_leaving_one_out(table, methods):
    """Tell for each horizon whether its winner stays first when any one data set is left out.

    Parameters
    ----------
    table : DataFrame
        From `horizon_table`.

    Returns
    -------
    dict of str to bool
        Horizons; with a single data set there is nothing to leave out, and all are True.
    """
    first, stays = winners(horizon_ranks(table, methods)), {}
    cases = list(map(tuple, table[CASE].drop_duplicates().to_numpy()))
    # A case is left out as a whole: one data set under one kind of costs.
    keys = pd.MultiIndex.from_frame(table[CASE])
    left = cases if len(cases) > 1 else []
    without = [winners(horizon_ranks(table[keys != case], methods)) for case in left]
    for horizon, winner in first.items():
        stays[horizon] = all(w.get(horizon) == winner for w in without)
    return stays
