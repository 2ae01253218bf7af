"""Prediction that acquires features one after another: from a source, or in a session."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from .categories import word_code
from .requests import Answer, Decisions, Ledger, Outcome, drive, unanswered_error


def from_table(estimator, X):
    """Return a source that reads a checked table."""
    place = {name: i for i, name in enumerate(estimator.feature_costs_.labels)}
    return lambda rows, feature: X[rows, place[feature]]


def in_words(estimator, source):
    """Return a source of words, where features have such, for one of their codes."""

    def told(rows, name):
        codes, words = source(rows, name), estimator.categories_.get(name)
        if words is None:
            return codes
        return [np.nan if np.isnan(code) else words[int(code)] for code in codes]

    return told


def in_codes(estimator, source):
    """Return a source of codes for one of words."""

    def coded(rows, name):
        values, words = source(rows, name), estimator.categories_.get(name)
        if words is None:
            return values
        return [word_code(value, name, words) for value in values]

    return coded


def acquired_from(estimator, source, n_samples, stage, max_cost, fallback):
    """Return the `Decisions` of one stage that reads a source; None: the constant."""
    # One ledger for all examples: it is what charges, and what the cap is compared with.
    ledger = Ledger(estimator.feature_costs_, n_samples, max_cost)
    outcome = constant = Outcome.constant(estimator, n_samples)
    if stage is not None:
        outcome = drive(
            estimator._acquisitions(n_samples, stage, ledger),
            source,
            ledger,
            estimator.feature_costs_.labels.__getitem__,
            fallback,
            estimator.missing_in_training_,
        )
        # A missing value was refused earlier, with its name; what is left is the cap.
        if not outcome.answered.all() and not fallback:
            raise unanswered_error(outcome, max_cost)
        _fill(outcome, constant)
    return Decisions(
        outcome.output,
        outcome.probabilities,
        outcome.probability(getattr(estimator, "classes_", None)),
        ledger.acquired,
        ledger.order,
        ledger.cost,
    )


def _fill(outcome, constant):
    """Give the constant prediction to the examples without an answer."""
    # A method may have written anything there.
    rows = ~outcome.answered
    outcome.output[rows] = constant.output[rows]
    if outcome.probabilities is not None:
        outcome.probabilities[rows] = constant.probabilities[rows]


def session_of(estimator, stage, max_cost):
    """Return a `Session` of a stage; None: of the constant, without requests."""
    ledger = Ledger(estimator.feature_costs_, 1, max_cost)
    acquisitions = iter(()) if stage is None else estimator._acquisitions(1, stage, ledger)
    return Session(
        acquisitions,
        ledger,
        estimator.feature_costs_.labels,
        Outcome.constant(estimator, 1),
        getattr(estimator, "classes_", None),
        estimator.missing_in_training_,
        estimator.categories_,
    )


def explanation(session, source):
    """Return the frame of a session, one row for each acquisition.

    It is answered by a source of values as people know them: numbers, and words.
    """
    rows = []
    while not session.done:
        name, price, _ = session.wanted[0]
        value = source(np.zeros(1, dtype=np.intp), name)[0]
        session.give({name: value})
        rows.append((name, value, price, session.cost, session.prediction, session.probability))
    columns = ["feature", "measured", "price", "spent", "prediction", "probability"]
    return pd.DataFrame(rows, columns=columns)


def _number(value, name, categories):
    """Return the value of a feature as a number, NaN where it cannot be had."""
    if name in categories:
        return word_code(value, name, categories[name])
    # Text that is a number is taken, as at a prompt; inf stands for all that is none.
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.inf
    if np.isinf(number):
        raise ValueError(
            f"feature {name!r} needs a finite number (NaN: it cannot be had), got {value!r}."
        )
    return number


class Session:
    """One case whose features are acquired step by step; made by `session()` of an estimator.

    Parameters
    ----------
    acquisitions : generator
        Requests of one example.
    ledger : Ledger
        Of that example.
    names : sequence
        Name of each feature.
    constant : Outcome
        The prediction that costs nothing.
    classes : ndarray or None
        Class labels; None in regression.
    missing_ok : ndarray of bool of shape (n_features,)
        Of which features NaN is a value to the model.
    categories : dict
        Name of each feature of words → its words.

    Attributes
    ----------
    cost : float
        What was paid so far.
    done : bool
        Whether nothing more is wanted.
    """

    def __init__(self, acquisitions, ledger, names, constant, classes, missing_ok, categories):
        self._missing_ok, self._categories = missing_ok, categories
        self._acquisitions, self._ledger, self._constant = acquisitions, ledger, constant
        self._names, self._classes = list(names), classes
        # The session is a prediction of one row: the requests speak of row 0.
        self._given, self._row = {}, np.zeros(1, dtype=np.intp)
        self._request = self._outcome = None
        self._advance(lambda: next(self._acquisitions))

    def _advance(self, step):
        """Go on until something is needed that was not given; acquire what was."""
        while True:
            try:
                self._request = step()
            except StopIteration as stop:
                self._request, self._outcome = None, stop.value
                return
            feature = self._request.feature
            # Beyond the cap it is refused without asking: the caller need not know the rule.
            if not self._ledger.affordable(self._row, feature)[0]:
                reply = Answer(np.array([np.nan]), np.array([True]))
            elif feature in self._given:
                value = self._given[feature]
                # Where training had gaps, NaN is a value that was paid for like others.
                refused = np.isnan(value) and not self._missing_ok[feature]
                reply = Answer(np.array([value]), np.array([refused]))
            else:
                return
            # Charged when it is used, so that what was given too much costs nothing.
            if not reply.refused[0]:
                self._ledger.acquire(self._row, feature)

            def step(reply=reply):
                return self._acquisitions.send(reply)

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
        feature = self._request.feature
        price = float(self._ledger.marginal(self._row, feature)[0])
        wanted = [(self._names[feature], price, "the prediction waits for it")]
        prices = self._ledger.costs.costs
        for other in self._ledger.costs.group_of(feature)[0].tolist():
            known = other == feature or other in self._given  # what is acquired was given
            if not known and prices[other] == 0:
                wanted.append((self._names[other], 0.0, f"free with {self._names[feature]}"))
        return wanted

    def give(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        """Hand in values of features; NaN says that a feature cannot be had.

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
        given = {**(values or {}), **named}
        # All names are checked first: a call is taken as a whole or not at all.
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise ValueError(
                f"unknown features: {', '.join(map(str, unknown))}. The model knows "
                f"{', '.join(map(str, self._names))}."
            )
        for name, value in given.items():
            number = _number(value, name, self._categories)
            feature = self._names.index(name)
            if self._ledger.acquired[0, feature] or feature in self._given:
                raise ValueError(f"feature {name!r} was given before.")
            self._given[feature] = number
        # The generator waits at its request; it is answered only once that feature is there.
        if not self.done and self._request.feature in self._given:
            request = self._request
            self._advance(lambda: request)
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
        probability = self._current().probability(self._classes)
        return None if probability is None else float(probability[0])

    @property
    def probabilities(self):
        """Probability of each class on what is known; None where there are none."""
        probabilities = self._current().probabilities
        return None if probabilities is None else probabilities[0]
