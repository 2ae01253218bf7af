"""DIME (Gadgil et al. 2024): a network that foretells what each feature would gain."""

import numpy as np
from scipy.special import entr

from ..protocol.documenting import documented
from .classifier import NetworkPolicy, divisors, falling_thresholds
from .networks import evaluate, forward

BOLD, TIMID = 1.0, 0.1  # shares of walks that go on at random, at the start and at the end
ROWS = 2000  # training rows, or nearly twice as many, whose walks set the thresholds
LEAST = 1e-9  # share of the entropy that a worthless feature counts as: the cheapest comes first


@documented
class DIMEClassifier(NetworkPolicy):
    """Acquire the feature with the largest expected gain per price, while that is large enough.

    The policy estimates how much each feature would lower the cross-entropy of the predictor,
    which is its mutual information with the class, given what is known. A stage is a threshold:
    acquisitions end where no feature promises as much per price.

    References
    ----------
    S. Gadgil, I. Covert, S.-I. Lee. Estimating conditional mutual information for dynamic feature
    selection. ICLR 2024.
    """

    def _descend(self, training, predictor, policy, walks):
        costs = self.feature_costs_
        prices = training.torch.as_tensor(divisors(costs.alone, costs)).float()
        for done in training.descend([predictor, policy], self.n_steps):
            X, y = walks.examples
            shares = forward(policy, X * walks.mask, walks.mask, training.drop)
            boldness = BOLD + (TIMID - BOLD) * done
            chosen = _next(training, shares.detach() / prices, walks.mask, boldness)
            more = walks.mask.scatter(1, chosen, 1.0)
            entropy, gain = _entropy_and_gain(training, predictor, X, y, walks.mask, more)
            value = entropy * shares.gather(1, chosen)[:, 0]
            loss = training.loss(predictor, X, more, y) + (value - gain).square().mean()
            loss.backward()
            walks.advance(chosen[:, 0])

    def _worth(self, known, acquired):
        # Of what there is to know a feature tells between nothing and all.
        shares = evaluate(self._policy, known, acquired).clip(LEAST, 1.0)
        return shares * _entropy(self._probabilities(known, acquired))[:, None]

    def _stops(self, X, most):
        some = X[:: max(1, len(X) // ROWS)]  # of all parts: tables may be sorted
        return falling_thresholds(self._walk(some, most, 0.0), most)


def _entropy(probabilities):
    # Above 0, where rounding has left no doubt.
    return entr(probabilities).sum(axis=1).clip(LEAST)


def _next(training, rating, mask, boldness):
    """Return the next feature of each walk: the best one, or for a share of them any."""
    bold = training.uniform((len(mask), 1)) < boldness
    rating = training.torch.where(bold, training.uniform(mask.shape), rating)
    return rating.masked_fill(mask > 0, -np.inf).argmax(dim=1, keepdim=True)


def _entropy_and_gain(training, predictor, X, y, mask, more):
    """Return the entropy of predictions by one mask, and how much more features lower the loss."""
    torch = training.torch
    with torch.no_grad():
        before, after = (forward(predictor, X * m, m).log_softmax(dim=1) for m in (mask, more))
        gain = (after - before).gather(1, y[:, None])[:, 0]
        return -(before.exp() * before).sum(dim=1), gain
