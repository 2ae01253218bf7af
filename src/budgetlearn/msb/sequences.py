"""Model sequences: the orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
variable indices. `problem` is a `budgetlearn.msb.search.SequenceProblem`: it knows the costs, the
importance of the variables, the training data and a source of randomness, and fits models.
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
# Sums of the same numbers in another order differ in the last bits; values this near (as a share of
# the largest) count as equal.
_SLACK = 1e-12


class RemovalSequence(ABC):
    """Nested models: start from all variables and remove one after another.

    A subclass has a `name` and says in `chooser` which variable goes next.
    """

    @abstractmethod
    def chooser(self, problem):
        """Return a function from the variables that are left (ascending) to the one to remove.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to choose by.

        Returns
        -------
        callable
        """

    def subsets(self, problem):
        """Yield the nested subsets, the full one first, down to `problem.min_variables`.

        Parameters
        ----------
        problem : SequenceProblem
            What to order the variables by.

        Yields
        ------
        tuple of int
            Indices of the variables of a subset, ascending.
        """
        choose = self.chooser(problem)
        left = list(range(problem.costs.n_features))
        yield tuple(left)
        while len(left) > problem.min_variables:
            # Section 3.1.1: one variable a step; importance is computed once, not ranked anew.
            left.remove(choose(left))
            yield tuple(left)


class ImportanceSequence(RemovalSequence):
    """Remove the least important variable first (Yan et al., section 3.1.1).

    Of equally important variables the most expensive leaves, of equally expensive ones one drawn at
    random.

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

        def choose(left):
            return first_of(left, importance, -_shares(problem.costs, left), ranks)

        return choose


class CostSequence(RemovalSequence):
    """Remove the most expensive variable first (Yan et al., section 3.1.1).

    In a cost group the members that are left carry the charge in equal parts
    (`FeatureCosts.shares`), so a group once begun is soon finished, which frees the charge. Of
    equally expensive variables the least important leaves, of equally important ones one drawn at
    random.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`.
    """

    name = "cost"

    def __init__(self, importance=None):
        self.importance = importance

    def chooser(self, problem):
        importance, ranks = problem.importance_or(self.importance), random_ranks(problem, self.name)

        def choose(left):
            return first_of(left, -_shares(problem.costs, left), importance, ranks)

        return choose


class ImportancePerCostSequence(RemovalSequence):
    """Remove the variable of least normalised importance ν = importance / cost^γ first.

    Of equals one drawn at random leaves.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; values below a thousandth of the largest count as that much.
    gamma : float, default=1.0
        The exponent γ of the cost, 0 to a million; the cost is the variable's share of the bill as
        in `CostSequence`.
    """

    name = "importance_per_cost"

    def __init__(self, importance=None, gamma=1.0):
        self.importance = importance
        self.gamma = gamma

    def chooser(self, problem):
        log_worth, ranks = self._log_worth(problem), random_ranks(problem, self.name)
        return lambda left: first_of(left, log_worth(left), ranks)

    def _log_worth(self, problem):
        """Return a function from the variables left to log ν of every variable, up to a constant.

        In logs because cost^γ leaves the range of floats for large γ.
        """
        gamma = check_number(self.gamma, "gamma", low=0, high=MAX_GAMMA)
        importance = problem.importance_or(self.importance)
        strongest = max(importance.max(), 0.0) or 1.0
        log_importance = np.log(np.maximum(importance, IMPORTANCE_FLOOR * strongest))
        least_price = PRICE_FLOOR * (problem.costs.costs.max() or 1.0)

        def log_worth(left):
            # log ν = log I − γ log c, up to a constant: only differences decide.
            price = np.maximum(_shares(problem.costs, left), least_price)
            return log_importance - gamma * np.log(price / least_price)

        return log_worth


@documented
class SamplingSequence(ImportancePerCostSequence):
    """Remove variables at random, the less important per cost the sooner (section 3.1.1).

    A variable leaves with probability proportional to 1/ν.
    """

    name = "sampling"

    def chooser(self, problem):
        log_worth, rng = self._log_worth(problem), problem.rng(self.name)

        def draw(left):
            worth = log_worth(left)[left]
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
    """Return the variable of least first criterion; of equals the next criterion decides.

    `left` are the variables to choose from; a criterion is an array with a value for each variable.
    """
    for values in criteria:
        least = values[left].min() + _SLACK * np.abs(values[left]).max()
        left = [variable for variable in left if values[variable] <= least]
    return left[0]


class StagewiseSequence(ABC):
    """Models that grow or shrink by one variable at a time, the best one on validation data.

    Of equally good models the cheapest is gone on with, of equally expensive ones one drawn at
    random. The models tried at a step are fitted side by side, as many as the problem's `n_jobs`,
    and all of them belong to the sequence: they are paid for, so the schedule may use them.

    Parameters
    ----------
    n_candidates : int or None, default=8
        Variables tried at a step, those that importance puts first; None: all that there are.
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; not needed where all variables are tried.
    """

    def __init__(self, n_candidates=8, importance=None):
        self.n_candidates = n_candidates
        self.importance = importance

    @abstractmethod
    def subsets(self, problem):
        """Yield the subsets that are tried, step after step, as ascending indices."""

    def _promising(self, variables, chosen, problem, sign):
        """Return the candidates among the variables, of equal ones the one to go on with first.

        Candidates have the largest `sign` × importance; of equally important ones those that lead
        to the cheapest models, of these some drawn at random.
        """
        ranks = random_ranks(problem, self.name)
        rest = sorted(variables, key=ranks.__getitem__)
        if self.n_candidates is None:
            return rest
        check_number(self.n_candidates, "n_candidates", low=1, integer=True)
        if len(rest) <= self.n_candidates:
            return rest
        importance = sign * problem.importance_or(self.importance)
        bills = _bills(problem.costs, chosen)
        candidates = []
        for _ in range(self.n_candidates):
            candidates.append(first_of(rest, -importance, bills))
            rest.remove(candidates[-1])
        return candidates


@documented
class ForwardSequence(StagewiseSequence):
    """Forward stagewise selection: add the variable that helps most (section 3.1).

    Of p variables it fits at most p (p + 1) / 2 models, and at most n_candidates · p.
    """

    name = "forward"

    def subsets(self, problem):
        chosen = ()
        n_variables = problem.costs.n_features
        while len(chosen) < n_variables:
            absent = [j for j in range(n_variables) if j not in chosen]
            candidates = self._promising(absent, chosen, problem, sign=1)
            tried = [tuple(sorted((*chosen, j))) for j in candidates]
            # All are visited, the best is gone on with: its rivals stay in the sequence.
            chosen = best_of(problem.visit(tried))
            if len(chosen) >= problem.min_variables:
                yield from tried


@documented
class BackwardSequence(StagewiseSequence):
    """Backward stagewise selection: remove the variable that is missed least (section 3.1).

    It fits about as many models as `ForwardSequence`.
    """

    name = "backward"

    def subsets(self, problem):
        left = tuple(range(problem.costs.n_features))
        yield left
        while len(left) > problem.min_variables:
            candidates = self._promising(left, left, problem, sign=-1)
            tried = [tuple(v for v in left if v != j) for j in candidates]
            # As in forward selection, with each variable that is left taken out in turn.
            left = best_of(problem.visit(tried))
            yield from tried


def best_of(models):
    """Return the variables of the model of largest score, of equals the cheapest (the first)."""
    best = max(model.score for model in models)
    models = [model for model in models if model.score == best]
    bills = np.array([model.cost for model in models])
    return models[first_of(range(len(models)), bills)].variables


def _bills(costs, chosen):
    """Return the cost of the chosen variables once each variable joins or leaves them."""
    acquired = np.zeros((costs.n_features, costs.n_features), dtype=bool)
    acquired[:, list(chosen)] = True
    # Row j is the chosen set with variable j toggled: one call prices all neighbours.
    np.fill_diagonal(acquired, ~acquired.diagonal())
    return costs.total(acquired)


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
        """Return the distinct sets of variables with a non-zero coefficient, sparse to full.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        check_number(self.n_lambda, "n_lambda", low=1, integer=True)
        path = problem.l1_path(self.n_lambda)
        seen = {}
        for step in range(len(path)):
            variables = path.variables(step)
            if len(variables) >= problem.min_variables:
                # A dict keeps the path's order and each set once: many penalties share one set.
                seen.setdefault(variables)
        return iter(seen)


SEQUENCES = {
    cls.name: cls
    for cls in (
        ImportanceSequence,
        CostSequence,
        SamplingSequence,
        L1PathSequence,
        UniformSequence,
        ImportancePerCostSequence,
        ForwardSequence,
        BackwardSequence,
    )
}


def as_sequence(sequence):
    """Return a sequence object for a name of `SEQUENCES`, or the object itself.

    An object has `name` and `subsets(problem)`; anything else is a `ParameterError`.
    """
    if isinstance(sequence, str) and sequence in SEQUENCES:
        return SEQUENCES[sequence]()
    if not isinstance(sequence, (str, type)) and all(
        hasattr(sequence, wanted) for wanted in ("name", "subsets")
    ):
        return sequence
    raise ParameterError(
        f"a sequence must be one of {', '.join(map(repr, SEQUENCES))}, or an object with `name` "
        f"and `subsets(problem)`; got {sequence!r}."
    )
