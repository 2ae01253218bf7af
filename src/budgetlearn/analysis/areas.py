"""Areas under the Pareto staircase: of each run, their means, and who leads by how much."""

import numpy as np
import pandas as pd

from ..benchmark.records import OK, RecordError
from ..curves import CostAccuracyCurve
from ..exceptions import ConfigError
from .completion import first_message
from .differences import corrected_interval
from .schedules import CASE, GROUP, RUN, check_points

CONSTANT = "constant"
_DRAWN = ["cost_fraction", "test_score", "valid_fraction", "valid_score"]


def baselines_of(points):
    """Return {(dataset, costs, run): test score of the free constant, NaN where it failed}.

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
    good = control["status"] == OK
    scores = control["test_score"].where(good)
    return dict(zip(map(tuple, control[[*CASE, "run"]].to_numpy()), scores, strict=True))


def _staircase(costs, scores, baseline):
    """Return the area under a staircase of points in any order of cost, cost already a share."""
    order = np.argsort(costs, kind="stable")
    return CostAccuracyCurve(costs[order], scores[order]).area(1.0, baseline)


def _areas(kept, baseline):
    """Return (aup_test, aup_valid) of one run's schedule."""
    valid = kept["valid_score"].to_numpy(dtype=float)
    test = _staircase(
        kept["cost_fraction"].to_numpy(dtype=float),
        kept["test_score"].to_numpy(dtype=float),
        baseline,
    )
    return test, _staircase(kept["valid_fraction"].to_numpy(dtype=float), valid, valid[0])


def area_table(points, schedules):
    """Return the area under the Pareto staircase (AUP) of each method in each run.

    Parameters
    ----------
    points : DataFrame
        Operating points with the control method "constant" in every run.
    schedules : DataFrame
        The same, compressed on validation data: `budgetlearn.analysis.schedules.compressed_points`.

    Returns
    -------
    DataFrame
        dataset, costs, method, run;
        aup_test: test scores over the share of the full cost, the majority-class rate left of
        the cheapest model;
        aup_valid: validation scores, the cheapest model's own score carried left;
        n_points: length of the schedule;
        status: "ok", else why both areas are NaN.

    Raises
    ------
    ConfigError
        When a run lacks the constant control.
    """
    points = check_points(points)
    baselines = baselines_of(points)
    schedules = dict(list(schedules[[*RUN, *_DRAWN]].groupby(RUN)))
    rows = []
    for key, run in points[[*RUN, "status"]].groupby(RUN):
        baseline, kept = baselines[key[0], key[1], key[3]], schedules.get(key)
        row = dict(zip(RUN, key, strict=True))
        if kept is None:
            row |= {"n_points": 0, "status": first_message(run["status"])}
        elif np.isnan(baseline):
            row |= {"n_points": len(kept), "status": f"failed: {CONSTANT} failed in this run"}
        else:
            row["aup_test"], row["aup_valid"] = _areas(kept, baseline)
            row |= {"n_points": len(kept), "status": OK}
        rows.append(row)
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
        dataset, costs, method, mean_test, sd_test, mean_valid, sd_valid, n_runs (that the means
        are over), n_failed. Means of no run and standard deviations of one run are NaN.
    """
    groups = areas.groupby(GROUP)
    return pd.DataFrame(
        {
            "mean_test": groups["aup_test"].mean(),
            "sd_test": groups["aup_test"].std(),
            "mean_valid": groups["aup_valid"].mean(),
            "sd_valid": groups["aup_valid"].std(),
            "n_runs": groups["aup_test"].count(),
            "n_failed": groups["status"].agg(lambda status: int((status != OK).sum())),
        }
    ).reset_index()


def lead_table(areas, methods, ratios):
    """Return who has the best mean AUP in each case and by how much, run by run.

    All methods of a run share split and cost profile, so the lead over the runner-up is measured
    within runs: its standard deviation says more than those of the two means.

    Parameters
    ----------
    areas : DataFrame
        From `area_table`.
    methods : sequence of str
        Who competes (not the controls).
    ratios : dict of str to float
        Test rows by training rows of each data set.

    Returns
    -------
    DataFrame
        dataset, costs, best, runner_up, lead, lead_sd, low and high (95 % interval, from
        `corrected_interval`), wins (runs in which the best was ahead), n_runs (that both
        completed). With one competitor runner_up is None and the numbers NaN; a case in which no
        competitor completed a run is left to the coverage table.
    """
    rows = []
    for case, frame in areas[areas["method"].isin(methods)].groupby(CASE):
        table = frame.pivot_table(index="run", columns="method", values="aup_test")
        ranked = table.mean().sort_values(ascending=False, kind="stable").index
        if not len(ranked):
            continue
        row = dict(zip(CASE, case, strict=True)) | {"best": ranked[0], "runner_up": None}
        if len(ranked) > 1:
            lead = (table[ranked[0]] - table[ranked[1]]).dropna()
            _, low, high, _ = corrected_interval(lead.to_numpy(), ratios[case[0]])
            row |= {"runner_up": ranked[1], "lead": lead.mean(), "lead_sd": lead.std()}
            row |= {"low": low, "high": high}
            row |= {"wins": int((lead > 0).sum()), "n_runs": len(lead)}
        rows.append(row)
    columns = [*CASE, "best", "runner_up", "lead", "lead_sd", "low", "high", "wins", "n_runs"]
    return pd.DataFrame(rows, columns=columns)
