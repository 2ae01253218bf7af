"""Slow NumPy twins of the sequential classifiers: one test point at a time, straight from the papers."""

import numpy as np

TIE = 1e-9  # distances this close (relatively) are ties: rounding depends on the order of sums


def neighborhood(train, point, bought, n_neighbors):
    """Return the training examples nearest to `point` on the bought features, ties included."""
    squares = ((train[:, bought] - point[bought]) ** 2).sum(axis=1)
    n_neighbors = min(n_neighbors, len(train))
    farthest = np.partition(squares, n_neighbors - 1)[n_neighbors - 1]
    return np.flatnonzero(squares <= farthest * (1.0 + TIE))


def algorithm_1(
    train, margins, offsets, point, prices, *, n_neighbors, threshold, cost_weight, budget
):
    """Walk one test point by Algorithm 1 of Nan et al. (2014).

    Parameters
    ----------
    train : ndarray of shape (n, d)
        Standardised training examples.
    margins : ndarray of shape (n, d)
        y w_i phi_i(x) of every training example and feature.
    offsets : ndarray of shape (n,)
        y b of every training example.
    point : ndarray of shape (d,)
        Standardised test point.
    prices : FeatureCosts
        Feature costs.

    Returns
    -------
    tuple of lists
        Bought features, their values, and the estimates p before and after each purchase.
    """
    d = train.shape[1]
    bought, values, near = [], [], np.arange(len(train))
    estimates = [np.mean(offsets > 0)]
    acquired, spent = np.zeros(d, dtype=bool), 0.0
    for stage in range(d):
        if stage and estimates[-1] > threshold:
            break
        rest = np.flatnonzero(~acquired)
        partial = offsets[near] + margins[np.ix_(near, bought)].sum(axis=1)
        ahead = (partial[:, None] + margins[np.ix_(near, rest)] > 0).sum(axis=0) / near.size
        price = prices.marginal(acquired)[rest]
        worth = np.where(spent + price <= budget, ahead - cost_weight * price, -np.inf)
        if np.all(worth == -np.inf):
            break
        best = np.flatnonzero(worth == worth.max())
        chosen = best[np.argmin(price[best])]
        bought.append(rest[chosen])
        values.append(worth[chosen])
        acquired[rest[chosen]] = True
        spent += price[chosen]
        near = neighborhood(train, point, bought, n_neighbors)
        partial = offsets[near] + margins[np.ix_(near, bought)].sum(axis=1)
        estimates.append(np.mean(partial > 0))
    return bought, values, estimates
