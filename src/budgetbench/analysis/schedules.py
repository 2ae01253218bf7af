"""The tidy frame of operating points: what it must hold, and its compression to schedules.

One row per operating point: dataset, costs, method, run, stage, fit, cost, cost_fraction,
valid_score, test_score, fit_seconds, predict_seconds, status, and optionally valid_cost, as in
`budgetbench.study.records`. A row whose status is not "ok" stands for a fit that failed or ran
out of time.

Several functions take `expected`: a frame with dataset, costs, method, run of everything that was
to be done, as a run that was planned and left no record is a failure. Without it a run of a method
counts if the points hold a row of it: that it was planned is then not known.
"""

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices

from ..study.records import OK, RecordError

CASE = ["dataset", "costs"]
CASE_RUN = [*CASE, "run"]
GROUP = [*CASE, "method"]
RUN = [*GROUP, "run"]

_NUMBERS = ["cost", "cost_fraction", "valid_score", "test_score", "fit_seconds", "predict_seconds"]


def of_case(frame, dataset, costs):
    """Return the rows of one data set under one kind of cost profile."""
    return frame[(frame["dataset"] == dataset) & (frame["costs"] == costs)]


def columns_of(frame, names):
    """Return columns as a list, to group another series of the same rows by them."""
    return [frame[name] for name in names]


def check_points(points):
    """Return `points` in the order of runs and stages, if it is a usable frame of them.

    What is computed from it then does not depend on the order of files, to the last bit.
    """
    points = points.sort_values([*RUN, "stage"], ignore_index=True)
    repeated = points[points.duplicated([*RUN, "stage"])]
    if len(repeated):
        raise RecordError(
            f"Each (dataset, costs, method, run, stage) may occur once; {len(repeated)} repeat, "
            f"first {tuple(repeated.iloc[0][[*RUN, 'stage']])}. Pass each record file once."
        )
    # A NaN that got this far would silently drop a model from every schedule.
    finite = np.isfinite(points[_NUMBERS].to_numpy(dtype=float)).all(axis=1)
    broken = points[(points["status"] == OK) & ~finite]
    if len(broken):
        raise RecordError(
            f"An operating point with status 'ok' must have finite {', '.join(_NUMBERS)}; "
            f"{len(broken)} do not, first {tuple(broken.iloc[0][[*RUN, 'stage']])}."
        )
    return points


def full_costs(points):
    """Return for each point what all features cost in its run; NaN where no model paid for any."""
    # The full cost is not a column; any row that paid something tells it.
    full = (points["cost"] / points["cost_fraction"]).where(points["cost_fraction"] > 0)
    return full.groupby(columns_of(points, CASE_RUN)).transform("max")


def compressed_points(points):
    """Keep, in each run, the operating points that beat every cheaper one on validation data.

    They come cheap to expensive within a run: msB's compressed model schedule (Yan et al., section
    3.1), applied to every method alike. The column valid_fraction is the validation cost on the
    scale of cost_fraction: where a method buys example by example, its cost there is another.
    """
    points = check_points(points)
    share = points["cost_fraction"].astype(float)
    if "valid_cost" in points:
        share = (points["valid_cost"] / full_costs(points)).fillna(share)
    good = points.assign(valid_fraction=share)[points["status"] == OK]
    costs, scores = good["valid_fraction"].to_numpy(float), good["valid_score"].to_numpy(float)
    runs = np.flatnonzero(np.diff(good.groupby(RUN).ngroup())) + 1  # rows are in their order
    # On validation data alone: test scores must not choose what is shown.
    kept = [
        places[pareto_indices(costs[places], scores[places])]
        for places in np.split(np.arange(len(good)), runs)
    ]
    return good.iloc[np.concatenate(kept)].reset_index(drop=True)


def first_message(status):
    """Return the first status that is not ok, or "ok"."""
    bad = status[status != OK]
    return bad.iloc[0] if len(bad) else OK


def coverage_table(points, expected):
    """Count the runs of each method: completed (n_ok), in part, failed, or without a record."""
    done = points.groupby(RUN)["status"].agg(
        state=lambda s: "ok" if (s == OK).all() else "partial" if (s == OK).any() else "failed",
        message=first_message,
    )
    runs = expected[RUN].merge(done.reset_index(), how="outer", on=RUN)
    # After the outer merge: a run that left no record is in `expected` only.
    runs = runs.fillna({"state": "missing", "message": OK})
    counts = {
        f"n_{state}": (runs["state"] == state).groupby(columns_of(runs, GROUP)).sum()
        for state in ("ok", "partial", "failed", "missing")
    }
    message = runs.groupby(GROUP)["message"].agg(first_message).replace(OK, "")
    return pd.DataFrame({**counts, "message": message}).reset_index()


def score_table(points, methods):
    """Return mean, sd and n_runs of the test score of one-point methods in each case."""
    own = points[points["method"].isin(methods)]
    # NaN, not dropped: the count says how many completed.
    scores = own["test_score"].where(own["status"] == OK).groupby(columns_of(own, GROUP))
    return scores.agg(mean="mean", sd="std", n_runs="count").reset_index()
