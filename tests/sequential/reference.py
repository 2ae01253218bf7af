"""Slow NumPy twins of the sequential classifiers: one test point at a time."""

import numpy as np

TIE = 1e-9  # distances this close (relatively) are ties: rounding depends on the order of sums


def neighborhood(train, point, owned, n_neighbors):
    """Return the training examples nearest to `point` on the acquired features, ties included."""
    squares = ((train[:, owned] - point[owned]) ** 2).sum(axis=1)
    n_neighbors = min(n_neighbors, len(train))
    farthest = np.partition(squares, n_neighbors - 1)[n_neighbors - 1]
    return np.flatnonzero(squares <= farthest * (1.0 + TIE))


def algorithm_1(
    train,
    margins,
    offsets,
    weight,
    point,
    prices,
    *,
    n_neighbors,
    threshold,
    cost_weight,
    max_cost,
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
    weight : ndarray of shape (n,)
        How much each of them counts.
    point : ndarray of shape (d,)
        Standardised test point.
    prices : FeatureCosts
        Feature costs.

    Returns
    -------
    tuple of lists
        Acquired features, their values, and the estimates p before and after each acquisition.
    """
    d = train.shape[1]
    owned, values, near = [], [], np.arange(len(train))
    estimates = [np.average(offsets > 0, weights=weight)]
    acquired, spent = np.zeros(d, dtype=bool), 0.0
    for stage in range(d):
        if stage and estimates[-1] > threshold:
            break
        rest = np.flatnonzero(~acquired)
        partial = offsets[near] + margins[np.ix_(near, owned)].sum(axis=1)
        right = partial[:, None] + margins[np.ix_(near, rest)] > 0
        ahead = np.average(right, axis=0, weights=weight[near])
        price = prices.marginal(acquired)[rest]
        worth = np.where(spent + price <= max_cost, ahead - cost_weight * price, -np.inf)
        if np.all(worth == -np.inf):
            break
        best = np.flatnonzero(worth >= worth.max() - 1e-12)  # equal up to rounding
        chosen = best[np.argmin(price[best])]
        owned.append(rest[chosen])
        values.append(worth[chosen])
        acquired[rest[chosen]] = True
        spent += price[chosen]
        near = neighborhood(train, point, owned, n_neighbors)
        partial = offsets[near] + margins[np.ix_(near, owned)].sum(axis=1)
        estimates.append(np.average(partial > 0, weights=weight[near]))
    return owned, values, estimates


def stump_margins(ensemble, X, sign):
    """Sum the votes of every stump under its feature."""
    margins = np.zeros(X.shape)
    for weight, stump in zip(ensemble.estimator_weights_, ensemble.estimators_, strict=False):
        votes = np.where(stump.predict(X) == 1, weight, -weight)
        margins[:, stump.tree_.feature[0]] += votes
    return margins * sign[:, None], np.zeros(len(X))


def voc_gains(train, codes, point, owned, ridge):
    """Return posterior, features left and expected certainties of VoC after `acquired`.

    Everything is written out for one test point: weights exp(-d2 / median d), a weighted ridge
    regression per class and feature, and the expectation over its Gaussian by a fine grid.
    """
    squares = ((train[:, owned] - point[owned]) ** 2).sum(axis=1)
    median = np.median(np.sqrt(squares))
    weights = np.exp(-(squares - squares.min()) / median) if owned else np.ones(len(train))
    classes = np.unique(codes)
    posterior = np.array([weights[codes == c].sum() for c in classes]) / weights.sum()
    rest = [i for i in range(train.shape[1]) if i not in owned]
    expected = []
    for feature in rest:
        gaussians = [
            _forecast(train[codes == c], weights[codes == c], point, owned, feature, ridge)
            for c in classes
        ]
        low = min(mean - 9.0 * spread for mean, spread in gaussians)
        high = max(mean + 9.0 * spread for mean, spread in gaussians)
        grid = np.linspace(low, high, 20001)
        joint = [
            share * np.exp(-0.5 * ((grid - mean) / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi))
            for share, (mean, spread) in zip(posterior, gaussians, strict=True)
        ]
        expected.append(np.max(joint, axis=0).sum() * (grid[1] - grid[0]))
    return posterior, rest, np.array(expected)


def _forecast(examples, weights, point, owned, feature, ridge):
    design = np.column_stack([np.ones(len(examples)), examples[:, owned]])
    target = examples[:, feature]
    penalty = ridge * np.diag([0.0] + [1.0] * len(owned))
    slopes = np.linalg.solve(
        design.T @ (weights[:, None] * design) + penalty, design.T @ (weights * target)
    )
    residual = target - design @ slopes
    spread = np.sqrt((weights * residual**2).sum() / weights.sum())
    return slopes @ np.r_[1.0, point[owned]], spread
