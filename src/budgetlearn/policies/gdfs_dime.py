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
BOLD, TIMID = 1.0, 0.1  # shares of walks that go on at random, at the start and at the end
LEAST = 1e-9  # share of the entropy that a worthless feature counts as: the cheapest comes first


class NetworkPolicy(PolicyClassifier):
    """Base of policies in which a network rates the features.

    A subclass descends in `_descend`, and says in `_worth` what the network's outputs mean. The
    feature with the most worth per price is acquired.
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
        """Return the worth of each feature that is not acquired yet, above 0."""

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
    """Acquire the feature that a network finds best for the next prediction.

    The policy gives each feature a probability, the predictor classifies what is known. Both are
    trained together to predict well after each single acquisition, which is drawn from the policy
    in a relaxed form that lets gradients through; to predict, the feature with the largest
    probability per price is acquired. Stage k has acquired k + 1 features.

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
            # Known features have -inf, and no part in the choice.
            chosen = walks.mask + (scores / temperature).softmax(dim=1)
            training.loss(predictor, X, chosen, y).backward()
            walks.advance(scores.argmax(dim=1))

    def _worth(self, known, acquired):
        scores = evaluate(self._policy, known, acquired)
        return softmax(np.where(acquired, -np.inf, scores), axis=1)

    def _stops(self, X, most):
        return [({"features": k}, (k, -np.inf)) for k in range(1, most + 1)]


def _perturbed(training, policy, X, mask):
    """Return the policy's scores with Gumbel noise: the largest is a draw from the policy."""
    scores = forward(policy, X * mask, mask, training.drop)
    exponential = -training.uniform(scores.shape).clip(TINY).log()
    noise = -exponential.clip(TINY).log()  # both ends of a uniform draw would be infinite
    return (scores + noise).masked_fill(mask > 0, -np.inf)


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
            (training.loss(predictor, X, more, y) + (value - gain).square().mean()).backward()
            walks.advance(chosen[:, 0])

    def _worth(self, known, acquired):
        # Of what there is to know a feature tells between nothing and all.
        shares = evaluate(self._policy, known, acquired).clip(LEAST, 1.0)
        return shares * _entropy(self._probabilities(known, acquired))[:, None]


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
    with training.torch.no_grad():
        before, after = (forward(predictor, X * m, m).log_softmax(dim=1) for m in (mask, more))
        gain = (after - before).gather(1, y[:, None])[:, 0]
        return -(before.exp() * before).sum(dim=1), gain
