"""Mean ranks of the methods over data sets, and which differences chance alone would explain."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .schedules import CASE

LEVEL = 0.05  # below this a difference of ranks is called significant


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of methods by mean AUP.

    Attributes
    ----------
    ranks : DataFrame
        One row for each case that is ranked, one column for each method that has an area in all
        of them; 1 is the best, equal means share the mean of their ranks.
    left_out : list of str
        Methods that lack an area in some case that is ranked.
    friedman : float
        p-value of Friedman's test that all methods rank alike; NaN with fewer than two cases or
        three methods.
    pairs : DataFrame or None
        p-values of Nemenyi's test, methods × methods; None where `friedman` is NaN.
    """

    ranks: pd.DataFrame
    left_out: list
    friedman: float
    pairs: pd.DataFrame | None

    @property
    def mean(self):
        """Mean rank of each method, the best first."""
        return self.ranks.mean().sort_values(kind="stable")


def ranking_of(summary, methods, part="test"):
    """Rank methods by their mean AUP.

    Only the cases on which the most methods compete are ranked: on others the same rank would
    mean something else.

    Parameters
    ----------
    summary : DataFrame
        From `budgetlearn.analysis.areas.summary_table`.
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
    means = means[complete]
    ranks = means.rank(axis=1, ascending=False)
    friedman, pairs = np.nan, None
    if len(means) > 1 and len(complete) > 2 and ranks.ne(ranks.iloc[0, 0]).any(axis=None):
        friedman, pairs = _tests(means)
    left_out = [name for name in methods if name not in complete]
    return Ranking(ranks, left_out, friedman, pairs)


def _tests(means):
    """Return Friedman's p-value and Nemenyi's for each pair of methods."""
    from scikit_posthocs import posthoc_nemenyi_friedman  # here: most uses of ranks do without
    from scipy.stats import friedmanchisquare

    friedman = float(friedmanchisquare(*means.to_numpy().T).pvalue)
    return friedman, posthoc_nemenyi_friedman(means.reset_index(drop=True))


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
