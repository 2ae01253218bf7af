"""Stagewise model sequences: at each step fit the models within reach and keep the best."""

from abc import ABC, abstractmethod

import numpy as np

from .._validation import check_number
from .removal import first_of, random_ranks


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
        """Yield the subsets that are tried, step after step."""

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


class ForwardSequence(StagewiseSequence):
    """Forward stagewise selection: add the variable that helps most (section 3.1).

    Of p variables it fits at most p (p + 1) / 2 models, and at most n_candidates · p.

    Parameters
    ----------
    n_candidates : int or None, default=8
        Variables tried at a step, those of largest importance; None: all that there are.
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; not needed where all variables are tried.
    """

    name = "forward"

    def subsets(self, problem):
        """Yield the subsets that are tried, small to full.

        Parameters
        ----------
        problem : SequenceProblem
            What fits and scores the models.

        Yields
        ------
        tuple of int
            Indices of the variables of a subset, ascending.
        """
        chosen = ()
        n_variables = problem.costs.n_features
        while len(chosen) < n_variables:
            absent = [j for j in range(n_variables) if j not in chosen]
            candidates = self._promising(absent, chosen, problem, sign=1)
            tried = [tuple(sorted((*chosen, j))) for j in candidates]
            chosen = best_of(problem.visit(tried))
            if len(chosen) >= problem.min_variables:
                yield from tried


class BackwardSequence(StagewiseSequence):
    """Backward stagewise selection: remove the variable that is missed least (section 3.1).

    It fits about as many models as `ForwardSequence`.

    Parameters
    ----------
    n_candidates : int or None, default=8
        Variables tried at a step, those of least importance; None: all that there are.
    importance : array-like of shape (n_features,), dict or Series, default=None
        As for `ImportanceSequence`; not needed where all variables are tried.
    """

    name = "backward"

    def subsets(self, problem):
        """Yield the subsets that are tried, full to small.

        Parameters
        ----------
        problem : SequenceProblem
            What fits and scores the models.

        Yields
        ------
        tuple of int
            Indices of the variables of a subset, ascending.
        """
        left = tuple(range(problem.costs.n_features))
        yield left
        while len(left) > problem.min_variables:
            candidates = self._promising(left, left, problem, sign=-1)
            tried = [tuple(v for v in left if v != j) for j in candidates]
            left = best_of(problem.visit(tried))
            yield from tried


def best_of(models):
    """Return the variables of the model of largest score, of equals the cheapest.

    Parameters
    ----------
    models : list of VisitedModel
        Candidates; of models with the same score and price the first is taken.

    Returns
    -------
    tuple of int
    """
    best = max(model.score for model in models)
    models = [model for model in models if model.score == best]
    bills = np.array([model.cost for model in models])
    return models[first_of(range(len(models)), bills)].variables


def _bills(costs, chosen):
    """Return, for each variable, what the variables cost once it joins or leaves the chosen."""
    acquired = np.zeros((costs.n_features, costs.n_features), dtype=bool)
    acquired[:, list(chosen)] = True
    np.fill_diagonal(acquired, ~acquired.diagonal())
    return costs.total(acquired)
