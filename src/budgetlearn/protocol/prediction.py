"""Predictions of a whole table, with a source that delivers features, or in a session."""

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
    """Return the index of the stage that predictions use; None: the constant prediction."""
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
        # By score; ties go to the cheapest (or costliest) point, and then to the first.
        sign = -1 if estimator._spends_budgets else 1
        order = np.lexsort([sign * costs[affordable], -scores[affordable]])
        return int(index[affordable[order[0]]])
    # The constant is affordable under any budget.
    if limits.fallback:
        return None
    cheapest = costs.min()
    if limits.budget_mode == GUARANTEED and affords(budget, cheapest):
        raise BudgetError(
            f"No operating point is sure to cost at most {budget:.10g} on average: the cheapest "
            f"one cost {cheapest:g} on {estimator._n_measured} examples. Raise the budget, fit or "
            "validate on more examples, or use budget_mode='expected'."
        )
    # With fixed costs, a cap acts like a budget; otherwise it does not affect the choice.
    cap = None if estimator.fixed_costs() is None else max_cost
    given = (limits.budget, "the budget"), (cap, "max_cost")
    low = [name for each, name in given if each is not None and not affords(each, cheapest)]
    raise too_small(budget, cheapest, "operating point", " and ".join(low))


def _costs_and_scores(estimator):
    """Return arrays of cost and score of the points that may be chosen, and their index."""
    points = points_to_choose_from(estimator)
    # Cached, because reading columns of a frame takes as long as predicting a row. The arrays are
    # views, so they show changes in place. Assigning columns replaces the frame's blocks, which
    # invalidates the cache. Blocks are internal to pandas: without them, nothing is cached.
    blocks = getattr(getattr(points, "_mgr", None), "blocks", None)
    known, costs, scores = vars(estimator).get("_points_as_arrays", (None, None, None))
    if blocks is None or known is not blocks:
        costs, scores = points["cost"].to_numpy(), points["score"].to_numpy()
        estimator._points_as_arrays = blocks, costs, scores
    return costs, scores, points.index


def _limit_of_mean(estimator, budget, max_cost):
    """Return the limit of the mean cost under a cap on each example's cost; None: no limit."""
    if estimator.fixed_costs() is not None:  # each example costs the mean
        return max_cost if budget is None else min(budget, max_cost)
    if not estimator.__sklearn_tags__().lazy:
        raise BudgetError(
            f"{type(estimator).__name__} cannot keep max_cost: it does not acquire features one "
            "after another. Use budget, or a method that can (docs/api.md lists them)."
        )
    if budget is None and estimator._caps_mean:
        costs = points_to_choose_from(estimator)["cost"]
        return max_cost if affords(max_cost, costs).any() else None
    # No mean exceeds the cap, so a larger budget is no limit. Infinity, unlike None, still replaces
    # the estimator's own budget.
    void = estimator._spends_caps and budget is not None and budget >= max_cost
    return np.inf if void else budget


def each_stage(estimator, X, want):
    """Yield every `Stage`; raise before the first one if any of them needs a missing cell."""
    X, absent = checked_table(estimator, X)
    # All stages are checked first, so that the caller never gets half of a result.
    if np.isnan(X).any():
        for index in range(estimator.n_stages_):
            refuse_missing(estimator, missing_cells(estimator, X, index), absent)
    yield from estimator._stages(X, range(estimator.n_stages_), frozenset(want))


def decided(estimator, X, want, limits):
    """Return a `Stage` with the wanted parts of the predictions within `Limits`."""
    X, absent = checked_table(estimator, X)
    index = chosen_stage(estimator, limits)
    # With fixed costs, the choice of the stage already takes the cap into account.
    capped = limits.max_cost is not None and estimator.fixed_costs() is None
    if index is not None and not capped:
        missing = missing_cells(estimator, X, index)
        # Fast path: one stage on the whole table, without a ledger.
        if missing is None or not limits.fallback:
            refuse_missing(estimator, missing, absent)
            return stage_of(estimator, X, index, want)
    # With a cap or missing cells, the model of each example depends on its acquisitions.
    made = acquired_from(estimator, from_table(X), len(X), index, limits, at_hand=True)
    return Stage({}, made.prediction, made.probabilities, made.acquired)


def from_table(X):
    """Return a source that reads a checked table."""
    return lambda rows, feature: X[rows, feature]


def from_user(estimator, source):
    """Return a source of codes by index, given a user's source of words and numbers by name."""
    labels = estimator.feature_costs_.labels

    def coded(rows, feature):
        name = labels[feature]
        values, words = source(rows, name), estimator.categories_.get(name)
        return values if words is None else [word_code(value, name, words) for value in values]

    return coded


def requests_of(estimator, n_samples, stage, ledger):
    """Return the generator of requests of a prediction by one stage."""
    return estimator._acquisitions(n_samples, stage, ledger)


def acquired_from(estimator, source, n_samples, stage, limits, at_hand=False):
    """Return the `Decisions` of a stage (None: the constant) with features from a source."""
    max_cost, fallback = limits.max_cost, limits.fallback
    ledger = Ledger(estimator.feature_costs_, n_samples, max_cost, at_hand)
    outcome = constant = Outcome.constant(estimator, n_samples)
    if stage is not None:
        acquisitions = requests_of(estimator, n_samples, stage, ledger)
        outcome = drive(acquisitions, source, ledger, fallback, estimator.missing_in_training_)
        # Missing values without fallback have raised an error, so here the cap was too low.
        rows = np.flatnonzero(~outcome.answered)
        # If the constant is an operating point, examples that can pay for no other get it.
        capped = rows.size and max_cost is not None
        free = capped and (points_to_choose_from(estimator)["cost"] == 0).any()
        if rows.size and not (fallback or free):
            way = "with the features at hand" if max_cost is None else f"for {max_cost:.10g}"
            raise BudgetError(
                f"{rows.size} of {n_samples} examples cannot be predicted {way}, the first "
                f"{in_row(rows[:1])}. Raise max_cost, or pass fallback=True to give these the "
                "constant prediction, which costs nothing."
            )
        # Outputs of unanswered rows are undefined.
        outcome.output[rows] = constant.output[rows]
        if outcome.probabilities is not None:
            outcome.probabilities[rows] = constant.probabilities[rows]
    probability = outcome.probability(getattr(estimator, "classes_", None))
    made = outcome.output, outcome.probabilities, probability
    return Decisions(*made, ledger.acquired, ledger.order, ledger.cost)


def fixed_acquisitions(estimator, n_samples, stage):
    """Yield the requests of a stage with fixed features, and return its `Outcome`."""
    # If a feature is refused, the best stage takes over that costs no more and does not need it.
    costs, points = np.asarray(estimator.fixed_costs()), known_points(estimator)
    # The last key of lexsort counts first: score, then cost.
    best_first = np.lexsort((points["cost"].to_numpy(), -points["score"].to_numpy()))
    # A replacement must not cost more than the chosen stage.
    allowed = affords(costs[stage], costs)
    order = [stage, *(k for k in best_first.tolist() if allowed[k] and k != stage)]
    shape = n_samples, estimator.n_features_in_
    # Fixed features do not depend on the example, so one blank row is enough to find them.
    blank, ascending = np.zeros((1, estimator.n_features_in_)), sorted(order)
    stages = estimator._stages(blank, ascending, frozenset({"acquired"}))
    needs = {k: made.acquired[0] for k, made in zip(ascending, stages, strict=True)}
    # Stored by column, because they are filled by column.
    X = np.full(shape, np.nan, order="F")
    known, refused = np.zeros(shape, dtype=bool, order="F"), np.zeros(shape, dtype=bool, order="F")
    waiting = np.ones(n_samples, dtype=bool)

    def estimate():
        # Use the best stage whose features are known for the example.
        outcome = Outcome.blank(estimator, n_samples)
        want = {"output"} if outcome.probabilities is None else {"output", "probabilities"}
        for each in order:
            rows = np.flatnonzero(~outcome.answered)
            # Features acquired for any stage count.
            rows = rows[(known[rows] | ~needs[each]).all(axis=1)]
            if rows.size:
                values = X[rows].astype(working_dtype(estimator), order="C", copy=False)
                made = stage_of(estimator, values, each, want)
                outcome.fill(rows, made.output, made.probabilities)
        return outcome

    for each in order:
        able = waiting & ~refused[:, needs[each]].any(axis=1)
        # Cheap features first, so that little is wasted if a later one is refused.
        features = np.flatnonzero(needs[each])
        prices = estimator.feature_costs_.alone[features]
        for feature in features[np.argsort(prices, kind="stable")].tolist():
            rows = np.flatnonzero(able & ~known[:, feature])
            if rows.size:
                reply = yield Request(rows, feature, estimate)
                X[rows, feature], known[rows, feature] = reply.values, ~reply.refused
                refused[rows, feature], able[rows] = reply.refused, ~reply.refused
        # Only rows with a refused feature go on to the next best stage.
        waiting &= ~able
        if not waiting.any():
            break
    return estimate()


class Session:
    """Prediction of one case, feature by feature; made by `session()` of an estimator.

    Parameters
    ----------
    estimator : BudgetedEstimator
        The fitted estimator.
    stage : int or None
        Index of the stage that predicts; None: the constant, which needs no features.
    max_cost : float or None
        Largest cost of the case.
    """

    def __init__(self, estimator, stage, max_cost):
        self._estimator, self._names = estimator, estimator.feature_costs_.labels
        self._constant = Outcome.constant(estimator, 1)
        self._ledger = Ledger(estimator.feature_costs_, 1, max_cost)
        # A session predicts a single row, so all requests are for row 0.
        self._given, self._row = {}, np.zeros(1, dtype=np.intp)
        self._request = self._outcome = None
        if stage is not None:
            self._acquisitions = requests_of(estimator, 1, stage, self._ledger)
            self._ask(None)
            self._go_on()

    def _ask(self, reply):
        """Send a reply (at first None) to the acquisitions, and store their next request."""
        try:
            self._request = self._acquisitions.send(reply)
        except StopIteration as stop:
            self._request, self._outcome = None, stop.value

    def _go_on(self):
        """Answer requests until one needs a feature that was not given."""

        def given(rows, feature):
            return [self._given[feature]]

        while not self.done:
            feature = self._request.feature
            # Features beyond the cap are refused without asking the caller.
            if self._ledger.affordable(self._row, feature)[0] and feature not in self._given:
                return
            # Charged when it is used, so that unnecessary values cost nothing.
            missing_ok = self._estimator.missing_in_training_
            self._ask(answer(self._request, given, self._ledger, True, missing_ok))

    @property
    def done(self) -> bool:
        """True if no more features are needed."""
        return self._request is None

    @property
    def cost(self) -> float:
        """Cost of the features acquired so far."""
        return float(self._ledger.cost[0])

    @property
    def wanted(self) -> list[tuple[Any, float, str]]:
        """The next features to acquire: a list of (name, price, reason).

        The prediction waits for the first entry. Members of its cost group that are then free
        follow, so that they can be acquired together.
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
        """Give values of features; NaN or None means that a feature is unavailable.

        Parameters
        ----------
        values : dict, default=None
            Values by feature name (or index if X had no names): numbers, or words for categorical
            features.
        **named : float or str
            Values of features whose names are Python identifiers.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For unknown features, and for values that are neither numbers nor words from training.
        """
        given = {**({} if values is None else values), **named}
        if unknown := [name for name in given if name not in self._names]:
            strange, known = (", ".join(map(str, each)) for each in (unknown, self._names))
            raise ValueError(f"unknown features: {strange}. The model knows {known}.")
        numbers, categories = {}, self._estimator.categories_
        for name, value in given.items():
            feature = self._names.index(name)
            if feature in self._given:
                raise ValueError(f"feature {name!r} was given before.")
            # Text with a number is accepted, as it may come from a prompt.
            coded = name in categories
            number = word_code(value, name, categories[name]) if coded else as_number(value)
            if np.isinf(number):
                raise ValueError(f"feature {name!r} must be a finite number or NaN, got {value!r}.")
            numbers[feature] = number
        # After all checks, so that a call with an error changes nothing.
        self._given |= numbers
        self._go_on()
        return self

    def _current(self):
        # Without an answer from a model, use the constant.
        now = self._outcome if self.done else self._request.estimate()
        return self._constant if now is None or not now.answered[0] else now

    @property
    def prediction(self) -> Any:
        """The best prediction from the known features: a class label or a number."""
        return self._current().output[0]

    @property
    def probability(self) -> float | None:
        """Probability of the predicted class; None without probabilities."""
        probability = self._current().probability(getattr(self._estimator, "classes_", None))
        return None if probability is None else float(probability[0])

    @property
    def probabilities(self):
        """Probability of each class; None without probabilities."""
        probabilities = self._current().probabilities
        return None if probabilities is None else probabilities[0]
