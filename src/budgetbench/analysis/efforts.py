"""Models fitted, seconds to fit and to predict, and the gain by tuning of each method.

The first fit of a run is always at the method's own settings (`settings_of`): what it reaches is
the method by default, what all fits reach together is the method tuned.
"""

import pandas as pd

from ..study.records import OK
from .areas import CONSTANT, area_table
from .schedules import CASE, CASE_RUN, GROUP, RUN, columns_of

EQUAL = 1e-9  # areas that differ by less are equal


def time_table(points):
    """Return mean and standard deviation over runs of seconds to fit and to predict."""
    good = points[points["status"] == OK]
    # Each operating point has the seconds of its own fit: they count once.
    fits = good.groupby([*RUN, "fit"])["fit_seconds"].first()
    runs = good.groupby(RUN).agg(predict=("predict_seconds", "mean"), n_points=("stage", "size"))
    runs = runs.assign(fit=fits.groupby(RUN).sum()).groupby(GROUP)
    table = runs.agg(
        fit_mean=("fit", "mean"),
        fit_sd=("fit", "std"),
        predict_mean=("predict", "mean"),
        predict_sd=("predict", "std"),
        n_points=("n_points", "mean"),
        n_runs=("fit", "size"),
    )
    return table.reset_index()


def _by_default(points):
    """Return the operating points of each run's first fit: the method at its own settings."""
    return points[(points["fit"] == 0) | (points["status"] != OK)]


def _default_areas(points, areas):
    """Return the areas of the first fits: those of all fits where there are no others."""
    first = _by_default(points)
    return areas if len(first) == len(points) else area_table(first, expected=areas)


def _spent(points, areas):
    """Return settings, models, (processor) seconds and area of each method, means over runs."""
    runs = points[points["status"] == OK].drop_duplicates([*RUN, "fit"]).groupby(RUN)
    spent = {
        "settings": runs["fit"].count(),
        # Unknown, not 0, where no job measured it.
        "models": runs["n_fitted"].sum(min_count=1),
        "seconds": runs["fit_seconds"].sum(),
        "processor_seconds": runs["processor_seconds"].sum(min_count=1),
    }
    means = {name: values.groupby(GROUP).mean() for name, values in spent.items()}
    return pd.DataFrame(means | {"aup": areas.groupby(GROUP)["aup_test"].mean()})


def effort_table(points, areas):
    """Return models fitted, seconds and area of each method, by default and tuned, over runs."""
    names = ["models", "seconds", "aup"]
    default = _spent(_by_default(points), _default_areas(points, areas))[names]
    default = default.add_prefix("default_")
    return pd.DataFrame({**default, **_spent(points, areas)}).reset_index()


def equal_seconds_table(points, beyond, other, expected=None):
    """Return the areas of methods at equally many settings, and at equally many seconds.

    `beyond` is a mask of the points that come of seconds that were left after the tries, `other`
    the method whose processor seconds in a run all others may use, `expected` as in `area_table`.
    """
    parts = {"tries": points[~beyond], "seconds": points[_in_time(points, other)]}
    names = ["settings", "processor_seconds", "aup"]
    tables = {
        equal: _spent(part, area_table(part, expected=expected))[names]
        for equal, part in parts.items()
    }
    return pd.concat([table.reset_index().assign(equal=name) for name, table in tables.items()])


def _in_time(points, other):
    """Return a mask of the points of fits begun before the seconds of a method were over."""
    fits = points.drop_duplicates([*RUN, "fit"]).sort_values([*RUN, "fit"])
    seconds = fits["processor_seconds"].fillna(0.0)
    # Begun before the end, as a running fit is not cut off.
    before = seconds.groupby(columns_of(fits, RUN)).cumsum() - seconds
    own = fits["method"] == other
    most = seconds[own].groupby(columns_of(fits[own], CASE_RUN)).sum()
    allowed = most.reindex(pd.MultiIndex.from_frame(fits[CASE_RUN])).to_numpy()
    kept = fits[own | (fits["fit"] == 0) | (before.to_numpy() < allowed)]
    places = pd.MultiIndex.from_frame(points[[*RUN, "fit"]])
    return places.isin(pd.MultiIndex.from_frame(kept[[*RUN, "fit"]]))


def straw_men(points, areas, methods):
    """Return the methods that won nothing, or lost by being tuned, in every run of a data set.

    A rival of that kind is more likely set up wrongly than beaten.
    """
    rivals = areas[areas["method"].isin(methods)]
    # A method that never came to an end is no question of its set-up here: see the coverage.
    ran = (rivals["status"] == OK).groupby(columns_of(rivals, GROUP)).transform("any")
    own = rivals[ran].set_index(RUN)["aup_test"].dropna()
    free = areas[areas["method"] == CONSTANT].set_index(CASE_RUN)["aup_test"]
    keys = [(dataset, costs, run) for dataset, costs, _, run in own.index]
    constant = pd.Series(free.reindex(keys).to_numpy(), own.index)
    default = _default_areas(points, areas).set_index(RUN)["aup_test"].reindex(own.index)
    # In every run: one bad run may be chance, all of them are a fault of set-up.
    nothing = (own <= constant + EQUAL).groupby(GROUP).transform("all")
    worse = (own < default - EQUAL).groupby(GROUP).transform("all") & ~nothing
    # Where tuning changes nothing, all of two runs are worse every fourth time.
    worse &= own.groupby(GROUP).transform("size") >= 5
    found = [
        pd.DataFrame({"below": name, "aup": own, "other_aup": other})[where]
        for name, other, where in (("constant", constant, nothing), ("default", default, worse))
    ]
    groups = pd.concat(found).groupby([*GROUP, "below"])
    means = groups[["aup", "other_aup"]].mean().assign(n_runs=groups.size()).reset_index()
    return means.join(rivals[ran].groupby(CASE)["method"].nunique().rename("n_rivals"), on=CASE)
