"""Policies in which a network rates the features: GDFS (Covert 2023), DIME (Gadgil 2024)."""

from abc import abstractmethod

import numpy as np
from scipy.special import entr, softmax

from ..costs import affords
from ..protocol.documenting import documented
from .classifier import PolicyClassifier, divisors
from .networks import Walks, evaluate, forward, trained

HOT, COLD = 1.0, 0.1  # temperatures of the relaxed choice, at the start and at the end
TINY = 1e-10
BOLD, TIMID = 1.0, 0.1  # shares of random acquisitions, at the start and at the end
LEAST = 1e-9  # smallest worth as a share of the entropy; of worthless features, the cheapest wins


class NetworkPolicy(PolicyClassifier):
    """Base of policies in which a network rates the features.

    A subclass trains the network in `_descend`, and turns its outputs into the worth of features in
    `_worth`. The feature with the largest worth per price is acquired.
    """

    def _train(self, training, predictor, most):
        policy = training.network(self.n_hidden, self.n_features_in_)
        self._descend(training, predictor, policy, Walks(training, self.n_walks, most))
        self._policy = trained(policy)

    @abstractmethod
    def _descend(self, training, predictor, policy, walks):
        """Train both networks on walks."""

    @abstractmethod
    def _worth(self, known, acquired):
        """Return the worth, above 0, of each feature that is not acquired yet."""

    def _rating(self, walk, rows, max_cost):
        acquired, costs = walk.acquired[rows], self.feature_costs_
        prices = costs.marginal(acquired)
        spent = costs.total(acquired)[:, None]
        possible = ~(acquired | walk.refused[rows]) & affords(max_cost, spent + prices)
        rating = np.full(possible.shape, -np.inf)
        some = possible.any(axis=1)
        worth = self._worth(walk.known[rows[some]], acquired[some])
        rating[some] = np.where(possible[some], worth / divisors(prices[some], costs), -np.inf)
        return rating


@documented
class GDFSClassifier(NetworkPolicy):
    """Acquire the feature that a network rates best for the next prediction.

    The policy network gives each feature a probability, and the predictor network classifies the
    known features. Both are trained together to predict well after each single acquisition. In
    training, acquisitions are drawn from the policy in a relaxed, differentiable form. To predict,
    the feature with the largest probability per price is acquired. Stage k acquires k + 1 features.

    References
    ----------
    I. Covert, W. Qiu, M. Lu, N. Kim, N. White, S.-I. Lee. Learning to maximize mutual information
    for dynamic feature selection. ICML 2023.
    """

    def _descend(self, training, predictor, policy, walks):
        for done in training.descend([predictor, policy], self.n_steps):
            X, y = walks.examples
            scores = _perturbed(training, policy, X, walks.mask)
            temperature = HOT * (COLD / HOT) ** done
            # Known features have a score of -inf, so they are never chosen.
            chosen = walks.mask + (scores / temperature).softmax(dim=1)
            training.loss(predictor, X, chosen, y).backward()
            walks.advance(scores.argmax(dim=1))

    def _worth(self, known, acquired):
        scores = evaluate(self._policy, known, acquired)
        return softmax(np.where(acquired, -np.inf, scores), axis=1)

    def _stops(self, X, most):
        return [({"features": k}, (k, -np.inf)) for k in range(1, most + 1)]


def _perturbed(training, policy, X, mask):
    """Return the policy's scores with Gumbel noise, so that the largest is a random draw."""
    scores = forward(policy, X * mask, mask, training.drop)
    exponential = -training.uniform(scores.shape).clip(TINY).log()
    noise = -exponential.clip(TINY).log()  # clipped, as 0 and 1 would give infinite noise
    return (scores + noise).masked_fill(mask > 0, -np.inf)


@documented
class DIMEClassifier(NetworkPolicy):
    """Acquire the feature with the largest expected gain per price, while it is large enough.

    The policy estimates how much each feature would reduce the cross-entropy of the predictor. This
    is the feature's mutual information with the class, given the known features. A stage is a
    threshold: acquisitions end when no feature has as large an expected gain per price.

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
            # The best feature or, for a falling share of the walks, a random one.
            bold = training.uniform((len(shares), 1)) < BOLD + (TIMID - BOLD) * done
            random = training.uniform(shares.shape)
            rating = training.torch.where(bold, random, shares.detach() / prices)
            chosen = rating.masked_fill(walks.mask > 0, -np.inf).argmax(dim=1, keepdim=True)
            more = walks.mask.scatter(1, chosen, 1.0)
            entropy, gain = _entropy_and_gain(training, predictor, X, y, walks.mask, more)
            value = entropy * shares.gather(1, chosen)[:, 0]
            (training.loss(predictor, X, more, y) + (value - gain).square().mean()).backward()
            walks.advance(chosen[:, 0])

    def _worth(self, known, acquired):
        # Outputs are shares of the remaining entropy, which counts as above 0 even if rounded to 0.
        shares = evaluate(self._policy, known, acquired).clip(LEAST, 1.0)
        entropy = entr(self._probabilities(known, acquired)).sum(axis=1, keepdims=True)
        return shares * entropy.clip(LEAST)


def _entropy_and_gain(training, predictor, X, y, mask, more):
    """Return the entropy of predictions with a mask, and the gain of a larger mask in log loss."""
    with training.torch.no_grad():
        before, after = (forward(predictor, X * m, m).log_softmax(dim=1) for m in (mask, more))
        gain = (after - before).gather(1, y[:, None])[:, 0]
        return -(before.exp() * before).sum(dim=1), gain
