"""Nested model sequences: start from all variables and remove one after another."""

from abc import ABC, abstractmethod

import numpy as np

from .._validation import check_number

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
        """Return what picks the least important variable.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
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
        """Return what picks the variable of largest share of the bill.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
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
        """Return what picks the variable of least ν.

        Parameters
        ----------
        problem : SequenceProblem
            What to choose by.

        Returns
        -------
        callable
            From the variables that are left to the one to remove.
        """
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
            price = np.maximum(_shares(problem.costs, left), least_price)
            return log_importance - gamma * np.log(price / least_price)

        return log_worth


class SamplingSequence(ImportancePerCostSequence):
    """Remove variables at random, the less important per cost the sooner (section 3.1.1).

    A variable leaves with probability proportional to 1/ν.

    Parameters
    ----------
    importance : array-like of shape (n_features,), dict or Series, default=None
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
        log_worth, rng = self._log_worth(problem), problem.rng(self.name)

        def draw(left):
            worth = log_worth(left)[left]
            chances = np.exp(worth.min() - worth)
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


def _shares(costs, left):
    """Return which part of the bill for the variables `left` each variable carries."""
    acquired = np.zeros(costs.n_features, dtype=bool)
    acquired[left] = True
    return costs.shares(acquired)


def random_ranks(problem, name):
    """Return a random rank of each variable, which settles what is equal otherwise."""
    return problem.rng(name).permutation(problem.costs.n_features)


def first_of(left, *criteria):
    """Return the variable of least first criterion; of equals the next criterion decides.

    Parameters
    ----------
    left : list of int
        Variables to choose from.
    *criteria : ndarray of shape (n_features,)
        A value for each variable.

    Returns
    -------
    int
        The first of `left` that is least by all.
    """
    for values in criteria:
        least = values[left].min() + _SLACK * np.abs(values[left]).max()
        left = [variable for variable in left if values[variable] <= least]
    return left[0]
