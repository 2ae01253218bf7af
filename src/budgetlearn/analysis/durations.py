"""Seconds to fit and to predict."""

from ..benchmark.records import OK
from .schedules import GROUP, RUN, check_points


def run_times(points):
    """Return what each run took.

    Returns
    -------
    DataFrame
        dataset, costs, method, run; fit_seconds (of all fits of the run: each operating point has
        those of its own fit); predict_seconds (mean per operating point); n_points. Runs without
        a single completed point are left to the coverage table.
    """
    points = check_points(points)
    good = points[points["status"] == OK]
    fits = good.groupby([*RUN, "fit"])["fit_seconds"].first()
    times = good.groupby(RUN).agg(
        predict_seconds=("predict_seconds", "mean"), n_points=("stage", "size")
    )
    times.insert(0, "fit_seconds", fits.groupby(RUN).sum())
    return times.reset_index()


def time_table(points):
    """Return mean and standard deviation over runs of the times of `run_times`.

    Returns
    -------
    DataFrame
        dataset, costs, method, fit_mean, fit_sd, predict_mean, predict_sd, n_points (mean number of
        operating points), n_runs.
    """
    return (
        run_times(points)
        .groupby(GROUP)
        .agg(
            fit_mean=("fit_seconds", "mean"),
            fit_sd=("fit_seconds", "std"),
            predict_mean=("predict_seconds", "mean"),
            predict_sd=("predict_seconds", "std"),
            n_points=("n_points", "mean"),
            n_runs=("run", "size"),
        )
        .reset_index()
    )
