"""Model sequences: the orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
ascending variable indices; `problem`, a `budgetlearn.msb.search.SequenceProblem`, has the costs,
importance, data and randomness to choose by.
"""

from abc import ABC, abstractmethod

import numpy as np

from ..protocol.documenting import documented
from ..validation import ParameterError, check_number

# Weakest importance that a normalised one sees, as a share of the strongest: permutation
# importance can be zero or negative, and a weight must be positive.
IMPORTANCE_FLOOR = 1e-3
# Least price that it sees, as a share of the highest: free variables are never worth removing, and
# a large finite ν stands for their infinity.
PRICE_FLOOR = 1e-9
MAX_GAMMA = 1e6
# Values this near, as a share of the largest, are equal: sums in another order differ in last bits.
_SLACK = 1e-12


class RemovalSequence(ABC):
    """Nested models: start from all variables and remove one after another.

    A subclass has a `name` and says in `chooser` which variable goes next.
    """

    @abstractmethod
    def chooser(self, problem):
        """Return a function from the variables that are left (ascending) to the one to remove."""

    def subsets(self, problem):
        """Yield the nested subsets, the full one first, down to `problem.min_variables`."""
        choose = self.chooser(problem)
        left = list(range(problem.costs.n_features))
        yield tuple(left)
        while len(left) > problem.min_variables:
            # Section 3.1.1: one variable a step; importance is computed once, not ranked anew.
            left.remove(choose(left))
            yield tuple(left)


class ImportanceSequence(RemovalSequence):
    """Remove the least important variable first (Yan et al., section 3.1.1).

    Of equally important variables the most expensive leaves, of equals one at random.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        Importance of each variable, by its name in a dict or Series; None: permutation importance
        of the full model on the validation data.
    """

    name = "importance"

    def __init__(self, importance=None):
        self.importance = importance

    def chooser(self, problem):
        importance, ranks = problem.importance_or(self.importance), random_ranks(problem, self.name)
        return lambda left: first_of(left, *self._criteria(problem, importance, left), ranks)

    def _criteria(self, problem, importance, left):
        """Return the criteria of all variables: the one of the least first criterion goes."""
        return importance, -_shares(problem.costs, left)


@documented
class CostSequence(ImportanceSequence):
    """Remove the most expensive variable first (Yan et al., section 3.1.1).

    In a cost group the members that are left carry the charge in equal parts
    (`FeatureCosts.shares`), so a group once begun is soon finished, which frees the charge. Of
    equally expensive variables the least important leaves, of equals one at random.
    """

    name = "cost"

    def _criteria(self, problem, importance, left):
        return -_shares(problem.costs, left), importance


@documented
class ImportancePerCostSequence(ImportanceSequence):
    """Remove the variable of least normalised importance ν = importance / cost^γ first.

    Of equals one drawn at random leaves.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; values below a thousandth of the largest count as that much.
    gamma : float, default=1.0
        The exponent γ, 0 to a million, of the cost: the share of the bill as in `CostSequence`.
    """

    name = "importance_per_cost"

    def __init__(self, importance=None, gamma=1.0):
        super().__init__(importance)
        self.gamma = gamma

    def _criteria(self, problem, importance, left):
        return (self._log_worth(problem, importance, left),)

    def _log_worth(self, problem, importance, left):
        """Return log ν = log I − γ log c of every variable, up to a constant.

        In logs because cost^γ leaves the range of floats for large γ.
        """
        gamma = check_number(self.gamma, "gamma", low=0, high=MAX_GAMMA)
        strongest = max(importance.max(), 0.0) or 1.0
        log_importance = np.log(np.maximum(importance, IMPORTANCE_FLOOR * strongest))
        least_price = PRICE_FLOOR * (problem.costs.costs.max() or 1.0)
        price = np.maximum(_shares(problem.costs, left), least_price)
        return log_importance - gamma * np.log(price / least_price)


@documented
class SamplingSequence(ImportancePerCostSequence):
    """Remove variables at random, the less important per cost the sooner (section 3.1.1).

    A variable leaves with probability proportional to 1/ν.
    """

    name = "sampling"

    def chooser(self, problem):
        importance, rng = problem.importance_or(self.importance), problem.rng(self.name)

        def draw(left):
            worth = self._log_worth(problem, importance, left)[left]
            # p_j ∝ 1/ν_j, in logs; the least worth is subtracted, so that no power overflows.
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
    """Return each variable's share of the bill for the variables `left`."""
    acquired = np.zeros(costs.n_features, dtype=bool)
    acquired[left] = True
    return costs.shares(acquired)


def random_ranks(problem, name):
    """Return a random rank of each variable, to settle ties."""
    return problem.rng(name).permutation(problem.costs.n_features)


def first_of(left, *criteria):
    """Return the variable left of least first criterion; of equals the next criterion decides."""
    for values in criteria:
        least = values[left].min() + _SLACK * np.abs(values[left]).max()
        left = [variable for variable in left if values[variable] <= least]
    return left[0]


@documented
class ForwardSequence:
    """Forward stagewise selection: add the variable that helps most (section 3.1).

    Of equally good models the cheapest is gone on with, of equally expensive ones one drawn at
    random. The models tried at a step are fitted side by side, as many as the problem's `n_jobs`,
    and all of them belong to the sequence: they are paid for, so the schedule may use them. Of p
    variables it fits at most p (p + 1) / 2 models, and at most n_candidates · p.

    Parameters
    ----------
    n_candidates : int or None, default=8
        Variables tried at a step, those that importance puts first; None: all that there are.
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; not needed where all variables are tried.
    """

    name = "forward"

    def __init__(self, n_candidates=8, importance=None):
        self.n_candidates = n_candidates
        self.importance = importance

    def subsets(self, problem):
        """Yield the subsets that are tried, step after step."""
        chosen, left = (), list(range(problem.costs.n_features))
        while left:
            candidates = self._promising(left, chosen, problem)
            tried = [tuple(sorted((*chosen, variable))) for variable in candidates]
            # All are visited, the best is gone on with: its rivals stay in the sequence.
            chosen = best_of(problem.visit(tried))
            left = [variable for variable in left if variable not in chosen]
            if len(chosen) >= problem.min_variables:
                yield from tried

    def _promising(self, variables, chosen, problem):
        """Return the candidates among the variables, of equal ones the one to go on with first.

        Candidates are the most important; of equally important ones those that lead to the cheapest
        models, of these some drawn at random.
        """
        rest = sorted(variables, key=random_ranks(problem, self.name).__getitem__)
        if self.n_candidates is None:
            return rest
        check_number(self.n_candidates, "n_candidates", low=1, integer=True)
        if len(rest) <= self.n_candidates:
            return rest
        importance = problem.importance_or(self.importance)
        acquired = np.eye(problem.costs.n_features, dtype=bool)
        acquired[:, list(chosen)] = True
        bills, candidates = problem.costs.total(acquired), []  # of the chosen and one more
        for _ in range(self.n_candidates):
            candidates.append(first_of(rest, -importance, bills))
            rest.remove(candidates[-1])
        return candidates


def best_of(models):
    """Return the variables of the model of largest score, of equals the cheapest (the first)."""
    best = max(model.score for model in models)
    models = [model for model in models if model.score == best]
    bills = np.array([model.cost for model in models])
    return models[first_of(range(len(models)), bills)].variables


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
        """Yield the distinct sets of variables with a non-zero coefficient, sparse to full."""
        path = problem.l1_path(check_number(self.n_lambda, "n_lambda", low=1, integer=True))
        # A dict keeps the path's order and each set once: many penalties share one set.
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
