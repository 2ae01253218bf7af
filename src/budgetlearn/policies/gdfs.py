"""GDFS (Covert et al. 2023): a policy learned through a relaxed choice of the next feature."""

import numpy as np
from scipy.special import softmax

from ..protocol.documenting import documented
from .classifier import NetworkPolicy
from .networks import evaluate, forward

HOT, COLD = 1.0, 0.1  # temperatures of the relaxed choice, at the start and at the end
TINY = 1e-10


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
