"""Mean ranks of methods over data sets, and tests of their differences.

Ranks follow Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
Each data set is one observation, regardless of the number of runs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .areas import HORIZONS
from .differences import LEVEL
from .schedules import CASE


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of methods by mean AUP."""

    # Areas: a row for each ranked case, a column for each method that has an area in all of them.
    means: pd.DataFrame
    left_out: list  # methods that lack an area in some ranked case

    @cached_property
    def ranks(self):
        """Mean ranks on each data set over its kinds of costs, as one observation."""
        # 1 is the best; equal areas share their mean rank.
        return self.means.rank(axis=1, ascending=False).groupby(level="dataset").mean()

    @property
    def mean(self):
        """Mean rank of each method over data sets, the best first; of equals, the larger area."""
        by_area = self.means.mean().sort_values(ascending=False, kind="stable").index
        # Sums of the same ranks in another order may differ in the last bits.
        return self.ranks.mean()[by_area].sort_values(kind="stable", key=lambda mean: mean.round(9))

    @property
    def _testable(self):
        ranks = self.ranks
        return min(ranks.shape[0] - 1, ranks.shape[1] - 2) > 0 and ranks.nunique(axis=1).max() > 1

    @cached_property
    def friedman(self):
        """p-value of Friedman's test that all methods rank alike; NaN if it cannot be tested."""
        if not self._testable:
            return np.nan
        from scipy.stats import chi2  # here, as most uses of ranks do not need it

        # Of the mean ranks as they are; scipy's test would rank means over kinds of costs again.
        # Conover's form divides by the spread of the ranks, which ties and such means reduce.
        away, degrees = self.ranks - self.ranks.to_numpy().mean(), self.ranks.shape[1] - 1
        statistic = degrees * (away.sum() ** 2).sum() / (away**2).to_numpy().sum()
        return float(chi2.sf(statistic, degrees))

    @cached_property
    def pairs(self):
        """p-values of Nemenyi's test of `mean`, methods × methods; None if `friedman` is NaN."""
        if not self._testable:
            return None
        from scipy.stats import studentized_range

        names, ranks = self.mean.index, self.mean.to_numpy()
        gaps = np.abs(np.subtract.outer(ranks, ranks)) / critical_difference(self)
        critical = studentized_range.ppf(1 - LEVEL, len(names), np.inf)
        p = studentized_range.sf(critical * gaps, len(names), np.inf)
        return pd.DataFrame(p, names, names)


def ranking_of(summary, methods):
    """Rank methods by their mean AUP on test data in `summary_table`."""
    rivals = summary[summary["method"].isin(methods)]
    # A case is missing in `means` if the constant failed in every run.
    known = rivals.set_index([*CASE, "method"])["mean_test"].dropna()
    # Rounded, so that rounding errors do not decide ranks.
    means = known.unstack().round(12)  # noqa: PD010, as a pivot table takes longer
    n_rivals = rivals.groupby(CASE).size().reindex(means.index)
    # Only the cases with the most methods count, as ranks among fewer methods differ in meaning.
    means = means[means.index.isin(n_rivals.index[n_rivals == n_rivals.max()])]
    # With data sets of two tasks, few methods have all cases: the most frequent set decides.
    if means.notna().all().sum() < 2 < means.shape[1]:
        shared = means.notna().apply(tuple, axis=1)
        means = means[shared == shared.value_counts().idxmax()]
    full = means.columns[means.notna().all()] if len(means) else ()
    complete = [name for name in methods if name in full]
    return Ranking(means[complete], [name for name in methods if name not in complete])


def critical_difference(ranking):
    """Return the smallest significant difference of two mean ranks in Nemenyi's test."""
    from scipy.stats import studentized_range

    n_cases, n_methods = ranking.ranks.shape
    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cases)))


def rank_table(ranking):
    """Return mean_rank, n_cases and p_best (Nemenyi's p-value against the best), by rank."""
    table = ranking.mean.rename_axis("method").reset_index(name="mean_rank")
    table = table.assign(n_cases=len(ranking.ranks), p_best=np.nan)
    if ranking.pairs is not None:
        best, *others = table["method"]
        table.loc[1:, "p_best"] = ranking.pairs.loc[others, best].to_numpy(dtype=float)
    return table


def horizon_ranks(table, methods):
    """Return mean ranks, methods × horizons, sorted by those at 100 %; NaN without an area."""
    ranks = {h: ranking_of(table[table["horizon"] == h], methods).mean for h in HORIZONS}
    return pd.DataFrame(ranks).sort_values("100 %", kind="stable")


def winners(ranks):
    """Return {horizon: methods of the best mean rank}, in the order of the horizons."""
    # Rounded, as sums of the same ranks in another order may differ in the last bits.
    known = ranks.round(9).items()
    return {horizon: ranks.index[c == c.min()].tolist() for horizon, c in known if c.notna().any()}


def survives_leaving_one_out(table, methods, first):
    """Return {horizon: whether the `winners` stay the same without any one data set}."""
    # A data set is left out with all kinds of its costs, as they share rows and splits.
    datasets = ranking_of(table[table["horizon"] == "100 %"], methods).ranks.index
    left = datasets if len(datasets) > 1 else []  # with a single one, all are True
    without = [winners(horizon_ranks(table[table["dataset"] != d], methods)) for d in left]
    return {h: all(set(w.get(h, ())) == set(names) for w in without) for h, names in first.items()}
