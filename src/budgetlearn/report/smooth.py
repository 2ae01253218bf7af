"""The average model schedule over many runs, by local regression."""

import numpy as np

MIN_POINTS = 20
MIN_COSTS = 5


def lowess_mean(costs, scores):
    """Return a smooth mean of scores over costs, after Fig. 9 of Yan et al.

    Cleveland's lowess with two fifths of the points in each neighbourhood, ten at least, and no
    robustness iterations. The paper names only R's function; its defaults (two thirds, three
    iterations) take the few cheap models for outliers and miss the steep start of most curves.

    Parameters
    ----------
    costs, scores : array-like of shape (n_points,)
        Operating points of all runs.

    Returns
    -------
    tuple of two ndarrays, or None
        Distinct costs, ascending, and the mean there; None for fewer than 20 points or 5 distinct
        costs, and where ties leave the local regression undetermined.
    """
    from statsmodels.nonparametric.smoothers_lowess import lowess

    costs, scores = np.asarray(costs, dtype=float), np.asarray(scores, dtype=float)
    grid = np.unique(costs)
    if costs.size < MIN_POINTS or grid.size < MIN_COSTS:
        return None
    # Neighbourhoods of equal costs have no slope; the outcome is checked below instead.
    with np.errstate(all="ignore"):
        smooth = lowess(scores, costs, frac=max(0.4, 10 / costs.size), it=0, xvals=grid)
    return (grid, smooth) if np.isfinite(smooth).all() else None
