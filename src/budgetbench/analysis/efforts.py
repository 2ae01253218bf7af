"""Models fitted, seconds to fit and to predict, and the gain by tuning of each method."""

import pandas as pd

from ..study.records import OK
from .areas import CONSTANT, area_table
from .schedules import CASE, GROUP, RUN, check_points, compressed_points


def run_times(points):
    """Return the seconds of each run.

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


# Areas that differ by less are equal.
EQUAL = 1e-9


def by_default(points):
    """Return the operating points of each run's first fit: the method at its own settings."""
    return points[(points["fit"] == 0) | (points["status"] != OK)]


def effort_table(points, areas):
    """Return models fitted, seconds and area of each method, by default and tuned.

    Parameters
    ----------
    points : DataFrame
        Operating points with n_fitted.
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.

    Returns
    -------
    DataFrame
        dataset, costs, method; default_models, default_seconds and default_aup of the first fit
        of a run; settings (how many fits there are), models, seconds, processor_seconds and aup of
        all its fits: means over runs.
    """
    fits = points[points["status"] == OK].drop_duplicates([*RUN, "fit"])
    # The first fit of a run is always at the method's own settings (see study/tries.py).
    first = by_default(points)
    rows = {
        "default_models": fits[fits["fit"] == 0].groupby(GROUP)["n_fitted"].mean(),
        "default_seconds": fits[fits["fit"] == 0].groupby(GROUP)["fit_seconds"].mean(),
        "default_aup": _mean_areas(area_table(first, compressed_points(first))),
        "settings": fits.groupby(RUN)["fit"].count().groupby(GROUP).mean(),
        "models": fits.groupby(RUN)["n_fitted"].sum().groupby(GROUP).mean(),
        "seconds": fits.groupby(RUN)["fit_seconds"].sum().groupby(GROUP).mean(),
        "processor_seconds": _sums(fits, "processor_seconds").groupby(GROUP).mean(),
        "aup": _mean_areas(areas),
    }
    return pd.DataFrame(rows).reset_index()


def equal_seconds_table(points, beyond, other):
    """Return the areas of methods at equally many settings, and at equally many seconds.

    Parameters
    ----------
    points : DataFrame
        Operating points of all fits.
    beyond : ndarray of bool
        Which of them come of seconds that were left after the tries.
    other : str
        Id of the method whose processor seconds in a run all others may use.

    Returns
    -------
    DataFrame
        dataset, costs, method; equal: "tries", or "seconds" (the settings begun before the seconds
        were over); settings, processor_seconds and aup: means over runs.
    """
    parts = {"tries": points[~beyond], "seconds": points[_in_time(points, other)]}
    return pd.concat([_reached(part).assign(equal=equal) for equal, part in parts.items()])


def _reached(points):
    """Return settings, processor seconds and area of each method, means over runs."""
    fits = points[points["status"] == OK].drop_duplicates([*RUN, "fit"])
    rows = {
        "settings": fits.groupby(RUN)["fit"].count().groupby(GROUP).mean(),
        "processor_seconds": _sums(fits, "processor_seconds").groupby(GROUP).mean(),
        "aup": _mean_areas(area_table(points, compressed_points(points))),
    }
    return pd.DataFrame(rows).reset_index()


def _in_time(points, other):
    """Return a mask of the points of fits begun before the seconds of a method were over."""
    fits = points.drop_duplicates([*RUN, "fit"]).sort_values([*RUN, "fit"])
    seconds = fits["processor_seconds"].fillna(0.0)
    # Begun before the end, as a running fit is not cut off.
    before = seconds.groupby([fits[name] for name in RUN]).cumsum() - seconds
    own = fits["method"] == other
    most = seconds[own].groupby([fits.loc[own, name] for name in (*CASE, "run")]).sum()
    allowed = most.reindex(pd.MultiIndex.from_frame(fits[[*CASE, "run"]])).to_numpy()
    kept = fits[own | (fits["fit"] == 0) | (before.to_numpy() < allowed)]
    places = pd.MultiIndex.from_frame(points[[*RUN, "fit"]])
    return places.isin(pd.MultiIndex.from_frame(kept[[*RUN, "fit"]]))


def _sums(fits, column):
    """Return the sum over the fits of each run, NaN where one is not known."""
    return fits.groupby(RUN)[column].sum(min_count=1)


def straw_men(points, areas, methods):
    """Return the methods that won nothing, or lost by being tuned, in every run of a data set.

    A rival of that kind is more likely set up wrongly than beaten.

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    methods : list of str
        Those that compete.

    Returns
    -------
    DataFrame
        dataset, costs, method; below: "constant", where the AUP of no completed run is above that
        of the free constant, else "default", where that of every run is below that of its first
        fit; aup and other_aup, the means of both; n_runs.
    """
    own = areas[areas["method"].isin(methods)].set_index(RUN)["aup_test"].dropna()
    free = areas[areas["method"] == CONSTANT].set_index([*CASE, "run"])["aup_test"]
    keys = [(dataset, costs, run) for dataset, costs, _, run in own.index]
    constant = pd.Series(free.reindex(keys).to_numpy(), own.index)
    first = by_default(points)
    default = area_table(first, compressed_points(first)).set_index(RUN)["aup_test"]
    default = default.reindex(own.index)
    # In every run: one bad run may be chance, all of them are a fault of set-up.
    nothing = _everywhere(own <= constant + EQUAL)
    worse = _everywhere(own < default - EQUAL) & ~nothing
    found = [
        pd.DataFrame({"below": name, "aup": own, "other_aup": other})[_of_groups(own, where)]
        for name, other, where in (("constant", constant, nothing), ("default", default, worse))
    ]
    groups = pd.concat(found).groupby([*GROUP, "below"])
    means = groups[["aup", "other_aup"]].mean()
    return means.assign(n_runs=groups.size()).reset_index()


def _everywhere(true):
    """Return whether something is true in all runs of a method on a data set."""
    return true.groupby(GROUP).all()


def _of_groups(runs, groups):
    """Return for each run whether its data set and method are among those where `groups` is."""
    return pd.MultiIndex.droplevel(runs.index, "run").isin(groups.index[groups])


def _mean_areas(areas):
    return areas.groupby(GROUP)["aup_test"].mean()
