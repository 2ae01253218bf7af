"""Penalised logistic regression of the classes on the nodes of a forest: all weights at once."""

import numpy as np
from scipy.special import softmax

from .ridge import NodeRidge

# Ridge regressions to take; with momentum, errors on new data no longer change after about as many.
STEPS = 30


def logarithms(shares):
    """Return scores of class shares; that of a class without examples is small, not infinite."""
    return np.log(np.maximum(shares, np.finfo(float).eps))


class NodeLogit(NodeRidge):
    """Multinomial logistic regression on node indicators; targets are one-hot.

    The Hessian of the loss is at most half of that of the squared error (Boehning, 1992). So each
    step is a ridge regression of the scores plus twice what the probabilities lack, all steps with
    one matrix, and with Nesterov's momentum.
    """

    # One matrix serves all steps and classes, where conjugate gradients would start anew for each.
    largest_dense = 12_000

    def solve(self, penalty):
        """Return the weights (n_nodes, n_classes) that a penalty gives, and the intercept."""
        solver, shares = self._solver(penalty), self._mean
        targets = self._targets / self._root + shares
        scores = before = np.tile(logarithms(shares), (len(targets), 1))
        momentum = 1.0
        for _ in range(STEPS):
            mean, centred = self._centred(scores + 2 * (targets - softmax(scores, axis=1)))
            weights = solver(centred)
            fitted = self._to_samples(weights) / self._root + mean
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            scores = fitted + (momentum - 1) / following * (fitted - before)
            before, momentum = fitted, following
        return weights, mean - self._c @ weights / self._size

    def path(self, penalties):
        """Solve for several penalties.

        Returns
        -------
        list of (weights, intercept)
        scores : None
            What is best is for validation data to say.
        """
        return [self.solve(penalty) for penalty in penalties], None
