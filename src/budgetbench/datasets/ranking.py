"""Ranking data of the shape of Yahoo! Learning to Rank, with its price list."""

import numpy as np

from budgetlearn.costs import FeatureCosts

# How many of the 519 features cost what (BudgetRF, section 3).
PRICE_CLASSES = {1: 123, 5: 31, 20: 191, 50: 125, 100: 16, 150: 32, 200: 1}
MEAN_QUERY = 23.7  # documents: 473,134 over 19,944 queries
GRADES = (0.26, 0.36, 0.28, 0.08)  # shares of relevance 0, 1, 2, 3; the rest is 4
N_TOPICS = 6
_BLOCK = 1 << 15  # rows made at a time, so that no second table is ever in memory


def yahoo_costs():
    """Return the price list: the features in the seven printed price classes, mixed.

    The list of prices is not public feature by feature; the numbers per class are.

    Returns
    -------
    FeatureCosts
        519 prices, always the same.
    """
    prices = np.repeat(list(PRICE_CLASSES), list(PRICE_CLASSES.values()))
    return FeatureCosts(np.random.default_rng(519).permutation(prices))


def yahoo_like(n_samples, seed):
    """Draw documents with 519 features, grouped in queries, with graded relevance.

    Relevance grows with a few hidden topics of a document, two of which only matter together, and
    differs from query to query. Each feature is a noisy view of one topic, between 0 and 1 as
    Yahoo's are; the noise shrinks with the price, and two topics are seen by expensive features
    only. So cheap features alone rank fairly, and expensive ones add what they cannot know.

    Return X (float32, column-major), y (relevance 0 to 4, in about the shares of Yahoo's) and the
    query of each document: 0, 1, …; its documents stand together.
    """
    rng = np.random.default_rng(seed)
    groups = _queries(n_samples, rng)
    topics = rng.standard_normal((n_samples, N_TOPICS), dtype=np.float32)
    topic, noise = _views()
    X = np.empty((n_samples, topic.size), np.float32, order="F")
    for start in range(0, n_samples, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n_samples))
        shape = (rows.stop - rows.start, topic.size)
        view = noise * rng.standard_normal(shape, dtype=np.float32)
        view += topics[rows][:, topic]
        view /= np.sqrt(1 + noise**2)
        X[rows] = 1 / (1 + np.exp(-1.7 * view))
    return X, _relevance(topics, groups, rng), groups


def _queries(n_samples, rng):
    """Draw query lengths around the mean, at least 1, until there are enough documents."""
    lengths = []
    while sum(lengths) < n_samples:
        lengths += (1 + rng.negative_binomial(3, 3 / (MEAN_QUERY + 2), size=1024)).tolist()
    return np.repeat(np.arange(len(lengths)), lengths)[:n_samples]


def _views():
    """Return the topic that each feature sees and the noise it adds: the same for every seed."""
    costs = yahoo_costs().costs
    rng = np.random.default_rng(700)
    expensive = costs >= 50
    topic = np.where(
        expensive,
        rng.integers(N_TOPICS, size=costs.size),
        rng.integers(N_TOPICS - 2, size=costs.size),
    )
    noise = 4 / costs**0.35 * rng.uniform(0.7, 1.3, size=costs.size)
    return topic, noise.astype(np.float32)


def _relevance(topics, groups, rng):
    first, second, third, fourth, rare, hidden = topics.T
    query = rng.standard_normal(groups[-1] + 1)[groups]
    score = first + 0.6 * second + 0.8 * third * fourth + 0.8 * np.maximum(rare, 0) + 0.6 * hidden
    score = score + 0.4 * query + 0.5 * rng.standard_normal(len(topics))
    return np.searchsorted(np.quantile(score, np.cumsum(GRADES)), score)
