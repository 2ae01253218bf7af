"""Model sequences: orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
variable indices. `problem` is a `budgetlearn.msb.problem.SequenceProblem`: it knows the costs, the
importance of the variables, the training data and a source of randomness, and fits models.
"""

from abc import ABC, abstractmethod

import numpy as np

from .._validation import ParameterError, check_number
from .stagewise import BackwardSequence, ForwardSequence

# Weakest importance that a normalised one sees, as a share of the strongest: permutation
# importance can be zero or negative, and a weight must be positive.
IMPORTANCE_FLOOR = 1e-3
# Least price that it sees, as a share of the dearest: free variables are never worth removing, and
# a large finite ν stands for their infinity.
PRICE_FLOOR = 1e-9


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
            left.remove(choose(left))
            yield tuple(left)


class ImportanceSequence(RemovalSequence):
    """Remove the least important variable first (Yan et al., section 3.1.1).

    Parameters
    ----------
    importance : array-like of shape (n_features,), default=None
        Importance of each variable; None: permutation importance of the full model on the
        validation data.
    """

    name = "importance"

    def __init__(self, importance=None):
        self.importance = importance

    def chooser(self, problem):
        """Return what picks the least important variable, of equals the first.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
        importance = problem.importance_or(self.importance)
        return lambda left: min(left, key=importance.__getitem__)


class CostSequence(RemovalSequence):
    """Remove the most expensive variable first (Yan et al., section 3.1.1).

    In a cost group the members that are left carry the charge in equal parts
    (`FeatureCosts.shares`), so a group once begun is soon finished, which frees the charge.
    """

    name = "cost"

    def chooser(self, problem):
        """Return what picks the variable of largest share of the bill, of equals the first.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
        return lambda left: max(left, key=_shares(problem.costs, left).__getitem__)


class ImportancePerCostSequence(RemovalSequence):
    """Remove the variable of least normalised importance ν = importance / cost^γ first.

    Parameters
    ----------
    importance : array-like of shape (n_features,), default=None
        As for `ImportanceSequence`; values below a thousandth of the largest count as that much.
    gamma : float, default=1.0
        The exponent γ >= 0 of the cost, which is the variable's share of the bill as in
        `CostSequence`.
    """

    name = "importance_per_cost"

    def __init__(self, importance=None, gamma=1.0):
        self.importance = importance
        self.gamma = gamma

    def chooser(self, problem):
        """Return what picks the variable of least ν, of equals the first.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
        weights = self._weights(problem)
        return lambda left: left[int(weights(left).argmax())]

    def _weights(self, problem):
        """Return a function from the variables left to their 1/ν."""
        gamma = check_number(self.gamma, "gamma", low=0)
        importance = problem.importance_or(self.importance)
        strongest = max(importance.max(), 0.0) or 1.0
        importance = np.maximum(importance, IMPORTANCE_FLOOR * strongest)
        least_price = PRICE_FLOOR * (problem.costs.costs.max() or 1.0)

        def weights(left):
            price = np.maximum(_shares(problem.costs, left)[left], least_price)
            return price**gamma / importance[left]

        return weights


class SamplingSequence(ImportancePerCostSequence):
    """Remove variables at random, the less important per cost the sooner (section 3.1.1).

    A variable leaves with probability proportional to 1/ν.

    Parameters
    ----------
    importance : array-like of shape (n_features,), default=None
        As for `ImportancePerCostSequence`.
    gamma : float, default=1.0
        As for `ImportancePerCostSequence`.
    """

    name = "sampling"

    def chooser(self, problem):
        """Return what draws a variable.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
        weights, rng = self._weights(problem), problem.rng(self.name)

        def draw(left):
            chances = weights(left)
            return int(rng.choice(left, p=chances / chances.sum()))

        return draw


class UniformSequence(RemovalSequence):
    """Remove variables uniformly at random (section 3.1.1)."""

    name = "uniform"

    def chooser(self, problem):
        """Return what draws a variable.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
        rng = problem.rng(self.name)
        return lambda left: int(rng.choice(left))


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
                seen.setdefault(variables)
        return iter(seen)


def _shares(costs, left):
    """Return which part of the bill for the variables `left` each variable carries."""
    acquired = np.zeros(costs.n_features, dtype=bool)
    acquired[left] = True
    return costs.shares(acquired)


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

    Parameters
    ----------
    sequence : str or object
        A name, or an object with `name` and `subsets(problem)`.

    Returns
    -------
    object

    Raises
    ------
    ParameterError
        When it is neither.
    """
    if isinstance(sequence, str) and sequence in SEQUENCES:
        return SEQUENCES[sequence]()
    if not isinstance(sequence, str) and hasattr(sequence, "name") and hasattr(sequence, "subsets"):
        return sequence
    raise ParameterError(
        f"a sequence must be one of {', '.join(map(repr, SEQUENCES))}, or an object with `name` "
        f"and `subsets(problem)`; got {sequence!r}."
    )
