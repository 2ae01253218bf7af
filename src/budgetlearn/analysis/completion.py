"""Which runs completed: no failed fit is dropped without being counted."""

import pandas as pd

from ..benchmark.records import OK
from .schedules import CASE, GROUP, RUN, check_points

_CASE_RUN = [*CASE, "run"]


def first_message(status):
    """Return the first status that is not ok, or "ok"."""
    bad = status[status != OK]
    return bad.iloc[0] if len(bad) else OK


def _expected_runs(points):
    """Return every method in every run that any method of the case has a row for."""
    runs = points[_CASE_RUN].drop_duplicates()
    return runs.merge(points[["method"]].drop_duplicates(), how="cross")[RUN]


def counted_runs(points, expected=None):
    """Return every run of every method that counts, whether or not it left a record.

    Parameters
    ----------
    points : DataFrame
        Operating points.
    expected : DataFrame, default=None
        dataset, costs, method, run of everything that was to be done. By default every method that
        has a record in a case, in every run of that case.

    Returns
    -------
    DataFrame
        dataset, costs, method, run, in their order: of the runs that any method has a record of.
    """
    runs = points[_CASE_RUN].drop_duplicates()
    if expected is None:
        expected = runs.merge(points[GROUP].drop_duplicates(), on=CASE)
    counted = pd.concat([expected[RUN].merge(runs, on=_CASE_RUN), points[RUN]])
    return counted.drop_duplicates().sort_values(RUN, ignore_index=True)


def coverage_table(points, expected=None):
    """Return how many runs of each method completed, failed, or left no record.

    Parameters
    ----------
    points : DataFrame
        Operating points.
    expected : DataFrame, default=None
        dataset, costs, method, run of everything that was to be done. By default every method in
        every run for which any record exists.

    Returns
    -------
    DataFrame
        dataset, costs, method; n_ok, n_partial (some operating points failed), n_failed (all
        did), n_missing; message: the first status that is not ok, else "".
    """
    points = check_points(points)
    expected = _expected_runs(points) if expected is None else expected[RUN]
    done = points.groupby(RUN)["status"].agg(
        state=lambda s: "ok" if (s == OK).all() else "partial" if (s == OK).any() else "failed",
        message=first_message,
    )
    runs = expected.merge(done.reset_index(), how="outer", on=RUN)
    runs["state"] = runs["state"].fillna("missing")
    runs["message"] = runs["message"].fillna(OK)
    counts = {
        f"n_{state}": (runs["state"] == state).groupby([runs[c] for c in GROUP]).sum()
        for state in ("ok", "partial", "failed", "missing")
    }
    message = runs.groupby(GROUP)["message"].agg(first_message).replace(OK, "")
    return pd.DataFrame({**counts, "message": message}).reset_index()
