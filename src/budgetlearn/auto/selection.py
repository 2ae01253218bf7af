"""From evidence to a schedule: the policy for each budget, and the score to expect of it.

Differences are paired row by row, so that chance which two policies share cancels out.
"""

from dataclasses import dataclass

import numpy as np

from .methods import DEFAULT

# In paired standard errors: how much another method must be better than the default one; and how
# much a row of the schedule must be better than the one before, which costs less.
TO_REPLACE, TO_BUY = 1.0, 0.5
N_RESAMPLES = 100


@dataclass(frozen=True, eq=False)
class Field:
    """The policies as arrays."""

    rows: np.ndarray  # (n_policies, n_samples): contributions to the score
    names: list  # the method of each policy
    places: np.ndarray  # int (n_policies,): index of its budget
    everything: np.ndarray  # bool (n_policies,): whether it acquires all features of every row

    @classmethod
    def of(cls, evidence):
        """Return the field of an `Evidence`."""
        return cls(
            np.array(evidence.rows),
            [method.name for method, _ in evidence.policies],
            np.array([place for _, place in evidence.policies]),
            np.array([method.everything for method, _ in evidence.policies]),
        )


def best_at_budgets(field, weights=None, to_replace=TO_REPLACE, to_buy=TO_BUY):
    """Return the policy for each budget: the constant, or one that is better than all cheaper ones.

    The first policy is the constant. `weights`, (n_samples,), say how often each row counts;
    `to_replace` and `to_buy` are limits in paired standard errors. Returns the index of a policy
    for each budget, the same as before where nothing more is bought.
    """
    weights = np.ones(field.rows.shape[1]) if weights is None else weights
    shares = weights / weights.sum()
    means = field.rows @ shares
    last, chosen = 0, []

    def sure(one, other, limit):
        difference = field.rows[one] - field.rows[other]
        mean = shares @ difference
        error = np.sqrt(max(shares @ difference**2 - mean**2, 0.0) / weights.sum())
        return mean > limit * error

    for place in range(field.places.max() + 1):
        pool = [k for k in np.flatnonzero(field.places == place) if k]
        own = [k for k in pool if field.names[k] == DEFAULT]
        best = max(pool, key=means.__getitem__, default=0)
        # The default stays unless another method is surely better.
        if own and best != own[0] and not sure(best, own[0], to_replace):
            best = own[0]
        if best != last and sure(best, last, to_buy):
            last = best
        chosen.append(last)
    return chosen


def optimism(field, seed, n_resamples=N_RESAMPLES):
    """Return for each budget how much the score of the chosen policy flatters it.

    The choice is made again on resampled rows: there its choice scores better than on all rows, by
    as much as choosing on these rows flatters what was chosen (Efron's bootstrap).

    Returns (n_budgets,).
    """
    random, n = np.random.RandomState(seed), field.rows.shape[1]
    means, gains = field.rows.mean(axis=1), []
    for _ in range(n_resamples):
        weights = np.bincount(random.randint(n, size=n), minlength=n).astype(np.float64)
        resampled = field.rows @ (weights / n)
        gains.append([resampled[k] - means[k] for k in best_at_budgets(field, weights)])
    return np.maximum(np.mean(gains, axis=0), 0.0)


def everything(field):
    """Return the policy that acquires all: the first one, or another that is surely better.

    None where nothing of that kind could be fitted.
    """
    pool = np.flatnonzero(field.everything)
    if not pool.size:
        return None
    first, means = int(pool[0]), field.rows.mean(axis=1)
    best = int(pool[means[pool].argmax()])
    difference = field.rows[best] - field.rows[first]
    surely = difference.mean() > difference.std() / np.sqrt(difference.size)
    return best if surely else first
