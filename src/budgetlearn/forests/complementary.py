"""Samples for the trees of a forest: equal chances, or more for what the forest gets wrong."""

import numpy as np

from ..tree.predictor import ForestPredictor
from .base import bootstrap_weights

# Least weight of an example that every tree so far classifies correctly: after one tree these are
# nearly all, and without a floor the second tree would be grown on the mistakes of the first.
FLOOR = 0.02


class EqualSampling:
    """Bootstrap samples."""

    def __init__(self, n_samples):
        self.n_samples = n_samples

    def draw(self, seed):
        """Return the count of each example in a sample, float64 of shape (n_samples,)."""
        return bootstrap_weights(self.n_samples, seed)

    def learn(self, tree):
        """Take note of a new tree: nothing to do."""


class ComplementarySampling:
    """Samples whose chances follow the share ε_j of trees that are right about example j.

    Algorithm 3 of the cost-sensitive random forest. Its W_j = ε_j favours what the forest already
    knows; dynamic random forests (Bernard, Adam and Heutte 2012), which it is based on, favour
    the rest: W_j = 1 - ε_j.
    """

    def __init__(self, X, labels, literal):
        self.X, self.labels, self.literal = X, labels, literal
        self.weights = np.ones(labels.size)
        self._n_trees, self._n_right = 0, np.zeros(labels.size)

    def draw(self, seed):
        """Return the count of each example in a sample, float64 of shape (n_samples,)."""
        n, chances = self.weights.size, self.weights / self.weights.sum()
        drawn = np.random.default_rng(seed).choice(n, size=n, p=chances)
        return np.bincount(drawn, minlength=n).astype(np.float64)

    def learn(self, tree):
        """Count what a new tree gets right, and weigh the examples anew."""
        votes = ForestPredictor([tree], self.X.shape[1]).walk(self.X, votes=True).votes
        self._n_right += votes[np.arange(self.labels.size), self.labels]
        self._n_trees += 1
        right = self._n_right / self._n_trees
        # A tree is right about an example of some leaf at least, so the sum stays positive.
        self.weights = right if self.literal else np.maximum(1 - right, FLOOR)
