"""The interface between an estimator and its caller: stages, feature requests and the ledger.

An estimator that acquires features while predicting is a generator of requests. It yields a
`Request` for a feature of some examples, receives an `Answer`, and finally returns an `Outcome`.
`drive` runs the generator, asks the source, keeps the ledger, and refuses features beyond the cap.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags

from ..costs import affords
from ..exceptions import MissingValueError
from ..validation import in_row
from ._charging import charge

EVERYTHING = frozenset({"output", "probabilities", "acquired", "estimate"})


@dataclass
class Stage:
    """One operating point, applied to examples.

    Attributes
    ----------
    setting : dict
        Identifies the stage among the others, such as {"trees": 3}.
    output : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        Class labels or numbers.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        Class probabilities; None in regression.
    acquired : ndarray of bool of shape (n_samples, n_features), or None
        Mask of the features acquired for each prediction.
    nodes : float
        Number of tree nodes of the model, NaN if it has no trees.
    estimate : ndarray of shape (n_samples,) or None
        Estimated probability that each prediction is right, if the method has one.
    cost : ndarray of shape (n_samples,) or None
        Acquisition cost; set by the protocol.
    incremental : bool
        Whether its work includes that of the stages before it, as in a prefix of a forest.
    facts : dict
        Other facts about the stage that a study may record.
    """

    setting: dict
    output: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    acquired: np.ndarray | None = None
    nodes: float = np.nan
    estimate: np.ndarray | None = None
    cost: np.ndarray | None = None
    incremental: bool = False
    facts: dict = field(default_factory=dict)


@dataclass(slots=True)
class BudgetedTags(Tags):
    """Tags of scikit-learn, and capabilities of the estimator under a budget.

    Attributes
    ----------
    lazy : bool
        Supports `predict_acquiring` and `session`, which request features when they are needed,
        and `max_cost`, which caps the cost of each example.
    groups : bool
        Cost groups affect which features are acquired, not only what they cost.
    sample_weight : bool
        `fit` accepts weights of the examples.
    chooses_on_validation : bool
        `fit` uses validation data to choose, not only to measure.
    ranking : bool
        Predicts class probabilities, which can rank documents.
    """

    lazy: bool = True
    groups: bool = False
    sample_weight: bool = False
    chooses_on_validation: bool = False
    ranking: bool = False


@dataclass(frozen=True)
class Request:
    """A feature that some examples need now."""

    rows: np.ndarray  # indices of the examples, ascending
    feature: int
    estimate: Callable  # returns the `Outcome` of all examples from the values known so far


@dataclass(frozen=True)
class Answer:
    """Answer to a request."""

    values: np.ndarray  # one for each row, NaN if it is missing or was not acquired
    refused: np.ndarray  # mask of rows without the feature: beyond the cap, or unavailable


@dataclass
class Outcome:
    """Predictions of a set of examples."""

    output: np.ndarray  # class labels, or numbers of shape (n_samples,) or (n_samples, n_outputs)
    probabilities: np.ndarray | None  # (n_samples, n_classes); None if the method has none
    answered: np.ndarray  # mask of examples that a model could predict with the allowed features

    def probability(self, classes):
        """Return the probability of each predicted class; None without probabilities."""
        if self.probabilities is None:
            return None
        # Classes ascend, and every output is one of them.
        predicted = np.searchsorted(classes, self.output)
        return np.take_along_axis(self.probabilities, predicted[:, None], axis=1)[:, 0]

    @classmethod
    def constant(cls, estimator, n_samples):
        """Return the constant prediction of a fitted estimator, not marked as answered."""
        answered = np.zeros(n_samples, dtype=bool)
        rows = np.tile(estimator.constant_, (n_samples, 1))
        if is_classifier(estimator):
            return cls(estimator.classes_[rows.argmax(axis=1)], rows, answered)
        return cls(rows[:, 0] if estimator.constant_.size == 1 else rows, None, answered)

    def fill(self, rows, output, probabilities):
        """Set the predictions of some rows (indices, a slice or a mask), and mark them answered."""
        self.output[rows], self.answered[rows] = output, True
        if self.probabilities is not None:
            self.probabilities[rows] = probabilities

    @classmethod
    def blank(cls, estimator, n_samples):
        """Return an outcome to be filled in, with probabilities if the method has them."""
        outcome = cls.constant(estimator, n_samples)
        if not estimator._can_predict_proba():
            outcome.probabilities = None
        return outcome


def in_all_classes(probabilities, seen, n_classes):
    """Return probabilities with a column of 0 for each class not in `seen`, ascending indices."""
    if len(seen) == n_classes:
        return probabilities
    every = np.zeros((len(probabilities), n_classes))
    every[:, seen] = probabilities
    return every


class Ledger:
    """Acquisitions of each example, their order and their cost, with an optional cap."""

    def __init__(self, costs, n_samples, max_cost=None, at_hand=False):
        self.costs, self.max_cost = costs, np.inf if max_cost is None else max_cost
        self.at_hand = at_hand  # values are in a table, so that batching requests saves no time
        # The kernel in `_charging` updates all four arrays in one pass.
        shape = (n_samples, costs.n_features)
        self.acquired = np.zeros(shape, dtype=bool, order="F")  # accessed by column
        self.order = np.full(shape, -1, dtype=np.intp)
        self.cost = np.zeros(n_samples)
        self._n_acquired = np.zeros(n_samples, dtype=np.intp)

    def marginal(self, rows, feature):
        """Return the price of a feature for each row, including the charge of an unpaid group."""
        price = np.full(rows.size, self.costs.costs[feature])
        members, charge = self.costs.group_of(feature)
        if members.size:  # the first member acquired pays the charge for all
            price[~self.acquired[rows[:, None], members].any(axis=1)] += charge
        price[self.acquired[rows, feature]] = 0.0
        return price

    def affordable(self, rows, feature):
        """Return the mask of rows that can pay for a feature within the cap."""
        if self.max_cost == np.inf:
            return np.ones(rows.size, dtype=bool)
        return affords(self.max_cost, self.cost[rows] + self.marginal(rows, feature))

    def acquire(self, rows, feature):
        """Acquire a feature for some rows, and charge those that do not have it yet."""
        price, (members, shared) = self.costs.costs[feature], self.costs.group_of(feature)
        acquired = self.acquired.view(np.uint8)
        charge(
            rows, feature, price, members, shared, acquired, self.order, self._n_acquired, self.cost
        )


@dataclass(frozen=True)
class Decisions:
    """Predictions of examples, and their acquisitions.

    Attributes
    ----------
    prediction : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numbers.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        Class probabilities; None if the method has none.
    probability : ndarray of shape (n_samples,) or None
        Probability of the predicted class.
    acquired : ndarray of bool of shape (n_samples, n_features)
        Which features were acquired.
    order : ndarray of int of shape (n_samples, n_features)
        The acquired features in the order of acquisition, -1 after the last one.
    cost : ndarray of shape (n_samples,)
        Acquisition cost of each example, in the unit of the feature costs.
    """

    prediction: np.ndarray
    probabilities: np.ndarray | None
    probability: np.ndarray | None
    acquired: np.ndarray
    order: np.ndarray
    cost: np.ndarray


def answer(request, source, ledger, fallback, missing_ok):
    """Get and charge the affordable values from `source(rows, feature)`; return the `Answer`."""
    rows, feature = request.rows, request.feature
    # Only rows that can pay are asked for, so that no value is seen for free.
    allowed = ledger.affordable(rows, feature)
    values, asked = np.full(rows.size, np.nan), rows[allowed]
    if asked.size:
        values[allowed] = _delivered(source(asked, feature), asked, feature, ledger.costs)
    # NaN beyond the cap is a refusal, not a missing value.
    missing = allowed & np.isnan(values) & (not missing_ok[feature])
    if missing.any() and not fallback:
        raise MissingValueError(missing_message(rows[missing], ledger.costs.labels[feature]))
    # Unavailable values are not charged.
    owned = allowed & ~missing
    ledger.acquire(rows if owned.all() else rows[owned], feature)
    return Answer(values, ~owned)


def _delivered(values, rows, feature, costs):
    """Return the values from a source as numbers, checked."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
        said = "infinite values" if numbers.shape == rows.shape else f"shape {numbers.shape}"
    except (TypeError, ValueError, OverflowError):
        numbers, said = np.array(np.inf), repr(values)
    # NaN is allowed: it means that the value is not available.
    if numbers.shape != rows.shape or np.isinf(numbers).any():
        raise ValueError(
            f"the source must return one finite number (NaN: unavailable) for each of the "
            f"{rows.size} requested rows; for feature {costs.labels[feature]!r} it returned {said}."
        )
    return numbers


def missing_message(rows, name):
    """Return the error message about missing cells that a prediction needs."""
    return (
        f"feature {name!r}, which the prediction looks at, has no value (NaN) "
        f"{in_row(rows, 'cells')}. Fill it in, or pass fallback=True to predict with the next best "
        "model that does without."
    )


def requests_by_feature(acquiring, estimate, start=0):
    """Yield the `Request`s of examples that acquire in parallel, and return the final record.

    `acquiring` is a generator that yields (rows, features, record): the feature that each row needs
    next, and the record so far. It receives (values, refused) of the same length, and returns the
    final record. `estimate(record)` returns the `Outcome` of a record. Row 0 is example `start`.
    """
    reply = None
    try:
        while True:
            rows, features, record = acquiring.send(reply)
            values, refused = np.full(rows.size, np.nan), np.zeros(rows.size, dtype=bool)
            # One request for each feature, not for each example, as acquiring may be slow.
            for feature in np.unique(features):
                mine = np.flatnonzero(features == feature)
                so_far = partial(estimate, record)
                answer = yield Request(start + rows[mine], int(feature), so_far)
                values[mine], refused[mine] = answer.values, answer.refused
            reply = values, refused
    except StopIteration as stop:
        return stop.value


def run_to_end(generator, reply):
    """Send a generator `reply(each)` for each thing that it yields, and return its result."""
    sent = None
    try:
        while True:
            sent = reply(generator.send(sent))
    except StopIteration as stop:
        return stop.value


def walked(acquiring, X):
    """Run `acquiring`, as for `requests_by_feature`, on complete examples; return its record."""

    def reply(asked):
        rows, features, _ = asked
        return X[rows, features], np.zeros(rows.size, dtype=bool)

    return run_to_end(acquiring, reply)


def drive(acquisitions, source, ledger, fallback=False, missing_ok=None):
    """Run a generator of requests to its end and return its `Outcome`.

    `source(rows, feature)` returns values of the feature with that index.
    """
    missing_ok = np.zeros(ledger.costs.n_features, dtype=bool) if missing_ok is None else missing_ok

    def reply(request):
        return answer(request, source, ledger, fallback, missing_ok)

    return run_to_end(acquisitions, reply)
