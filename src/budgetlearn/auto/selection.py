"""From evidence to a schedule: the policy for each budget, and the score to expect of it.

Differences are paired row by row, so that chance which two policies share cancels out.
"""

from dataclasses import dataclass

import numpy as np

from .methods import DEFAULT

# In paired standard errors: how much another method must be better than the default one, of several
# that try; how much the first purchase must be better than none; and how much a row of the schedule
# must be better than the purchase before, which costs less: a budget is there to be spent.
TO_REPLACE, TO_BUY, TO_SPEND = 1.5, 0.5, 0.0
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


def best_at_budgets(field, weights=None):
    """Return the policy for each budget: the constant, or one that is better than all cheaper ones.

    The first policy is the constant. `weights`, (n_samples,), say how often each row counts.
    Returns the index of a policy for each budget, the same as before where nothing more is bought.
    """
    weights = np.ones(field.rows.shape[1]) if weights is None else weights
    means = field.rows @ (weights / weights.sum())
    last, chosen = 0, []
    for place in range(field.places.max() + 1):
        pool = [k for k in np.flatnonzero(field.places == place) if k]
        own = [k for k in pool if field.names[k] == DEFAULT]
        best = max(pool, key=means.__getitem__, default=0)
        # The default stays unless another method is surely better.
        if own and best != own[0] and not _better(field, weights, best, own[0], TO_REPLACE):
            best = own[0]
        limit = TO_SPEND if last else TO_BUY
        if best != last and _better(field, weights, best, last, limit):
            last = best
        chosen.append(last)
    return chosen


def surely_better(field, chosen):
    """Return those of the policies chosen for ascending budgets that beat cheaper ones by `TO_BUY`.

    The first policy, the constant, is one of them; the last of them is what to buy if no budget
    says how much there is to spend.
    """
    kept, weights = [0], np.ones(field.rows.shape[1])
    for policy in dict.fromkeys(chosen):
        if policy and _better(field, weights, policy, kept[-1], TO_BUY):
            kept.append(policy)
    return kept


def _better(field, weights, one, other, limit):
    """Return True where a policy is better than another by more than `limit` standard errors."""
    difference, shares = field.rows[one] - field.rows[other], weights / weights.sum()
    mean = shares @ difference
    error = np.sqrt(max(shares @ difference**2 - mean**2, 0.0) / weights.sum())
    return mean > limit * error


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
