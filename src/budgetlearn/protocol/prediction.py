"""Predictions: of a whole table, of a source that is asked for features, or in a session."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..costs import affords, too_small
from ..exceptions import BudgetError
from ..preprocessing.categories import as_number
from ..validation import in_row
from .checked_data import (
    checked_table,
    missing_cells,
    refuse_missing,
    stage_of,
    word_code,
    working_dtype,
)
from .documenting import GUARANTEED
from .feature_requests import Decisions, Ledger, Outcome, Request, Stage, answer, drive
from .operating_points import known_points, points_to_choose_from, surely_within


def chosen_stage(estimator, limits):
    """Return the index of the stage that predictions use; None: the constant."""
    budget, max_cost = limits.budget, limits.max_cost
    if max_cost is not None:
        budget = _limit_of_mean(estimator, budget, max_cost)
    if budget is None:
        return estimator._default_stage()
    costs, scores, index = _costs_and_scores(estimator)
    within = affords(budget, costs)
    if limits.budget_mode == GUARANTEED:
        within &= surely_within(estimator, costs, budget)
    affordable = np.flatnonzero(within)
    if affordable.size:
        # By validation score, of equal ones the cheapest (or costliest), and of those the first.
        sign = -1 if estimator._spends_budgets else 1
        order = np.lexsort([sign * costs[affordable], -scores[affordable]])
        return int(index[affordable[order[0]]])
    # The constant is affordable whatever the budget is.
    if limits.fallback:
        return None
    cheapest = costs.min()
    if limits.budget_mode == GUARANTEED and affords(budget, cheapest):
        raise BudgetError(
            f"No operating point is sure to cost at most {budget:g} on average: the cheapest one "
            f"cost {cheapest:g} on {estimator._n_measured} examples. Raise the budget, fit or "
            "validate on more examples, or take budget_mode='expected'."
        )
    # With fixed costs a cap is one more budget; others choose by the budget alone.
    cap = None if estimator.fixed_costs() is None else max_cost
    given = (limits.budget, "the budget"), (cap, "max_cost")
    low = [name for each, name in given if each is not None and not affords(each, cheapest)]
    raise too_small(budget, cheapest, "operating point", " and ".join(low))


def _costs_and_scores(estimator):
    """Return arrays of cost and score of the points that may be chosen, and their index."""
    points = points_to_choose_from(estimator)
    # Kept beside the frame, which gives its columns in the time of a row's prediction. They show
    # what is changed in place; a change of whole columns gives the frame other blocks. pandas does
    # not promise that it has these: without them nothing is kept.
    kept = vars(estimator).get("_points_as_arrays")
    blocks = getattr(getattr(points, "_mgr", None), "blocks", None)
    if kept is None or blocks is None or kept[0] is not blocks:
        arrays = points["cost"].to_numpy(), points["score"].to_numpy()
        estimator._points_as_arrays = kept = blocks, *arrays
    return *kept[1:], points.index


def _limit_of_mean(estimator, budget, max_cost):
    """Return the limit of the mean cost beside a cap on each example's; None: there is none."""
    if estimator.fixed_costs() is not None:  # each example costs the mean
        return max_cost if budget is None else min(budget, max_cost)
    if not estimator.__sklearn_tags__().lazy:
        raise BudgetError(
            f"{type(estimator).__name__} cannot keep max_cost: its features are not acquired one "
            "after another. Use budget, or another method (docs/api.md lists which can)."
        )
    if budget is None and estimator._caps_mean:
        costs = points_to_choose_from(estimator)["cost"]
        return max_cost if affords(max_cost, costs).any() else None
    # What nobody exceeds the mean does not exceed either: a larger budget asks for nothing, but it
    # stands in for the estimator's own.
    void = estimator._spends_caps and budget is not None and budget >= max_cost
    return np.inf if void else budget


def each_stage(estimator, X, want):
    """Yield every `Stage`, once it is sure that none looks at a missing cell."""
    X, absent = checked_table(estimator, X)
    # A generator that failed at the third stage would leave its consumer with half a result.
    if np.isnan(X).any():
        for index in range(estimator.n_stages_):
            refuse_missing(estimator, missing_cells(estimator, X, index), absent)
    yield from estimator._stages(X, range(estimator.n_stages_), frozenset(want))


def decided(estimator, X, want, limits):
    """Return a `Stage` with the wanted parts of the predictions within `Limits`."""
    X, absent = checked_table(estimator, X)
    index = chosen_stage(estimator, limits)
    # With fixed costs the cap was settled by the choice of the stage.
    capped = limits.max_cost is not None and estimator.fixed_costs() is None
    if index is not None and not capped:
        missing = missing_cells(estimator, X, index)
        # The fast way: one stage on the whole table, without a ledger.
        if missing is None or not limits.fallback:
            refuse_missing(estimator, missing, absent)
            return stage_of(estimator, X, index, want)
    # A cap or a missing cell: only acquiring one feature after another says who gets which model.
    source = from_table(estimator, X)
    made = acquired_from(estimator, source, len(X), index, limits, at_hand=True)
    return Stage({}, made.prediction, made.probabilities, made.acquired)


def from_table(estimator, X):
    """Return a source that reads a checked table."""
    place = {name: i for i, name in enumerate(estimator.feature_costs_.labels)}
    return lambda rows, feature: X[rows, place[feature]]


def translated(estimator, source, one):
    """Return a source whose words, or their codes, are translated by `one(value, name, words)`."""

    def translate(rows, name):
        values, words = source(rows, name), estimator.categories_.get(name)
        return values if words is None else [one(value, name, words) for value in values]

    return translate


def requests_of(estimator, n_samples, stage, ledger):
    """Return the generator of requests by which a stage predicts without a table."""
    return estimator._acquisitions(n_samples, stage, ledger)


def acquired_from(estimator, source, n_samples, stage, limits, at_hand=False):
    """Return the `Decisions` of one stage that reads a source; None: the constant."""
    max_cost, fallback = limits.max_cost, limits.fallback
    # One ledger for all examples: it is what charges, and what the cap is compared with.
    ledger = Ledger(estimator.feature_costs_, n_samples, max_cost, at_hand)
    outcome = constant = Outcome.constant(estimator, n_samples)
    if stage is not None:
        acquisitions = requests_of(estimator, n_samples, stage, ledger)
        names, missing_ok = estimator.feature_costs_.labels, estimator.missing_in_training_
        outcome = drive(acquisitions, source, ledger, names.__getitem__, fallback, missing_ok)
        # A missing value was refused earlier, with its name; what is left is the cap.
        rows = np.flatnonzero(~outcome.answered)
        # Who offers the constant as an operating point gives it to those that can pay for no other.
        capped = rows.size and max_cost is not None
        free = capped and (points_to_choose_from(estimator)["cost"] == 0).any()
        if rows.size and not (fallback or free):
            way = "with the features at hand" if max_cost is None else f"for {max_cost:g}"
            raise BudgetError(
                f"{rows.size} of {n_samples} examples cannot be predicted {way}, the first "
                f"{in_row(rows[:1])}. Raise max_cost, or pass fallback=True to give those the "
                "constant prediction that costs nothing."
            )
        # A method may have written anything where it has no answer.
        outcome.output[rows] = constant.output[rows]
        if outcome.probabilities is not None:
            outcome.probabilities[rows] = constant.probabilities[rows]
    chances = outcome.probabilities, outcome.probability(getattr(estimator, "classes_", None))
    return Decisions(outcome.output, *chances, ledger.acquired, ledger.order, ledger.cost)


def fixed_acquisitions(estimator, n_samples, stage):
    """Yield the requests of a stage with fixed features, and return its `Outcome`.

    Where a feature is refused, the best stage that costs no more and does without takes over.
    """
    costs, points = np.asarray(estimator.fixed_costs()), known_points(estimator)
    # The last key of lexsort counts first: score, then cost.
    best_first = np.lexsort((points["cost"].to_numpy(), -points["score"].to_numpy()))
    # What stands in for a stage must not cost more than was agreed to.
    allowed = affords(costs[stage], costs)
    order = [stage, *(k for k in best_first.tolist() if allowed[k] and k != stage)]
    shape = n_samples, estimator.n_features_in_
    # Fixed features do not depend on the example, so that one blank row shows them.
    stages = estimator._stages(np.zeros((1, shape[1])), sorted(order), frozenset({"acquired"}))
    needs = {k: made.acquired[0] for k, made in zip(sorted(order), stages, strict=True)}
    # By column, as they are filled.
    X = np.full(shape, np.nan, order="F")
    known, refused = np.zeros(shape, dtype=bool, order="F"), np.zeros(shape, dtype=bool, order="F")
    waiting = np.ones(n_samples, dtype=bool)

    def estimate():
        # By the best stage whose features are known of an example.
        outcome = Outcome.blank(estimator, n_samples)
        want = {"output"} if outcome.probabilities is None else {"output", "probabilities"}
        for stage in order:
            rows = np.flatnonzero(~outcome.answered)
            # Needs are compared with what is known, whichever stage it was acquired for.
            rows = rows[(known[rows] | ~needs[stage]).all(axis=1)]
            if rows.size:
                values = X[rows].astype(working_dtype(estimator), order="C", copy=False)
                made = stage_of(estimator, values, stage, want)
                outcome.fill(rows, made.output, made.probabilities)
        return outcome

    for stage in order:
        able = waiting & ~refused[:, needs[stage]].any(axis=1)
        # Cheap ones first: should a later one be refused, little was spent in vain.
        features = np.flatnonzero(needs[stage])
        prices = estimator.feature_costs_.alone[features]
        for feature in features[np.argsort(prices, kind="stable")].tolist():
            rows = np.flatnonzero(able & ~known[:, feature])
            if rows.size:
                reply = yield Request(rows, feature, estimate)
                X[rows, feature], known[rows, feature] = reply.values, ~reply.refused
                refused[rows, feature], able[rows] = reply.refused, ~reply.refused
        # Only rows whose stage became impossible go on to the next best one.
        waiting &= ~able
        if not waiting.any():
            break
    return estimate()


def _number(estimator, value, name):
    """Return the value of a feature as a number, NaN where it cannot be had."""
    if name in estimator.categories_:
        return word_code(value, name, estimator.categories_[name])
    # Text that is a number is taken, as at a prompt.
    if np.isinf(number := as_number(value)):
        raise ValueError(
            f"feature {name!r} needs a finite number (NaN: it cannot be had), got {value!r}."
        )
    return number


class Session:
    """One case whose features are acquired step by step; made by `session()` of an estimator.

    Parameters
    ----------
    estimator : BudgetedEstimator
        The fitted estimator.
    stage : int or None
        Index of the stage that predicts; None: the constant, which asks for nothing.
    max_cost : float or None
        Most that the case may cost.
    """

    def __init__(self, estimator, stage, max_cost):
        self._estimator, self._names = estimator, estimator.feature_costs_.labels
        self._constant = Outcome.constant(estimator, 1)
        self._ledger = ledger = Ledger(estimator.feature_costs_, 1, max_cost)
        asks = stage is not None
        self._acquisitions = estimator._acquisitions(1, stage, ledger) if asks else (_ for _ in ())
        # The session is a prediction of one row: the requests speak of row 0.
        self._given, self._row = {}, np.zeros(1, dtype=np.intp)
        self._request = self._outcome = None
        self._ask(None)
        self._go_on()

    def _ask(self, reply):
        """Send a reply (at first None) to the acquisitions, and keep what they want next."""
        try:
            self._request = self._acquisitions.send(reply)
        except StopIteration as stop:
            self._request, self._outcome = None, stop.value

    def _go_on(self):
        """Acquire what was given until something is needed that was not."""

        def given(rows, feature):
            return [self._given[feature]]

        while not self.done:
            feature = self._request.feature
            # Beyond the cap it is refused without asking: the caller need not know the rule.
            if self._ledger.affordable(self._row, feature)[0] and feature not in self._given:
                return
            # Charged when it is used, so that what was given too much costs nothing.
            missing_ok = self._estimator.missing_in_training_
            self._ask(answer(self._request, given, self._ledger, int, True, missing_ok))

    @property
    def done(self) -> bool:
        """True once nothing more is wanted."""
        return self._request is None

    @property
    def cost(self) -> float:
        """Cost of all that was acquired so far."""
        return float(self._ledger.cost[0])

    @property
    def wanted(self) -> list[tuple[Any, float, str]]:
        """The next features to acquire: a list of (name, price, why).

        The first entry is what the prediction waits for; members of its cost group that then cost
        nothing follow, since they can be asked for together.
        """
        if self.done:
            return []
        feature, costs = self._request.feature, self._ledger.costs
        price = float(self._ledger.marginal(self._row, feature)[0])
        members, known = costs.group_of(feature)[0].tolist(), {feature, *self._given}
        free = [each for each in members if costs.costs[each] == 0 and each not in known]
        others = [(self._names[each], 0.0, f"free with {self._names[feature]}") for each in free]
        return [(self._names[feature], price, "the prediction waits for it"), *others]

    def give(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        """Hand in values of features; NaN or None says that a feature cannot be had.

        Parameters
        ----------
        values : dict, default=None
            Feature name (or index where X had no names) → number; of words the word.
        **named : float or str
            The same, for names that are Python identifiers.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For unknown features, and for what is not a number or no word that training knows.
        """
        given = {**({} if values is None else values), **named}
        if unknown := [name for name in given if name not in self._names]:
            raise ValueError(
                f"unknown features: {', '.join(map(str, unknown))}. The model knows "
                f"{', '.join(map(str, self._names))}."
            )
        numbers = {}
        for name, value in given.items():
            feature = self._names.index(name)
            if feature in self._given:
                raise ValueError(f"feature {name!r} was given before.")
            numbers[feature] = _number(self._estimator, value, name)
        # Now that all are checked: a call is taken as a whole or not at all.
        self._given |= numbers
        self._go_on()
        return self

    def _current(self):
        # Before the first answer no model applies, and the constant speaks.
        now = self._outcome if self.done else self._request.estimate()
        return self._constant if now is None or not now.answered[0] else now

    @property
    def prediction(self) -> Any:
        """The best prediction on what is known: a class label or a number."""
        return self._current().output[0]

    @property
    def probability(self) -> float | None:
        """Probability of the predicted class on what is known; None where there is none."""
        probability = self._current().probability(getattr(self._estimator, "classes_", None))
        return None if probability is None else float(probability[0])

    @property
    def probabilities(self):
        """Probability of each class on what is known; None where there are none."""
        probabilities = self._current().probabilities
        return None if probabilities is None else probabilities[0]
