"""The tidy frame of operating points: its columns, and its compression to schedules.

Each row is an operating point with columns as in `budgetbench.study.records`, of which valid_cost
may be absent. A row whose status is not "ok" represents a fit that failed or ran out of time.

Several functions take `expected`, a frame with dataset, costs, method and run of all planned runs,
so that a planned run without a record counts as a failure; else only runs with a row count.
"""

import numpy as np

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


def check_points(points):
    """Return valid `points`, sorted by run and stage."""
    # Sorted, so that results do not depend on the order of files, to the last bit.
    points = points.sort_values([*RUN, "stage"], ignore_index=True)
    repeated = points[points.duplicated([*RUN, "stage"])]
    if len(repeated):
        raise RecordError(
            f"Each (dataset, costs, method, run, stage) may occur once; {len(repeated)} repeat, "
            f"first {tuple(repeated.iloc[0][[*RUN, 'stage']])}. Pass each record file once."
        )
    # A NaN would silently drop a model from every schedule.
    finite = np.isfinite(points[_NUMBERS].to_numpy(dtype=float)).all(axis=1)
    broken = points[(points["status"] == OK) & ~finite]
    if len(broken):
        raise RecordError(
            f"An operating point with status 'ok' must have finite {', '.join(_NUMBERS)}; "
            f"{len(broken)} do not, first {tuple(broken.iloc[0][[*RUN, 'stage']])}."
        )
    return points


def full_costs(points):
    """Return for each point the cost of all features in its run; NaN if all models are free."""
    # The full cost is no column, but follows from any row with a positive cost.
    full = (points["cost"] / points["cost_fraction"]).where(points["cost_fraction"] > 0)
    return points.assign(full=full).groupby(CASE_RUN)["full"].transform("max")


def compressed_points(points):
    """Keep, in each run, the operating points that beat every cheaper one on validation data.

    They are sorted by cost within a run. This is msB's compressed model schedule (Yan et al.,
    section 3.1), applied to all methods. The column `valid_fraction` is the validation cost on the
    scale of `cost_fraction`, which differs from it for methods that acquire example by example.
    """
    points = check_points(points)
    share = points["cost_fraction"].astype(float)
    if "valid_cost" in points:
        share = (points["valid_cost"] / full_costs(points)).fillna(share)
    good = points.assign(valid_fraction=share)[points["status"] == OK]
    costs, scores = good["valid_fraction"].to_numpy(float), good["valid_score"].to_numpy(float)
    runs = np.flatnonzero(np.diff(good.groupby(RUN).ngroup())) + 1  # rows are in their order
    # Only validation data choose; test scores must not.
    kept = [
        places[pareto_indices(costs[places], scores[places])]
        for places in np.split(np.arange(len(good)), runs)
    ]
    return good.iloc[np.concatenate(kept)].reset_index(drop=True)


def first_message(status):
    """Return the first status other than "ok", or "ok" if there is none."""
    bad = status[status != OK]
    return bad.iloc[0] if len(bad) else OK


def coverage_table(points, expected):
    """Count each method's runs that completed, completed in part, failed, or left no record."""
    done = points.groupby(RUN)["status"].agg(
        state=lambda s: "ok" if (s == OK).all() else "partial" if (s == OK).any() else "failed",
        message=first_message,
    )
    runs = expected[RUN].merge(done.reset_index(), how="outer", on=RUN)
    # A run without a record is only in `expected`.
    runs = runs.fillna({"state": "missing", "message": OK})
    states = {f"n_{s}": runs["state"] == s for s in ("ok", "partial", "failed", "missing")}
    counts = runs.assign(**states).groupby(GROUP)[list(states)].sum()
    message = runs.groupby(GROUP)["message"].agg(first_message).replace(OK, "")
    return counts.assign(message=message).reset_index()


def score_table(points, methods):
    """Return mean, sd and n_runs of the test score of one-point methods in each case."""
    own = points[points["method"].isin(methods)]
    # NaN for failed runs, so that the count includes only completed ones.
    scores = own["test_score"].where(own["status"] == OK)
    groups = own.assign(test_score=scores).groupby(GROUP)["test_score"]
    return groups.agg(mean="mean", sd="std", n_runs="count").reset_index()
