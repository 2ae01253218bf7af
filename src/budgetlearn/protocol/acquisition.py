"""Prediction that acquires features one after another: from a source, or in a session."""

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..features import PerFeature
from ..validation import ParameterError, check_number
from .requests import Answer, Decisions, Ledger, Outcome, drive, unanswered_error

_EXAMPLE = PerFeature("values of the example", "value", ParameterError)


class AcquiringPrediction:
    """Decisions, acquisition from a source, sessions and explanations of budgeted estimators."""

    def decisions(self, X, budget=None, max_cost=None, *, fallback=False):
        """Predict, and tell what was acquired in which order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        Decisions
        """
        X, _ = self._checked(X)
        stage = self._chosen(budget, max_cost, fallback)
        return self._acquire(self._from_table(X), len(X), stage, max_cost, fallback)

    def predict_acquiring(self, source, n_samples, budget=None, max_cost=None, *, fallback=False):
        """Predict examples whose features are asked for only when they are needed.

        Parameters
        ----------
        source : callable
            `source(rows, feature)` returns the values of one feature for the examples of the
            ascending indices `rows`; NaN where it cannot be had. `feature` is a name where the
            training data had names, else an index.
        n_samples : int
            Number of examples.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        Decisions
        """
        check_is_fitted(self)
        check_number(n_samples, "n_samples", low=1, integer=True)
        stage = self._chosen(budget, max_cost, fallback)
        return self._acquire(source, n_samples, stage, max_cost, fallback)

    def session(self, budget=None, max_cost=None):
        """Start the prediction of one case whose features are acquired step by step.

        Parameters
        ----------
        budget, max_cost : float, default=None
            As for `predict`. What is given as NaN is done without.

        Returns
        -------
        Session

        Raises
        ------
        BudgetError
            When no operating point is within the budget; the message names the cheapest one.
        """
        check_is_fitted(self)
        return self._session(self._chosen(budget, max_cost, fallback=False), max_cost)

    def _session(self, stage, max_cost):
        """Return a `Session` of a stage; None: the constant, which wants nothing."""
        ledger = Ledger(self.feature_costs_, 1, max_cost)
        acquisitions = iter(()) if stage is None else self._acquisitions(1, stage, ledger)
        return Session(
            acquisitions,
            ledger,
            self._names(),
            self._constant_outcome(1),
            getattr(self, "classes_", None),
            self._learned_missing,
        )

    def explain(self, x, budget=None, max_cost=None, *, fallback=False):
        """Tell how one example is predicted, acquisition by acquisition.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), dict, Series or frame of one row
            The example; a dict or Series gives its values by feature name.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        pandas.DataFrame
            One row per acquisition: `feature` (name or index), `measured` (its value), `price`
            (with a group's charge where it fell due), `spent` so far, and after the acquisition the
            `prediction` and, of classifiers, its `probability`.
        """
        x = self._one_row(x)
        source = self._from_table(x)
        stage = self._chosen(budget, max_cost, fallback)
        if not fallback:  # raises what predict raises
            self._acquire(source, 1, stage, max_cost, False)
        session, rows = self._session(stage, max_cost), []
        while not session.done:
            name, price, _ = session.wanted[0]
            value = source(np.zeros(1, dtype=np.intp), name)[0]
            session.give({name: value})
            rows.append((name, value, price, session.cost, session.prediction, session.probability))
        columns = ["feature", "measured", "price", "spent", "prediction", "probability"]
        return pd.DataFrame(rows, columns=columns)

    def _one_row(self, x):
        """Return one example as a checked table of one row."""
        if not hasattr(x, "columns"):
            check_is_fitted(self)
            x = np.atleast_2d(_EXAMPLE.in_order(x, self._column_names(), self.n_features_in_))
        if len(x) != 1:
            raise ValueError(f"explain takes one example, got {len(x)} rows. Pass them one by one.")
        return self._checked(x)[0]

    def _acquire(self, source, n_samples, stage, max_cost, fallback):
        """Predict from a source with one stage; None: the constant."""
        ledger = Ledger(self.feature_costs_, n_samples, max_cost)
        outcome = constant = self._constant_outcome(n_samples)
        if stage is not None:
            outcome = drive(
                self._acquisitions(n_samples, stage, ledger),
                source,
                ledger,
                dict(enumerate(self._names())).__getitem__,
                fallback,
                self._learned_missing,
            )
            if not outcome.answered.all() and not fallback:
                raise unanswered_error(outcome, max_cost)
            _fill(outcome, constant)
        return Decisions(
            outcome.output,
            outcome.probabilities,
            outcome.probability(getattr(self, "classes_", None)),
            ledger.acquired,
            ledger.order,
            ledger.cost,
        )

    def _from_table(self, X):
        """Return a source that reads a checked table."""
        place = {name: i for i, name in enumerate(self._names())}
        return lambda rows, feature: X[rows, place[feature]]

    def _blank_outcome(self, n_samples):
        """Return an outcome to be filled in, with probabilities where the method has them."""
        outcome = self._constant_outcome(n_samples)
        if outcome.probabilities is not None and not self._can_predict_proba():
            outcome.probabilities = None
        return outcome

    def _constant_outcome(self, n_samples):
        """Return the prediction that costs nothing, marked as no answer."""
        answered = np.zeros(n_samples, dtype=bool)
        if is_classifier(self):
            shares = np.tile(self.constant_, (n_samples, 1))
            labels = self.classes_[shares.argmax(axis=1)]
            return Outcome(labels, shares, answered)
        numbers = np.tile(self.constant_, (n_samples, 1))
        return Outcome(numbers[:, 0] if self.constant_.size == 1 else numbers, None, answered)


def _fill(outcome, constant):
    """Give the constant prediction to the examples without an answer."""
    rows = ~outcome.answered
    outcome.output[rows] = constant.output[rows]
    if outcome.probabilities is not None:
        outcome.probabilities[rows] = constant.probabilities[rows]


def _number(value, name):
    """Return the value of a feature as a number, NaN where it cannot be had."""
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

    Attributes
    ----------
    cost : float
        What was paid so far.
    done : bool
        Whether nothing more is wanted.
    """

    def __init__(self, acquisitions, ledger, names, constant, classes, missing_ok):
        self._missing_ok = missing_ok
        self._acquisitions, self._ledger, self._constant = acquisitions, ledger, constant
        self._names, self._classes = list(names), classes
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
            if not self._ledger.affordable(self._row, feature)[0]:
                reply = Answer(np.array([np.nan]), np.array([True]))
            elif feature in self._given:
                value = self._given[feature]
                refused = np.isnan(value) and not self._missing_ok[feature]
                reply = Answer(np.array([value]), np.array([refused]))
            else:
                return
            if not reply.refused[0]:
                self._ledger.acquire(self._row, feature)

            def step(reply=reply):
                return self._acquisitions.send(reply)

    @property
    def done(self):
        """Whether nothing more is wanted."""
        return self._request is None

    @property
    def cost(self):
        """What was paid so far."""
        return float(self._ledger.cost[0])

    @property
    def wanted(self):
        """What to acquire next: a list of (name, price, why).

        The first entry is what the prediction waits for; members of its cost group that then cost
        nothing follow, since they can be asked for together.
        """
        if self.done:
            return []
        feature = self._request.feature
        price = float(self._ledger.marginal(self._row, feature)[0])
        wanted = [(self._names[feature], price, "the prediction waits for it")]
        owned = self._ledger.acquired[0].copy()
        owned[feature] = True
        for other in self._ledger.costs.free_with(feature, owned):
            if other not in self._given:
                wanted.append((self._names[other], 0.0, f"free with {self._names[feature]}"))
        return wanted

    def give(self, values=None, /, **named):
        """Hand in values of features; NaN says that a feature cannot be had.

        Parameters
        ----------
        values : dict, default=None
            Feature name (or index where X had no names) → number.
        **named : float
            The same, for names that are Python identifiers.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For unknown features and for what is not a number.
        """
        given = {**(values or {}), **named}
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise ValueError(
                f"unknown features: {', '.join(map(str, unknown))}. The model knows "
                f"{', '.join(map(str, self._names))}."
            )
        for name, value in given.items():
            number = _number(value, name)
            feature = self._names.index(name)
            if self._ledger.acquired[0, feature] or feature in self._given:
                raise ValueError(f"feature {name!r} was given before.")
            self._given[feature] = number
        if not self.done and self._request.feature in self._given:
            request = self._request
            self._advance(lambda: request)
        return self

    def _belief(self):
        now = self._outcome if self.done else self._request.estimate()
        return self._constant if now is None or not now.answered[0] else now

    @property
    def prediction(self):
        """The best prediction on what is known: a class label or a number."""
        return self._belief().output[0]

    @property
    def probability(self):
        """Probability of the predicted class on what is known; None where there is none."""
        probability = self._belief().probability(self._classes)
        return None if probability is None else float(probability[0])
