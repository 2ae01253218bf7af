"""AACO (Valancius et al. 2024): acquire the most informative features of similar examples."""

import numpy as np
from scipy.special import log_softmax

from ..costs import affords
from ..protocol.documenting import documented
from .classifier import PolicyClassifier, divisors
from .networks import forward

MEMORY = 2000  # most training rows that can be neighbours
NEIGHBOURS = 5  # number of neighbours of an example with acquired features
STRANGERS = 500  # number of training rows that represent an example without acquired features
SETS, SINGLES = 64, 64  # number of random sets, and most single features, tried at each step
LEAST = 1e-9  # smallest rating of a set; thresholds are above it, or never stop
BLOCK = 20_000  # predictions made at a time, which bounds the memory


@documented
class AACOClassifier(PolicyClassifier):
    """Acquire a feature of the set that is most informative about similar training examples.

    Unlike GDFS and DIME, the choice needs no network. Single features and random sets are evaluated
    on the training examples nearest in the known features. The set that reduces their cross-entropy
    most per price is selected, and its most important feature per price is acquired next. A stage
    is a threshold: acquisitions end when no set reaches it. (The paper stops when the empty set has
    the least cross-entropy plus weighted price, which is the same rule, and selects the best set
    with that weight.)

    References
    ----------
    M. Valancius, M. Lennon, J. Oliva. Acquisition conditioned oracle for nongreedy active feature
    acquisition. ICML 2024.
    """

    _threshold_rows = 200

    def _train(self, training, predictor, most):
        training.pretrain(predictor, self.n_steps, self.n_walks, most)
        chosen = training.torch.randperm(len(training.X), generator=training.random)[:MEMORY]
        self._memory, self._answers = training.X[chosen].numpy(), training.y[chosen].numpy()
        self._most, self._seed = most, training.seed
        self._with = free_with(self.feature_costs_)

    def _rating(self, walk, rows, max_cost):
        state = np.hstack([part[rows] for part in (walk.known, walk.acquired, walk.refused)])
        # Examples with the same known values are rated once; at the start, that is all of them.
        _, first, same = np.unique(state, axis=0, return_index=True, return_inverse=True)
        rows = rows[first]
        rating = np.full((rows.size, self.n_features_in_), -np.inf)
        asked = (walk.acquired | walk.refused)[rows].sum(axis=1)
        share = np.where(walk.acquired[rows].any(axis=1), NEIGHBOURS, STRANGERS)
        share = share.clip(max=len(self._memory))
        for number, n_near in np.unique([asked, share], axis=1).T:
            # The sets depend on the number of answers only, so that batches do not matter.
            sets = self._sets(number)
            places = np.flatnonzero((asked == number) & (share == n_near))
            step = max(1, BLOCK // (n_near * len(sets)))
            for start in range(0, places.size, step):
                some = places[start : start + step]
                rating[some] = self._rated(walk, rows[some], sets, n_near, max_cost)
        return rating[same]

    def _rated(self, walk, rows, sets, n_near, max_cost):
        """Return ratings of a block of examples, -inf except at one feature of the best set."""
        known, acquired = walk.known[rows], walk.acquired[rows]
        near = self._nearest(known, acquired, n_near)
        more = sets & ~acquired[:, None] & ~walk.refused[rows][:, None]
        spent, every = self.feature_costs_.total(acquired)[:, None], acquired[:, None] | more
        prices = self.feature_costs_.total(every.reshape(-1, every.shape[2]))
        prices = prices.reshape(every.shape[:2]) - spent
        possible = more.any(axis=2) & affords(max_cost, spent + prices)
        gains = self._gains(known, acquired, more, near)
        ratio = np.where(possible, gains / divisors(prices, self.feature_costs_), -np.inf)
        best, each = ratio.argmax(axis=1), np.arange(len(rows))
        found = np.full(acquired.shape, -np.inf)
        chosen = self._indispensable(known, acquired, more[each, best], near)
        found[each, chosen] = ratio[each, best].clip(LEAST)
        found[~possible.any(axis=1)] = -np.inf
        return found

    def _indispensable(self, known, acquired, chosen, near):
        """Return the feature of each chosen set whose removal loses most per price."""
        order = np.argsort(~chosen, axis=1, kind="stable")[:, : max(1, chosen.sum(axis=1).max())]
        own = np.take_along_axis(chosen, order, axis=1)  # False: padding of smaller sets
        less = chosen[:, None] & ~(self._with[order] & own[:, :, None])
        # The whole set comes first; padded sets are equal to it.
        kept = self._gains(known, acquired, np.insert(less, 0, chosen, axis=1), near)
        prices = np.take_along_axis(self.feature_costs_.marginal(acquired), order, axis=1)
        loss = kept.max(axis=1, keepdims=True) - kept[:, 1:]
        loss = (loss + 1e-9) / divisors(prices, self.feature_costs_)
        return order[np.arange(len(order)), np.where(own, loss, -np.inf).argmax(axis=1)]

    def _sets(self, asked):
        """Return masks of the sets to try: single features, and random sets of every size."""
        random, d = np.random.default_rng([self._seed, asked]), self.n_features_in_
        singles = np.eye(d, dtype=bool)[random.permutation(d)[:SINGLES]]
        sizes = random.integers(1, max(2, self._most - asked + 1), SETS)
        several = random.random((SETS, d)).argsort().argsort() < sizes[:, None]
        return np.vstack([singles, several]) @ self._with

    def _nearest(self, known, acquired, number):
        """Return the nearest training rows by the known features, (n_samples, number)."""
        distance = np.zeros((len(known), len(self._memory)))
        # Summed feature by feature, so that rounding does not depend on the number of examples.
        for feature in np.flatnonzero(acquired.any(axis=0)):
            mine = np.flatnonzero(acquired[:, feature])
            apart = known[mine, feature][:, None] - self._memory[:, feature]
            distance[mine] += apart * apart
        return distance.argsort(axis=1, kind="stable")[:, :number]

    def _gains(self, known, acquired, more, near):
        """Return the reduction of the neighbours' cross-entropy by each set, (n, n_sets)."""
        n, n_sets, d = more.shape
        none = np.zeros((n, 1, d), dtype=bool)
        more = np.concatenate([none, more], axis=1)[:, None]  # (n, 1, n_sets + 1, d)
        acquired, known = acquired[:, None, None], known[:, None, None]
        values = np.where(acquired, known, np.where(more, self._memory[near][:, :, None], 0))
        mask = np.broadcast_to(acquired | more, values.shape)
        # In double precision, so that rounding in batches does not affect comparisons.
        scores = forward(self._predictor, values.reshape(-1, d), mask.reshape(-1, d))
        gain = log_softmax(scores, axis=1).reshape(n, near.shape[1], n_sets + 1, -1)
        answers = self._answers[near][:, :, None, None]
        gain = np.take_along_axis(gain, answers, axis=3)[..., 0].mean(axis=1)
        return gain[:, 1:] - gain[:, :1]


def free_with(costs):
    """Return the mask of features that are free with each feature, including itself, (d, d)."""
    free = np.eye(costs.n_features, dtype=bool)
    if costs.groups is not None:
        same = (costs.groups[:, None] == costs.groups) & (costs.groups >= 0)
        free |= same & (costs.costs == 0)
    return free
