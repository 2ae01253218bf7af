"""Cost-accuracy curves and model schedules, as data without any learning."""

from dataclasses import dataclass

import numpy as np

from .costs import affords, too_small
from .exceptions import BudgetError
from .validation import check_number

# Tolerance, as mean scores of equal predictions may differ in the last bits.
_SLACK = 1e-12


def _as_points(costs, scores):
    """Return costs and scores as float64 vectors of the same length; raise for invalid values."""
    costs, scores = (np.asarray(part, dtype=np.float64) for part in (costs, scores))
    if costs.ndim != 1 or costs.shape != scores.shape:
        wanted, found = "vectors of the same length", f"{costs.shape} and {scores.shape}"
        raise ValueError(f"costs and scores must be {wanted}, got shapes {found}.")
    if not (np.isfinite(costs).all() and np.isfinite(scores).all()):
        raise ValueError("costs and scores must be finite; leave out the models that failed.")
    if (costs < 0).any():
        raise ValueError(f"costs must be >= 0, got {costs.min()}.")
    return costs, scores


def pareto_indices(costs, scores):
    """Return the points with a higher score than every cheaper one, cheap to expensive.

    Parameters
    ----------
    costs, scores : array-like of shape (n_points,)
        Finite costs and scores; of equal points, the first is kept.

    Returns
    -------
    ndarray of int of shape (n_kept,)
        Indices into the input; their costs and scores both strictly increase.
    """
    costs, scores = _as_points(costs, scores)
    order = np.lexsort((-scores, costs))
    best_before = np.maximum.accumulate(np.concatenate(([-np.inf], scores[order][:-1])))
    return order[scores[order] > best_before] if order.size else order


@dataclass(frozen=True, eq=False)
class CostAccuracyCurve:
    """Operating points of one method, cheap to expensive.

    Attributes
    ----------
    costs : ndarray of shape (n_points,)
        Ascending costs, in the unit of the feature costs.
    scores : ndarray of shape (n_points,)
        Score of each operating point; larger is better.
    """

    costs: np.ndarray
    scores: np.ndarray

    def __post_init__(self):
        costs, scores = _as_points(self.costs, self.scores)
        if (np.diff(costs) < 0).any():
            raise ValueError("costs must ascend; sort the operating points by cost first.")
        # Read-only copies, so that indices into a curve stay valid.
        for name, array in (("costs", costs), ("scores", scores)):
            array = array.copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self):
        return self.costs.size

    def index(self, budget):
        """Return the index of the most expensive operating point within `budget`.

        Parameters
        ----------
        budget : float
            Budget in the unit of the costs.

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            When the budget is not a number >= 0.
        BudgetError
            When the curve is empty, or even the cheapest one costs more; the message names its
            cost.
        """
        check_number(budget, "budget", low=0)
        if not len(self):
            raise BudgetError("There is no model to choose from: the curve is empty.")
        # Costs ascend, so the affordable points are the first ones.
        affordable = int(affords(budget, self.costs).sum())
        if affordable == 0:
            raise too_small(budget, self.costs[0], "model")
        return affordable - 1

    def area(self, full_cost, baseline):
        """Return the area under the staircase, with costs scaled to [0, 1] (AUP, Yan et al., 5.2).

        Parameters
        ----------
        full_cost : float
            Cost of the full model, above 0, at which the curve is cut off.
        baseline : float
            Score for budgets below the cheapest operating point.

        Returns
        -------
        float
        """
        check_number(full_cost, "full_cost", low=0, low_open=True, high=np.inf, high_open=True)
        if baseline == baseline:  # NaN (unknown) is allowed and makes the area NaN
            check_number(baseline, "baseline")
        # Points beyond the full cost get a width of 0.
        edges = np.concatenate(([0.0], np.minimum(self.costs / full_cost, 1.0), [1.0]))
        return float(np.diff(edges) @ np.concatenate(([baseline], self.scores)))


@dataclass(frozen=True, eq=False)
class ModelSchedule(CostAccuracyCurve):
    """Models for increasing budgets, with strictly increasing cost and validation score (msB).

    Attributes
    ----------
    costs, scores : ndarray of shape (n_models,)
        Cost and validation score of each model.
    variables : tuple of tuple of int
        The variables of each model, ascending.
    names : tuple or None
        Names of the variables, by index; None: they have no names.

    Examples
    --------
    >>> schedule = ModelSchedule([119, 171], [0.85, 0.94], [(11, 14), (11, 14, 15)])
    >>> schedule.select(150), schedule.cheapest(0.9)
    ((119.0, 0.85, (11, 14)), (171.0, 0.94, (11, 14, 15)))
    """

    variables: tuple
    names: tuple | None = None

    def __post_init__(self):
        super().__post_init__()
        chosen = tuple(tuple(sorted(int(v) for v in subset)) for subset in self.variables)
        object.__setattr__(self, "variables", chosen)
        if len(chosen) != len(self):
            raise ValueError(f"variables must list {len(self)} models, got {len(chosen)}.")
        most = max((variable for subset in chosen for variable in subset), default=-1)
        if self.names is not None and len(self.names) <= most:
            raise ValueError(f"names must be {most + 1} or more, got {len(self.names)}.")
        # Of two models with equal costs or equal scores, one is never the better choice.
        if (np.diff(self.costs) <= 0).any() or (np.diff(self.scores) <= 0).any():
            what = "cost and score of a model schedule must both strictly increase"
            raise ValueError(f"{what}; use ModelSchedule.from_points to compress.")

    @classmethod
    def from_points(cls, costs, scores, variables, names=None):
        """Compress models into a schedule of those that are better than all cheaper ones.

        Parameters
        ----------
        costs, scores : array-like of shape (n_points,)
            Cost and validation score of each model, in any order.
        variables : sequence of n_points sequences of int
            The variables of each model.
        names : sequence, default=None
            Names of the variables, by index; None: they have no names.

        Returns
        -------
        ModelSchedule
        """
        kept = pareto_indices(costs, scores)
        variables = list(variables)
        if len(variables) != len(costs):
            raise ValueError(f"variables must list {len(costs)} models, got {len(variables)}.")
        costs, scores = np.asarray(costs)[kept], np.asarray(scores)[kept]
        chosen = tuple(variables[i] for i in kept)
        return cls(costs, scores, chosen, None if names is None else tuple(names))

    def select(self, budget):
        """Return (cost, score, variables) of the best model within `budget`.

        As in the paper (section 3.1.1), a budget between the costs of two models is rounded down:
        the expected score is that of the most expensive affordable model, which is also the best.

        Parameters
        ----------
        budget : float
            Budget in the unit of the costs.

        Returns
        -------
        tuple of (float, float, tuple)
            Variables are given by name, or by index if they have no names.

        Raises
        ------
        BudgetError
            When even the cheapest model costs more; the message names its cost.
        """
        return self._entry(self.index(budget))

    def cheapest(self, score):
        """Return (cost, score, variables) of the cheapest model that reaches a score.

        Its cost is the smallest budget for that score. Between two models, it is the costlier one.

        Parameters
        ----------
        score : float
            Validation score to reach.

        Returns
        -------
        tuple of (float, float, tuple)
            Variables are given by name, or by index if they have no names.

        Raises
        ------
        BudgetError
            When no model reaches the score; the message names the best.
        """
        check_number(score, "score")
        if not len(self):
            raise BudgetError("There is no model to choose from: the schedule is empty.")
        # Scores ascend with costs, so the first model that reaches the score is the cheapest.
        i = int(np.searchsorted(self.scores, score - _SLACK))
        if i == len(self):
            best = f"the best one reaches {self.scores[-1]:g} and costs {self.costs[-1]:g}"
            raise BudgetError(f"No model reaches {score:g} under any budget: {best}.")
        return self._entry(i)

    def _entry(self, i):
        return float(self.costs[i]), float(self.scores[i]), self._called(self.variables[i])

    def _called(self, subset):
        return subset if self.names is None else tuple(self.names[j] for j in subset)

    def __str__(self):
        rows = [f"{'Cost':>10}  {'Score':>8}  Variables"]
        for cost, score, variables in zip(self.costs, self.scores, self.variables, strict=True):
            called = ("," if self.names is None else ", ").join(map(str, self._called(variables)))
            rows.append(f"{cost:>10.6g}  {score:>8.4f}  {called}")
        return "\n".join(rows)
