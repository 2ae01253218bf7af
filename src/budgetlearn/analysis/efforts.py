"""What each method tried: models fitted, seconds, and what tuning brought."""

import pandas as pd

from ..benchmark.records import OK
from .areas import area_table
from .schedules import GROUP, RUN, compressed_points


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
        From `budgetlearn.analysis.areas.area_table`.

    Returns
    -------
    DataFrame
        dataset, costs, method; default_models, default_seconds and default_aup of the first fit
        of a run; models, seconds and aup of all its fits: means over runs.
    """
    fits = points[points["status"] == OK].drop_duplicates([*RUN, "fit"])
    first = by_default(points)
    rows = {
        "default_models": fits[fits["fit"] == 0].groupby(GROUP)["n_fitted"].mean(),
        "default_seconds": fits[fits["fit"] == 0].groupby(GROUP)["fit_seconds"].mean(),
        "default_aup": _mean_areas(area_table(first, compressed_points(first))),
        "models": fits.groupby(RUN)["n_fitted"].sum().groupby(GROUP).mean(),
        "seconds": fits.groupby(RUN)["fit_seconds"].sum().groupby(GROUP).mean(),
        "aup": _mean_areas(areas),
    }
    return pd.DataFrame(rows).reset_index()


def _mean_areas(areas):
    return areas.groupby(GROUP)["aup_test"].mean()
