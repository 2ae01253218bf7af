"""Model sequences: the orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
ascending variable indices. `problem` is a `budgetlearn.msb.search.SequenceProblem`, which provides
costs, importance, data and randomness.
"""

from abc import ABC, abstractmethod

import numpy as np

from ..protocol.documenting import documented
from ..validation import ParameterError, check_number

# Minimum importance in ν, a share of the largest: permutation importance may be zero or negative.
IMPORTANCE_FLOOR = 1e-3
# Minimum price in ν, as a share of the highest, so that free variables have a large but finite ν.
PRICE_FLOOR = 1e-9
MAX_GAMMA = 1e6
# Values within this share of the largest are equal, as sums in another order differ in last bits.
_SLACK = 1e-12


class RemovalSequence(ABC):
    """Base of sequences of nested models, which remove one variable after another.

    A subclass has a `name`, and chooses the variables to remove in `chooser`.
    """

    @abstractmethod
    def chooser(self, problem):
        """Return a function from the remaining variables (ascending) to the one to remove."""

    def subsets(self, problem):
        """Yield the nested subsets, the full one first, down to `problem.min_variables`."""
        choose = self.chooser(problem)
        left = list(range(problem.costs.n_features))
        yield tuple(left)
        while len(left) > problem.min_variables:
            # Section 3.1.1: one variable per step; importance is computed only once.
            left.remove(choose(left))
            yield tuple(left)


class ImportanceSequence(RemovalSequence):
    """Remove the least important variable first (Yan et al., section 3.1.1).

    Among equally important variables the most expensive is removed; further ties are random.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        Importance of each variable, by name in a dict or Series; None: permutation importance of
        the full model on the validation data.
    """

    name = "importance"

    def __init__(self, importance=None):
        self.importance = importance

    def chooser(self, problem):
        importance = problem.importance_or(self.importance)
        ranks = problem.rng(self.name).permutation(problem.costs.n_features)
        return lambda left: first_of(left, *self._criteria(problem, importance, left), ranks)

    def _criteria(self, problem, importance, left):
        """Return the criteria of all variables: the least first one goes, the others break ties."""
        return importance, -_shares(problem.costs, left)


@documented
class CostSequence(ImportanceSequence):
    """Remove the most expensive variable first (Yan et al., section 3.1.1).

    In a cost group the remaining members share the charge equally (`FeatureCosts.shares`). So once
    a member is removed, the others follow soon, which saves the charge. Among equally expensive
    variables the least important one is removed; further ties are resolved at random.
    """

    name = "cost"

    def _criteria(self, problem, importance, left):
        return -_shares(problem.costs, left), importance


@documented
class ImportancePerCostSequence(ImportanceSequence):
    """Remove the variable of least normalised importance ν = importance / cost^γ first.

    Ties are resolved at random.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; values below a thousandth of the largest count as that much.
    gamma : float, default=1.0
        The exponent γ of the cost, a share as in `CostSequence`; from 0 to a million.
    """

    name = "importance_per_cost"

    def __init__(self, importance=None, gamma=1.0):
        super().__init__(importance)
        self.gamma = gamma

    def _criteria(self, problem, importance, left):
        return (self._log_worth(problem, importance, left),)

    def _log_worth(self, problem, importance, left):
        """Return log ν = log I − γ log c of every variable, up to a constant.

        Logarithms are used because cost^γ exceeds the range of floats for large γ.
        """
        gamma = check_number(self.gamma, "gamma", low=0, high=MAX_GAMMA)
        strongest = max(importance.max(), 0.0) or 1.0
        log_importance = np.log(np.maximum(importance, IMPORTANCE_FLOOR * strongest))
        least_price = PRICE_FLOOR * (problem.costs.costs.max() or 1.0)
        price = np.maximum(_shares(problem.costs, left), least_price)
        return log_importance - gamma * np.log(price / least_price)


@documented
class SamplingSequence(ImportancePerCostSequence):
    """Remove variables at random, preferring those less important per cost (section 3.1.1).

    A variable is removed with probability proportional to 1/ν.
    """

    name = "sampling"

    def chooser(self, problem):
        importance, rng = problem.importance_or(self.importance), problem.rng(self.name)

        def draw(left):
            worth = self._log_worth(problem, importance, left)[left]
            # p_j ∝ 1/ν_j, in logarithms; subtracting the minimum avoids overflow.
            chances = np.exp(worth.min() - worth)
            return int(rng.choice(left, p=chances / chances.sum()))

        return draw


class UniformSequence(RemovalSequence):
    """Remove variables uniformly at random (section 3.1.1)."""

    name = "uniform"

    def chooser(self, problem):
        rng = problem.rng(self.name)
        return lambda left: int(rng.choice(left))


def _shares(costs, left):
    """Return each variable's share of the acquisition cost of the variables `left`."""
    acquired = np.zeros(costs.n_features, dtype=bool)
    acquired[left] = True
    return costs.shares(acquired)


def first_of(left, *criteria):
    """Return the remaining variable with the least first criterion; later ones resolve ties."""
    for values in criteria:
        least = values[left].min() + _SLACK * np.abs(values[left]).max()
        left = [variable for variable in left if values[variable] <= least]
    return left[0]


@documented
class ForwardSequence:
    """Forward stagewise selection: add the variable that helps most (section 3.1).

    Among equally good models the cheapest is continued; further ties are resolved at random. The
    models tried at a step are fitted in parallel, in as many threads as the problem's `n_jobs`. All
    of them belong to the sequence, so the schedule may use them. For p variables at most
    p (p + 1) / 2 models are fitted, and at most n_candidates · p.

    Parameters
    ----------
    n_candidates : int or None, default=8
        Number of variables tried at a step, the most important first; None: all variables.
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; not needed if all variables are tried.
    """

    name = "forward"

    def __init__(self, n_candidates=8, importance=None):
        self.n_candidates = n_candidates
        self.importance = importance

    def subsets(self, problem):
        """Yield the subsets that are tried, step by step."""
        chosen, left = (), list(range(problem.costs.n_features))
        while left:
            candidates = self._promising(left, chosen, problem)
            tried = [tuple(sorted((*chosen, variable))) for variable in candidates]
            chosen = best_of(problem.visit(tried))
            left = [variable for variable in left if variable not in chosen]
            if len(chosen) >= problem.min_variables:
                yield from tried

    def _promising(self, variables, chosen, problem):
        """Return the candidates among the variables, preferred ones first.

        Candidates are the most important variables; ties go by the model's cost, then at random.
        """
        ranks = problem.rng(self.name).permutation(problem.costs.n_features)
        rest = sorted(variables, key=ranks.__getitem__)
        if self.n_candidates is None:
            return rest
        check_number(self.n_candidates, "n_candidates", low=1, integer=True)
        if len(rest) <= self.n_candidates:
            return rest
        importance = problem.importance_or(self.importance)
        acquired = np.eye(problem.costs.n_features, dtype=bool)
        acquired[:, list(chosen)] = True
        totals, candidates = problem.costs.total(acquired), []  # of the chosen and one more
        for _ in range(self.n_candidates):
            candidates.append(first_of(rest, -importance, totals))
            rest.remove(candidates[-1])
        return candidates


def best_of(models):
    """Return the variables of the model with the highest score, the first cheapest one of ties."""
    best = max(model.score for model in models)
    models = [model for model in models if model.score == best]
    costs = np.array([model.cost for model in models])
    return models[first_of(range(len(models)), costs)].variables


class L1PathSequence:
    """Follow the L1 path of logistic regression (section 3.1.2, algorithm L1 path).

    Parameters
    ----------
    n_lambda : int, default=100
        Number of penalties on the path.
    """

    name = "l1"

    def __init__(self, n_lambda=100):
        self.n_lambda = n_lambda

    def subsets(self, problem):
        """Yield the distinct sets of variables with a non-zero coefficient, from sparse to full."""
        path = problem.l1_path(check_number(self.n_lambda, "n_lambda", low=1, integer=True))
        # A dict keeps the order of the path, and each set once.
        sets = dict.fromkeys(map(path.variables, range(len(path))))
        yield from (variables for variables in sets if len(variables) >= problem.min_variables)


_OFFERED = (ImportanceSequence, CostSequence, SamplingSequence, L1PathSequence, UniformSequence)
_OFFERED += (ImportancePerCostSequence, ForwardSequence)
SEQUENCES = {offered.name: offered for offered in _OFFERED}


def as_sequence(sequence):
    """Return a sequence object for a name of `SEQUENCES`, or the object itself."""
    if isinstance(sequence, str) and sequence in SEQUENCES:
        return SEQUENCES[sequence]()
    known = hasattr(sequence, "name") and hasattr(sequence, "subsets")
    if known and not isinstance(sequence, type):
        return sequence
    raise ParameterError(
        f"a sequence must be one of {', '.join(map(repr, SEQUENCES))}, or an object with `name` "
        f"and `subsets(problem)`; got {sequence!r}."
    )
