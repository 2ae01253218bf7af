"""Elo ratings of methods: how often each is ahead of each other, over data sets."""

import numpy as np
import pandas as pd

from .differences import FEWEST_CASES
from .intervals import LEVEL
from .schedules import CASE

MEAN, SCALE = 1000.0, 400.0  # 400 points: ten to one
DRAWS = 400
_PRIOR = 0.1  # of a win and a loss for each pair: nobody's rating is infinite
_STEPS = 500


def elo_table(summary, methods, random_state=0):
    """Return the Elo rating of each method by mean AUP, a data set being one match of each pair.

    Parameters
    ----------
    summary : DataFrame
        From `budgetbench.analysis.areas.summary_table`, or with the same columns.
    methods : sequence of str
        Who competes.
    random_state : int, default=0
        Seed of the bootstrap over data sets.

    Returns
    -------
    DataFrame
        method, elo (1000 on average), low and high (95 % interval, NaN with fewer than
        `FEWEST_CASES` data sets), wins, ties, losses (matches against all others); best first.

    References
    ----------
    N. Erickson et al. TabArena: a living benchmark for machine learning on tabular data. NeurIPS
    2025. Ratings are the maximum likelihood of Bradley and Terry's model, not updates one by one.
    """
    wide = summary[summary["method"].isin(methods)].pivot_table(
        index=CASE, columns="method", values="mean_test"
    )
    wide = wide[[name for name in methods if name in wide]]
    results = np.array([_match(row) for row in wide.round(12).to_numpy()])
    if not len(results):
        return pd.DataFrame(columns=["method", "elo", "low", "high", "wins", "ties", "losses"])
    table = pd.DataFrame({"method": wide.columns, "elo": _ratings(results.sum(axis=0))})
    table["low"], table["high"] = _intervals(results, random_state)
    table["wins"] = (results == 1).sum(axis=(0, 2))
    table["ties"] = (results == 0.5).sum(axis=(0, 2))
    table["losses"] = (results == 1).sum(axis=(0, 1))
    return table.sort_values("elo", ascending=False, kind="stable", ignore_index=True)


def _match(scores):
    """Return a matrix of points: 1 where the row is ahead of the column, ½ each for a tie.

    Who lacks a score on the data set does not play.
    """
    ahead = (scores[:, None] > scores).astype(float) + 0.5 * (scores[:, None] == scores)
    np.fill_diagonal(ahead, 0)
    return ahead


def _ratings(points):
    """Return Bradley and Terry's strengths as Elo ratings.

    Parameters
    ----------
    points : ndarray of shape (..., n_methods, n_methods)
        Points of rows against columns, of one tournament or of many.

    Returns
    -------
    ndarray of shape (..., n_methods)
    """
    points = points + _PRIOR * ~np.eye(points.shape[-1], dtype=bool)
    games, won = points + np.swapaxes(points, -1, -2), points.sum(axis=-1)
    strength = np.ones(won.shape)
    for _ in range(_STEPS):  # Hunter's minorisation
        pairs = strength[..., :, None] + strength[..., None, :]
        new = won / (games / pairs).sum(axis=-1)
        new /= np.exp(np.log(new).mean(axis=-1, keepdims=True))
        if np.allclose(new, strength, rtol=1e-7):
            break
        strength = new
    return MEAN + SCALE * np.log10(strength)


def _intervals(results, random_state):
    """Return the bounds of the ratings when data sets are drawn anew."""
    n_cases, n_methods = results.shape[:2]
    if n_cases < FEWEST_CASES:
        return np.full((2, n_methods), np.nan)
    drawn = np.random.default_rng(random_state).integers(n_cases, size=(DRAWS, n_cases))
    # How often each data set was drawn, times what happened there.
    counts = np.array([np.bincount(draw, minlength=n_cases) for draw in drawn])
    ratings = _ratings(np.tensordot(counts.astype(float), results, axes=1))
    return np.quantile(ratings, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
