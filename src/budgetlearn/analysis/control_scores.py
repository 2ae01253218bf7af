"""Scores of the controls, which bracket all methods."""

from ..benchmark.records import OK
from .schedules import GROUP, check_points


def score_table(points, methods):
    """Return mean and standard deviation over runs of the test score of one-point methods.

    Parameters
    ----------
    points : DataFrame
        Operating points.
    methods : sequence of str
        Methods with one operating point in each run, the controls.

    Returns
    -------
    DataFrame
        dataset, costs, method, mean, sd, n_runs; one row for each of `methods` in each case.
    """
    own = check_points(points)
    own = own[own["method"].isin(methods)]
    scores = own["test_score"].where(own["status"] == OK).groupby([own[c] for c in GROUP])
    return scores.agg(mean="mean", sd="std", n_runs="count").reset_index()
