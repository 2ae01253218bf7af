"""What splits and what prices do to the areas, where every split is run with every cost profile."""

import numpy as np
import pandas as pd

from ..benchmark.records import OK
from .schedules import GROUP

_COLUMNS = [*GROUP, "splits", "prices", "rest", "n_splits", "n_prices"]


def variance_table(areas, crossed):
    """Return the spread of AUP that is due to splits, to prices, and to neither alone.

    Parameters
    ----------
    areas : DataFrame
        From `budgetlearn.analysis.areas.area_table`.
    crossed : int
        Cost profiles that each split was run with: run r has split r // crossed and profile
        r modulo crossed.

    Returns
    -------
    DataFrame
        dataset, costs, method; splits, prices and rest: standard deviations, the roots of the
        components of a two-way analysis of variance (0 where a component comes out below that);
        n_splits, n_prices. Methods that did not complete every run, and cases of one split or one
        profile, are left out.
    """
    rows = []
    runs = areas["run"].nunique()
    for key, own in areas[areas["status"] == OK].groupby(GROUP):
        own = own.assign(split=own["run"] // crossed, profile=own["run"] % crossed)
        table = own.pivot_table(index="split", columns="profile", values="aup_test")
        if len(own) == runs == table.size and min(table.shape) > 1:
            rows.append((*key, *_components(table.to_numpy()), *table.shape))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _components(table):
    """Return the standard deviations by rows, by columns, and of the rest."""
    n_rows, n_columns = table.shape
    by_row, by_column, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    rest = table - by_row[:, None] - by_column + mean
    error = (rest**2).sum() / ((n_rows - 1) * (n_columns - 1))
    rows = by_row.var(ddof=1) - error / n_columns
    columns = by_column.var(ddof=1) - error / n_rows
    return np.sqrt(np.maximum([rows, columns, error], 0))
