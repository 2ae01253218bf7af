"""Prediction from a table: the choice of an operating point, and its use."""

import numpy as np

from ..costs import affords
from ..exceptions import BudgetError
from ..validation import check_choice, check_number
from .acquisition import acquired_from, from_table
from .examples import checked_table, missing_cells, refuse_missing
from .guarantees import EXPECTED, GUARANTEED, surely_within
from .operating_points import points_to_choose_from
from .stage import Stage


def chosen_stage(estimator, budget, max_cost, fallback, budget_mode=EXPECTED):
    """Return the index of the stage that predictions use; None: the constant."""
    for value, name in ((budget, "budget"), (max_cost, "max_cost")):
        if value is not None:
            check_number(value, name, low=0)
    check_choice(budget_mode, "budget_mode", (EXPECTED, GUARANTEED))
    if max_cost is not None:
        budget = _limit_of_mean(estimator, budget, max_cost)
    if budget is None:
        return estimator._default_stage()
    points = points_to_choose_from(estimator)
    # Arrays: a frame takes as long to sort as a row to predict.
    costs, scores = points["cost"].to_numpy(), points["score"].to_numpy()
    within = affords(budget, costs)
    if budget_mode == GUARANTEED:
        within &= surely_within(estimator, costs, budget)
    affordable = np.flatnonzero(within)
    if affordable.size:
        # By validation score, of equal ones the cheapest (or dearest), and of those the first.
        sign = -1 if estimator._spends_budgets else 1
        order = np.lexsort([sign * costs[affordable], -scores[affordable]])
        return int(points.index[affordable[order[0]]])
    # The constant is affordable whatever the budget is.
    if fallback:
        return None
    cheapest = float(costs.min())
    if budget_mode == GUARANTEED and affords(budget, cheapest):
        raise BudgetError(
            f"No operating point is sure to cost at most {budget:g} on average: the cheapest one "
            f"cost {cheapest:g} on {estimator._n_measured} examples. Raise the budget, fit or "
            "validate on more examples, or take budget_mode='expected'."
        )
    raise BudgetError(
        f"No operating point costs at most {budget:g}: the cheapest one costs {cheapest:g}. "
        f"Raise the budget to {cheapest:g} or more.",
        cheapest,
    )


def _limit_of_mean(estimator, budget, max_cost):
    """Return what limits the mean cost beside a cap on each example's; None: nothing does."""
    if estimator.fixed_costs() is not None:  # each example costs the mean
        return max_cost if budget is None else min(budget, max_cost)
    _require_cap(estimator)
    # What nobody exceeds the mean does not exceed either: a larger budget asks for nothing.
    void = estimator._spends_caps and budget is not None and budget >= max_cost
    return None if void else budget


def _require_cap(estimator):
    if not estimator.__sklearn_tags__().hard_cap:
        raise BudgetError(
            f"{type(estimator).__name__} cannot keep max_cost: its features are not acquired one "
            "after another. Use budget, or another method (docs/api.md lists which can)."
        )


def each_stage(estimator, X, want, absent=None):
    """Yield every `Stage`, once it is sure that none looks at a missing cell.

    X is checked already where `absent`, the columns that it lacks, is given.
    """
    if absent is None:
        X, absent = checked_table(estimator, X)
    # A generator that failed at the third stage would leave its consumer with half a result.
    if np.isnan(X).any():
        for index in range(estimator.n_stages_):
            refuse_missing(estimator, missing_cells(estimator, X, index), absent)
    yield from estimator._stages(X, range(estimator.n_stages_), frozenset(want))


def decided(estimator, X, budget, max_cost, fallback, budget_mode, want):
    """Return a `Stage` with the wanted parts of the chosen stage's predictions."""
    X, absent = checked_table(estimator, X)
    index = chosen_stage(estimator, budget, max_cost, fallback, budget_mode)
    # With fixed costs the cap was settled by the choice of the stage.
    capped = max_cost is not None and not estimator._has_fixed_costs
    if index is not None and not capped:
        missing = missing_cells(estimator, X, index)
        # The fast way: one stage on the whole table, without a ledger.
        if missing is None or not fallback:
            refuse_missing(estimator, missing, absent)
            return next(iter(estimator._stages(X, [index], frozenset(want))))
    # A cap or a missing cell: only acquiring one feature after another says who gets which model.
    source = from_table(estimator, X)
    made = acquired_from(estimator, source, len(X), index, max_cost, fallback)
    return Stage({}, made.prediction, made.probabilities, made.acquired)
