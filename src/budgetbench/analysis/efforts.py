"""Models fitted, seconds to fit and to predict, and the gain by tuning of each method.

The first fit of a run always has the method's own settings (`settings_of`). Its results are those
of the method by default, and the results of all fits together are those of the method tuned.
"""

import pandas as pd

from ..study.records import OK
from .areas import CONSTANT, area_table
from .schedules import CASE, CASE_RUN, GROUP, RUN

EQUAL = 1e-9  # areas that differ by less are equal
_SPENT = {"n_fitted": "models", "fit_seconds": "seconds", "processor_seconds": "processor_seconds"}


def time_table(points):
    """Return mean and standard deviation over runs of seconds to fit and to predict."""
    good = points[points["status"] == OK]
    # All operating points of a fit carry its seconds, which count once.
    fits = good.groupby([*RUN, "fit"])["fit_seconds"].first()
    runs = good.groupby(RUN).agg(predict=("predict_seconds", "mean"), n_points=("stage", "size"))
    runs = runs.assign(fit=fits.groupby(RUN).sum()).groupby(GROUP)
    means, sds = runs.mean(), runs[["fit", "predict"]].std().add_suffix("_sd")
    table = means[["fit", "predict"]].add_suffix("_mean").join(sds)
    return table.assign(n_points=means["n_points"], n_runs=runs.size()).reset_index()


def _by_default(points):
    """Return the points of each run's first fit, which has the method's own settings.

    Failures of all fits are included, because a status explains a run without models.
    """
    return points[(points["fit"] == 0) | (points["status"] != OK)]


def _default_areas(points, areas):
    """Return the areas of the first fits, which are the given areas if there are no other fits."""
    first = _by_default(points)
    # The runs in `areas` count here, too, even those without a record.
    return areas if len(first) == len(points) else area_table(first, expected=areas)


def _spent(points, areas):
    """Return each method's settings, models, (processor) seconds and area, as means over runs."""
    runs = points[points["status"] == OK].drop_duplicates([*RUN, "fit"]).groupby(RUN)
    # Unknown instead of 0 if no job measured it.
    spent = runs[list(_SPENT)].sum(min_count=1).rename(columns=_SPENT)
    means = spent.assign(settings=runs.size()).groupby(GROUP).mean()
    return means.join(areas.groupby(GROUP)["aup_test"].mean().rename("aup"), how="outer")


def effort_table(points, areas):
    """Return each method's models, seconds and area, by default and tuned, as means over runs."""
    default = _spent(_by_default(points), _default_areas(points, areas))
    default = default[["models", "seconds", "aup"]].add_prefix("default_")
    return pd.DataFrame({**default, **_spent(points, areas)}).reset_index()


def equal_seconds_table(points, beyond, other, expected=None):
    """Return the areas of methods at equal numbers of settings, and at equal seconds.

    `beyond` is a mask of the points of fits that used the seconds left after the tries. `other` is
    the method whose processor seconds in a run the others may use. `expected`: see `area_table`.
    """
    parts = {"tries": points[~beyond], "seconds": points[_in_time(points, other)]}
    names = ["settings", "processor_seconds", "aup"]
    areas = {equal: area_table(part, expected=expected) for equal, part in parts.items()}
    tables = {equal: _spent(part, areas[equal])[names] for equal, part in parts.items()}
    return pd.concat([table.reset_index().assign(equal=name) for name, table in tables.items()])


def _in_time(points, other):
    """Return a mask of the points whose fit began within the seconds of the method `other`."""
    fits = points.drop_duplicates([*RUN, "fit"]).sort_values([*RUN, "fit"])
    fits = fits.fillna({"processor_seconds": 0.0})
    # The start of a fit counts, as running fits are not interrupted.
    before = fits.groupby(RUN)["processor_seconds"].cumsum() - fits["processor_seconds"]
    own = fits["method"] == other
    most = fits[own].groupby(CASE_RUN)["processor_seconds"].sum()
    allowed = most.reindex(pd.MultiIndex.from_frame(fits[CASE_RUN])).to_numpy()
    kept = fits[own | (fits["fit"] == 0) | (before.to_numpy() < allowed)]
    places = pd.MultiIndex.from_frame(points[[*RUN, "fit"]])
    return places.isin(pd.MultiIndex.from_frame(kept[[*RUN, "fit"]]))


def straw_men(points, areas, methods):
    """Return doubtful methods: in all runs no better than the constant, or worse when tuned."""
    rivals = areas[areas["method"].isin(methods)]
    # Methods that never completed a run are left to the coverage table.
    ran = rivals.assign(ran=rivals["status"] == OK).groupby(GROUP)["ran"].transform("any")
    own = rivals[ran].set_index(RUN)["aup_test"].dropna()
    free = areas[areas["method"] == CONSTANT].set_index(CASE_RUN)["aup_test"]
    constant = free.reindex(own.index.droplevel("method")).set_axis(own.index)
    default = _default_areas(points, areas).set_index(RUN)["aup_test"].reindex(own.index)
    # All runs must agree, as one bad run may be chance.
    nothing = (own <= constant + EQUAL).groupby(GROUP).transform("all")
    worse = (own < default - EQUAL).groupby(GROUP).transform("all") & ~nothing
    # If tuning had no effect, both of two runs would be worse in one of four cases, all of five in
    # one of 32.
    worse &= own.groupby(GROUP).transform("size") >= 5
    found = [
        pd.DataFrame({"below": name, "aup": own, "other_aup": other})[where]
        for name, other, where in (("constant", constant, nothing), ("default", default, worse))
    ]
    groups = pd.concat(found).groupby([*GROUP, "below"])
    means = groups[["aup", "other_aup"]].mean().assign(n_runs=groups.size()).reset_index()
    return means.join(rivals[ran].groupby(CASE)["method"].nunique().rename("n_rivals"), on=CASE)
