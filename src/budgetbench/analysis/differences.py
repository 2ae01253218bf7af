"""Paired differences to a reference method, and what splits and prices do to areas."""

import numpy as np
import pandas as pd

from ..study.records import OK
from .intervals import LEVEL, corrected_interval
from .schedules import CASE, GROUP

_COLUMNS = [*GROUP, "splits", "prices", "rest", "n_splits", "n_prices"]


def variance_table(areas, crossed):
    """Return the spread of AUP that is due to splits, to prices, and to neither alone.

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
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


FEWEST_CASES = 10  # with fewer data sets no claim is made about data sets in general
DRAWS = 4000


def reference_of(ranking, methods):
    """Return whom all are compared with: the peer of the best mean rank, else the best method.

    Parameters
    ----------
    ranking : budgetbench.analysis.ranks.Ranking
        Of the methods.
    methods : dict of str to object
        With `peer`, by id.

    Returns
    -------
    str or None
        None where nothing is ranked.
    """
    order = list(ranking.mean.index)
    peers = [name for name in order if methods[name].peer]
    return next(iter(peers or order), None)


def difference_table(areas, methods, reference, ratios):
    """Return the differences in AUP to a reference on each data set, measured within runs.

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    methods : sequence of str
        Who competes.
    reference : str
        Whom they are compared with.
    ratios : dict of str to float
        Test rows by training rows of each data set.

    Returns
    -------
    DataFrame
        dataset, costs, method, mean, low, high (95 % interval), p, p_holm (Holm's correction over
        all rows), n_runs. Only runs that both completed count.
    """
    wide = areas.pivot_table(index=[*CASE, "run"], columns="method", values="aup_test")
    rows = []
    for method in (name for name in methods if name != reference and name in wide):
        pairs = wide[[method, reference]].dropna() if reference in wide else wide.iloc[:0]
        for case, frame in pairs.groupby(level=CASE):
            gap = (frame[method] - frame[reference]).to_numpy()
            rows.append((*case, method, *corrected_interval(gap, ratios[case[0]]), len(gap)))
    table = pd.DataFrame(rows, columns=[*CASE, "method", "mean", "low", "high", "p", "n_runs"])
    return table.assign(p_holm=_holm(table["p"].to_numpy(dtype=float)))


def _holm(p_values):
    """Return p-values corrected for their number; NaN stays."""
    from statsmodels.stats.multitest import multipletests

    corrected, known = p_values.copy(), ~np.isnan(p_values)
    if known.any():
        corrected[known] = multipletests(p_values[known], method="holm")[1]
    return corrected


def overall_table(areas, differences, reference, random_state=0):
    """Return each method's mean difference over data sets, with a bootstrap interval.

    Data sets are drawn with replacement, then runs within each: the interval speaks of data sets
    like these, not of these alone.

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    differences : DataFrame
        From `difference_table`.
    reference : str
        Whom methods are compared with.
    random_state : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        method, mean, low, high, wins, ties, losses (by whether the interval of a data set
        excludes 0), n_cases; the best mean first. Intervals are NaN with fewer than `FEWEST_CASES`
        data sets.
    """
    wide = areas.pivot_table(index=[*CASE, "run"], columns="method", values="aup_test")
    rows = []
    for method, own in differences.groupby("method", sort=False):
        gaps = (wide[method] - wide[reference]).dropna()
        groups = [group.to_numpy() for _, group in gaps.groupby(level=CASE)]
        low, high = np.nan, np.nan
        if len(groups) >= FEWEST_CASES:
            low, high = _bootstrap(groups, random_state)
        wins, losses = int((own["low"] > 0).sum()), int((own["high"] < 0).sum())
        mean = float(np.mean([group.mean() for group in groups]))
        rows.append((method, mean, low, high, wins, len(own) - wins - losses, losses, len(groups)))
    columns = ["method", "mean", "low", "high", "wins", "ties", "losses", "n_cases"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("mean", ascending=False, kind="stable", ignore_index=True)


def _bootstrap(groups, random_state):
    """Return the interval of the mean of groups, groups and their members drawn anew."""
    random = np.random.default_rng(random_state)
    drawn = np.zeros((DRAWS, len(groups)))
    for column, group in enumerate(groups):
        members = random.integers(len(group), size=(DRAWS, len(group)))
        drawn[:, column] = group[members].mean(axis=1)
    chosen = random.integers(len(groups), size=(DRAWS, len(groups)))
    means = np.take_along_axis(drawn, chosen, axis=1).mean(axis=1)
    return tuple(np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2]))
