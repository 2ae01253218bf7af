"""Prediction from a table or from fixed features: the choice of an operating point, and its use."""

import numpy as np

from ..costs import affords
from ..exceptions import BudgetError
from ..validation import check_choice, check_number
from .acquisition import acquired_from, from_table
from .examples import checked_table, missing_cells, refuse_missing, working_dtype
from .guarantees import EXPECTED, GUARANTEED, surely_within
from .operating_points import known_points, points_to_choose_from
from .requests import Outcome, Request
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
        # By validation score, of equal ones the cheapest (or costliest), and of those the first.
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
    """Return the limit of the mean cost beside a cap on each example's; None: there is none."""
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


class FixedFeatures:
    """Values known of n examples, and the stages that can still predict them.

    `stage` is the one to predict with; cheaper ones stand in where a feature cannot be had.
    """

    def __init__(self, estimator, n_samples, stage):
        self.estimator, self.n_samples = estimator, n_samples
        shape = (n_samples, estimator.n_features_in_)
        # By column, as they are filled.
        self.X = np.full(shape, np.nan, dtype=np.float64, order="F")
        self.known = np.zeros(shape, dtype=bool, order="F")
        self.refused = np.zeros(shape, dtype=bool, order="F")
        self.any_refused = False
        self.order = self._preference(stage)
        # Fixed features do not depend on the example, so that one blank row shows them.
        blank = np.zeros((1, shape[1]))
        stages = estimator._stages(blank, sorted(self.order), frozenset({"acquired"}))
        self.needs = {
            k: stage.acquired[0] for k, stage in zip(sorted(self.order), stages, strict=True)
        }

    def _preference(self, stage):
        """Return the chosen stage, then those that cost no more, best first."""
        costs = np.asarray(self.estimator.fixed_costs())
        points = known_points(self.estimator)
        # The last key of lexsort counts first: score, then cost.
        best_first = np.lexsort((points["cost"].to_numpy(), -points["score"].to_numpy()))
        # What stands in for a stage must not cost more than was agreed to.
        allowed = affords(costs[stage], costs)
        return [stage, *(k for k in best_first.tolist() if allowed[k] and k != stage)]

    def possible(self, rows, stage):
        """Return the rows that can still have all that a stage needs."""
        if not self.any_refused:
            return rows
        return rows[~(self.refused[rows] & self.needs[stage]).any(axis=1)]

    def requests(self, stage):
        """Return the features of a stage, cheap ones first."""
        # Cheap ones first: should a later one be refused, little was spent in vain.
        features = np.flatnonzero(self.needs[stage])
        return features[np.argsort(self.estimator.feature_costs_.alone[features], kind="stable")]

    def take(self, rows, feature, answer):
        """Keep the answer to a request."""
        self.X[rows, feature] = answer.values
        self.known[rows, feature] = ~answer.refused
        self.refused[rows, feature] = answer.refused
        self.any_refused |= bool(answer.refused.any())

    def outcome(self):
        """Return the prediction of each example by the best stage whose features it knows."""
        outcome = Outcome.blank(self.estimator, self.n_samples)
        for stage in self.order:
            rows = np.flatnonzero(~outcome.answered)
            if not rows.size:
                break
            # Needs are compared with what is known, whichever stage it was acquired for.
            rows = rows[(self.known[rows] | ~self.needs[stage]).all(axis=1)]
            if rows.size:
                self._predict(outcome, rows, stage)
        return outcome

    def _predict(self, outcome, rows, stage):
        want = {"output"} if outcome.probabilities is None else {"output", "probabilities"}
        X = self.X[rows].astype(working_dtype(self.estimator), order="C", copy=False)
        made = next(iter(self.estimator._stages(X, [stage], frozenset(want))))
        outcome.output[rows] = made.output
        if outcome.probabilities is not None:
            outcome.probabilities[rows] = made.probabilities
        outcome.answered[rows] = True


def fixed_acquisitions(estimator, n_samples, stage):
    """Yield the requests of a stage with fixed features, and return its `Outcome`.

    Where a feature is refused, the best stage that costs no more and does without takes over.
    """
    state = FixedFeatures(estimator, n_samples, stage)
    waiting = np.arange(n_samples)
    # Only rows whose stage became impossible go on to the next best one.
    for stage in state.order:
        for feature in state.requests(stage):
            rows = state.possible(waiting, stage)
            rows = rows[~state.known[rows, feature]]
            if rows.size:
                answer = yield Request(rows, int(feature), state.outcome)
                state.take(rows, feature, answer)
        done = state.possible(waiting, stage)
        if done.size == waiting.size:
            break
        waiting = np.setdiff1d(waiting, done)
    return state.outcome()
