"""Mean ranks of the methods over data sets, and which differences chance alone would explain."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .schedules import CASE

LEVEL = 0.05  # below this a difference of ranks is called significant


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of methods by mean AUP.

    Attributes
    ----------
    means : DataFrame
        Areas: one row for each case that is ranked, one column for each method that has an area in
        all of them.
    left_out : list of str
        Methods that lack an area in some case that is ranked.
    """

    means: pd.DataFrame
    left_out: list

    @cached_property
    def ranks(self):
        """Ranks in place of the areas: 1 is the best, equal areas share the mean of their ranks."""
        return self.means.rank(axis=1, ascending=False)

    @property
    def mean(self):
        """Mean rank of each method, the best first."""
        return self.ranks.mean().sort_values(kind="stable")

    @property
    def _testable(self):
        ranks = self.ranks
        return min(ranks.shape[0] - 1, ranks.shape[1] - 2) > 0 and ranks.nunique(axis=1).max() > 1

    @cached_property
    def friedman(self):
        """p-value of Friedman's test that all methods rank alike.

        NaN with fewer than two cases or three methods, or where all are equal everywhere.
        """
        from scipy.stats import friedmanchisquare  # here: most uses of ranks do without

        return (
            float(friedmanchisquare(*self.means.to_numpy().T).pvalue) if self._testable else np.nan
        )

    @cached_property
    def pairs(self):
        """p-values of Nemenyi's test, methods × methods; None where `friedman` is NaN."""
        from scikit_posthocs import posthoc_nemenyi_friedman

        if not self._testable:
            return None
        return posthoc_nemenyi_friedman(self.means.reset_index(drop=True))


def ranking_of(summary, methods, part="test"):
    """Rank methods by their mean AUP.

    Only the cases on which the most methods compete are ranked: on others the same rank would
    mean something else.

    Parameters
    ----------
    summary : DataFrame
        From `budgetbench.analysis.areas.summary_table`.
    methods : sequence of str
        Who competes.
    part : {"test", "valid"}, default="test"
        Which reading of the area.

    Returns
    -------
    Ranking

    References
    ----------
    J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 2006. A data set is one observation, however many runs its mean is over.
    """
    rivals = summary[summary["method"].isin(methods)]
    n_rivals = rivals.groupby(CASE)["method"].transform("nunique")
    ranked = rivals[n_rivals == n_rivals.max()]
    means = ranked.pivot_table(index=CASE, columns="method", values=f"mean_{part}").round(12)
    complete = [name for name in methods if name in means and means[name].notna().all()]
    return Ranking(means[complete], [name for name in methods if name not in complete])


def critical_difference(ranking):
    """Return by how much two mean ranks must differ for Nemenyi's test to tell them apart."""
    from scipy.stats import studentized_range

    n_cases, n_methods = ranking.ranks.shape
    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cases)))


def rank_table(ranking):
    """Return a ranking as a table.

    Parameters
    ----------
    ranking : Ranking
        From `ranking_of`.

    Returns
    -------
    DataFrame
        method, mean_rank, n_cases, p_best: Nemenyi's p-value against the method of the best mean
        rank (NaN for that method itself and where there is no test); sorted by mean rank.
    """
    mean = ranking.mean
    table = pd.DataFrame({"method": mean.index, "mean_rank": mean.to_numpy()})
    table["n_cases"] = len(ranking.ranks)
    table["p_best"] = np.nan
    if ranking.pairs is not None:
        against_best = ranking.pairs.loc[mean.index, mean.index[0]].to_numpy(dtype=float)
        table.loc[1:, "p_best"] = against_best[1:]
    return table
