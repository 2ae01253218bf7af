"""Mean ranks and Elo ratings of methods over data sets, and the differences beyond chance.

Ranks follow Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006: a
data set is one observation, however many runs its mean is over.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .areas import HORIZONS
from .differences import FEWEST_CASES, LEVEL
from .schedules import CASE


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of methods by mean AUP."""

    means: pd.DataFrame  # areas: a row for each ranked case, a column for each method that has all
    left_out: list  # methods that lack an area in some case that is ranked

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
        """p-value of Friedman's test that all methods rank alike; NaN where it cannot be tested."""
        from scipy.stats import friedmanchisquare  # here: most uses of ranks do without

        areas = self.means.to_numpy().T
        return float(friedmanchisquare(*areas).pvalue) if self._testable else np.nan

    @cached_property
    def pairs(self):
        """p-values of Nemenyi's test, methods × methods; None where `friedman` is NaN."""
        from scikit_posthocs import posthoc_nemenyi_friedman

        areas = self.means.reset_index(drop=True)
        return posthoc_nemenyi_friedman(areas) if self._testable else None


def ranking_of(summary, methods, part="test"):
    """Rank methods by their mean AUP in `summary_table`, of `part` "test" or "valid".

    Only the cases on which the most methods compete are ranked: on others the same rank would
    mean something else.
    """
    rivals = summary[summary["method"].isin(methods)]
    n_rivals = rivals.groupby(CASE)["method"].transform("nunique")
    ranked = rivals[n_rivals == n_rivals.max()]
    # Rounded: last bits are not ranks.
    means = ranked.pivot_table(index=CASE, columns="method", values=f"mean_{part}").round(12)
    complete = [name for name in methods if name in means and means[name].notna().all()]
    return Ranking(means[complete], [name for name in methods if name not in complete])


def critical_difference(ranking):
    """Return the least difference of two mean ranks that Nemenyi's test tells from chance."""
    from scipy.stats import studentized_range

    n_cases, n_methods = ranking.ranks.shape
    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cases)))


def rank_table(ranking):
    """Return mean_rank, n_cases and p_best, Nemenyi's p-value against the best, by rank."""
    mean = ranking.mean
    table = pd.DataFrame({"method": mean.index, "mean_rank": mean.to_numpy()})
    table["n_cases"] = len(ranking.ranks)
    table["p_best"] = np.nan
    if ranking.pairs is not None:
        against_best = ranking.pairs.loc[mean.index, mean.index[0]].to_numpy(dtype=float)
        table.loc[1:, "p_best"] = against_best[1:]
    return table


def horizon_ranks(table, methods):
    """Return mean ranks, methods × horizons, the best at 100 % first; NaN without an area."""
    ranks = {
        horizon: ranking_of(table[table["horizon"] == horizon], methods).mean
        for horizon in HORIZONS
    }
    return pd.DataFrame(ranks).sort_values("100 %", kind="stable")


def winners(ranks):
    """Return {horizon: method of the best mean rank}, in the order of the horizons."""
    return {horizon: column.idxmin() for horizon, column in ranks.items() if column.notna().any()}


def survives_leaving_one_out(table, methods):
    """Tell for each horizon whether its winner stays first when any one data set is left out.

    With a single data set there is nothing to leave out, and all are True.
    """
    cases = list(map(tuple, table[CASE].drop_duplicates().to_numpy()))
    # A case is left out as a whole: one data set under one kind of costs.
    keys = pd.MultiIndex.from_frame(table[CASE])
    left = cases if len(cases) > 1 else []
    without = [winners(horizon_ranks(table[keys != case], methods)) for case in left]
    return {
        horizon: all(w.get(horizon) == winner for w in without)
        for horizon, winner in winners(horizon_ranks(table, methods)).items()
    }


MEAN, SCALE = 1000.0, 400.0  # 400 points: ten to one
DRAWS = 400
_PRIOR = 0.1  # of a win and a loss for each pair: nobody's rating is infinite
_STEPS = 500


def elo_table(summary, methods):
    """Return the Elo rating of each method by mean AUP, a data set being one match of each pair.

    Ratings average 1000; their interval comes from drawing data sets anew, from `FEWEST_CASES` on.
    They are the maximum likelihood of Bradley and Terry's model, not updates one by one, as in N.
    Erickson et al., TabArena: a living benchmark for machine learning on tabular data, NeurIPS
    2025.
    """
    wide = summary[summary["method"].isin(methods)].pivot_table(
        index=CASE, columns="method", values="mean_test"
    )
    # In the order of the study, which decides between equal ratings.
    wide = wide[[name for name in methods if name in wide]]
    # Rounded: last bits are not wins.
    results = np.array([_match(row) for row in wide.round(12).to_numpy()])
    if not len(results):
        return pd.DataFrame(columns=["method", "elo", "low", "high", "wins", "ties", "losses"])
    table = pd.DataFrame({"method": wide.columns, "elo": _ratings(results.sum(axis=0))})
    table["low"], table["high"] = _intervals(results)
    table["wins"] = (results == 1).sum(axis=(0, 2))
    table["ties"] = (results == 0.5).sum(axis=(0, 2))
    table["losses"] = (results == 1).sum(axis=(0, 1))
    return table.sort_values("elo", ascending=False, kind="stable", ignore_index=True)


def _match(scores):
    """Return points of rows against columns: 1 ahead, ½ a tie; who lacks a score does not play."""
    ahead = (scores[:, None] > scores).astype(float) + 0.5 * (scores[:, None] == scores)
    np.fill_diagonal(ahead, 0)
    return ahead


def _ratings(points):
    """Return Bradley and Terry's strengths as Elo ratings, of (many) tables of points."""
    points = points + _PRIOR * ~np.eye(points.shape[-1], dtype=bool)
    games, won = points + np.swapaxes(points, -1, -2), points.sum(axis=-1)
    strength = np.ones(won.shape)
    for _ in range(_STEPS):  # Hunter's minorisation
        pairs = strength[..., :, None] + strength[..., None, :]
        new = won / (games / pairs).sum(axis=-1)
        # Only ratios count; the geometric mean is held at 1, an Elo of 1000.
        new /= np.exp(np.log(new).mean(axis=-1, keepdims=True))
        if np.allclose(new, strength, rtol=1e-7):
            break
        strength = new
    return MEAN + SCALE * np.log10(strength)


def _intervals(results):
    """Return the bounds of the ratings when data sets are drawn anew."""
    n_cases, n_methods = results.shape[:2]
    if n_cases < FEWEST_CASES:
        return np.full((2, n_methods), np.nan)
    drawn = np.random.default_rng(0).integers(n_cases, size=(DRAWS, n_cases))
    # How often each data set was drawn, times what happened there.
    counts = np.array([np.bincount(draw, minlength=n_cases) for draw in drawn])
    # All draws at once: 400 fits of the model in one pass.
    ratings = _ratings(np.tensordot(counts.astype(float), results, axes=1))
    return np.quantile(ratings, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
