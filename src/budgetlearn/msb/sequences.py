"""Model sequences: orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
variable indices. `problem` is a `budgetlearn.msb.problem.SequenceProblem`: it knows the costs, the
importance of the variables, the training data and a source of randomness.
"""

import numpy as np

from .._validation import ParameterError, check_number

# Weakest importance that sampling sees, as a share of the strongest: permutation importance can
# be zero or negative, and a weight must be positive.
IMPORTANCE_FLOOR = 1e-3


def _shrink(order, min_variables):
    """Yield the nested subsets that removing variables in `order` leaves, the full one first."""
    order = [int(variable) for variable in order]
    for removed in range(len(order) - min_variables + 1):
        yield tuple(sorted(order[removed:]))


class ImportanceSequence:
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

    def subsets(self, problem):
        """Return the nested subsets, the full one first.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        importance = problem.importance_or(self.importance)
        return _shrink(np.argsort(importance, kind="stable"), problem.min_variables)


class CostSequence:
    """Remove the most expensive variable first (Yan et al., section 3.1.1)."""

    name = "cost"

    def subsets(self, problem):
        """Return the nested subsets, the full one first.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        order = np.argsort(-problem.costs.costs, kind="stable")
        return _shrink(order, problem.min_variables)


class SamplingSequence:
    """Remove variables at random, the less important per cost the sooner (section 3.1.1).

    A variable leaves with probability proportional to 1/ν, where ν = importance / cost^γ is its
    normalised importance.

    Parameters
    ----------
    importance : array-like of shape (n_features,), default=None
        As for `ImportanceSequence`.
    gamma : float, default=1.0
        The exponent γ >= 0 of the cost.
    """

    name = "sampling"

    def __init__(self, importance=None, gamma=1.0):
        self.importance = importance
        self.gamma = gamma

    def subsets(self, problem):
        """Return the nested subsets, the full one first.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        check_number(self.gamma, "gamma", low=0)
        importance = np.asarray(problem.importance_or(self.importance), dtype=np.float64)
        strongest = max(importance.max(), 0.0) or 1.0
        importance = np.maximum(importance, IMPORTANCE_FLOOR * strongest)
        # Free variables are never worth removing: the largest finite ν stands for their infinity.
        price = np.maximum(problem.costs.costs, 1e-9 * (problem.costs.costs.max() or 1.0))
        weight = price**self.gamma / importance
        order = problem.rng(self.name).choice(
            weight.size, size=weight.size, replace=False, p=weight / weight.sum()
        )
        return _shrink(order, problem.min_variables)


class UniformSequence:
    """Remove variables uniformly at random (section 3.1.1)."""

    name = "uniform"

    def subsets(self, problem):
        """Return the nested subsets, the full one first.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        order = problem.rng(self.name).permutation(problem.costs.n_features)
        return _shrink(order, problem.min_variables)


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


SEQUENCES = {
    cls.name: cls
    for cls in (ImportanceSequence, CostSequence, SamplingSequence, L1PathSequence, UniformSequence)
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
