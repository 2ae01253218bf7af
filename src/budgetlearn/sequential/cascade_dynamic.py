"""A dynamic order: each example buys what is expected to bring it most for the price."""

from dataclasses import dataclass

import numpy as np

from ..base import Request
from ..costs import affords
from .cascade_calibration import with_temperature
from .cascade_gain import GainModel
from .cascade_masked import MaskedModel, Units

# What is expected to bring less than this is bought by its price alone.
LEAST_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class DynamicOrder:
    """Units bought one after another, each example its own; after each purchase is a stage.

    Attributes
    ----------
    name : str
        "dynamic".
    units : Units
        What can be bought.
    stages : tuple of tuple of int
        Features that some example has bought by the end of each stage.
    temperatures : ndarray of shape (n_stages,) or None
        Of the probabilities; None in regression.
    masked : MaskedModel
        Predicts from what is known.
    gains : GainModel
        Foretells what each unit would bring.
    """

    name: str
    units: Units
    stages: tuple
    temperatures: np.ndarray | None
    masked: MaskedModel
    gains: GainModel

    def model_keys(self):
        """Return no keys: its models are its own."""
        return []

    def reader(self, models, X):
        """Return what predicts the rows of X stage by stage."""
        return DynamicReader(self, X)

    def purchases(self, point, models, blank, label, n_features):
        """Return what predicts without a table."""
        return DynamicPurchases(point, blank, label)


class DynamicWalk:
    """What some examples know, have bought and have spent.

    Parameters
    ----------
    order : DynamicOrder
        How they buy.
    n_samples : int
        Examples.
    """

    def __init__(self, order, n_samples):
        self.order = order
        self.X = np.full((n_samples, order.units.costs.n_features), np.nan)
        self.bought = np.zeros((n_samples, order.units.n_units), dtype=bool)
        self.spent = np.zeros(n_samples)

    def choose(self, rows, cap=np.inf):
        """Return the rows that can buy something, and the unit that each buys next.

        Parameters
        ----------
        rows : ndarray of int
            Examples.
        cap : float
            Most that each may spend in all.

        Returns
        -------
        rows : ndarray of int
        units : ndarray of int of the same shape
            Those with the largest expected gain per price.
        """
        units = self.order.units
        prices = units.prices(self.bought[rows])
        can = ~self.bought[rows] & affords(cap, self.spent[rows, None] + prices)
        some = can.any(axis=1)
        rows, prices, can = rows[some], prices[some], can[some]
        if not rows.size:
            return rows, rows
        worth = np.maximum(self.order.gains.predict(self.X[rows])[:, :-1], LEAST_GAIN)
        per_price = worth / np.maximum(prices, 1e-9 * (units.costs.full or 1.0))
        return rows, np.where(can, per_price, -np.inf).argmax(axis=1)

    def note(self, rows, unit, values):
        """Keep the values of a unit's features, (n_rows, n_features of the unit)."""
        self.X[np.ix_(rows, list(self.order.units.features[unit]))] = values
        self.bought[rows, unit] = True


class DynamicReader:
    """What a dynamic order predicts for the rows of one table, walked once whatever is asked.

    Parameters
    ----------
    order : DynamicOrder
        How they buy.
    X : ndarray of shape (n_samples, n_features)
        Examples; a cell is looked at when it is bought.
    """

    def __init__(self, order, X):
        self.order, self._X, self._walk = order, X, DynamicWalk(order, len(X))
        n_units = order.units.n_units
        self._reached = np.full(len(X), -1)
        self.bought = np.zeros((n_units, len(X), n_units), dtype=bool)
        self.spent = np.zeros((n_units, len(X)))
        self._known = np.zeros((n_units, len(X)), dtype=bool)
        self._predictions = None

    def advance(self, rows, stage):
        """Let rows buy all that they buy up to the end of a stage."""
        walk = self._walk
        for now in range(stage + 1):
            behind, chosen = walk.choose(rows[self._reached[rows] < now])
            for unit in np.unique(chosen):
                buyers = behind[chosen == unit]
                walk.spent[buyers] += self.order.units.prices(walk.bought[buyers])[:, unit]
                columns = list(self.order.units.features[unit])
                walk.note(buyers, unit, self._X[np.ix_(buyers, columns)])
            self.bought[now, behind] = walk.bought[behind]
            self.spent[now, behind] = walk.spent[behind]
            self._reached[behind] = now

    def raw(self, stage, rows):
        """Return what is predicted at a stage before calibration, (n_rows, n_outputs)."""
        self.advance(rows, stage)
        fresh = rows[~self._known[stage, rows]]
        if fresh.size:
            found = self.order.masked.predict(self._hidden(stage, fresh))
            if self._predictions is None:
                self._predictions = np.zeros((*self._known.shape, found.shape[1]))
            self._predictions[stage, fresh], self._known[stage, fresh] = found, True
        return self._predictions[stage, rows]

    def _hidden(self, stage, rows):
        return self.order.units.hidden(self._X[rows], self.bought[stage, rows])

    def predict(self, stage, rows):
        """Return calibrated probabilities, or numbers, of some rows at a stage."""
        if self.order.temperatures is None:
            return self.raw(stage, rows)
        return with_temperature(self.raw(stage, rows), self.order.temperatures[stage])

    def confidence(self, stage, predictions, rows):
        """Return the largest probability; in regression minus the loss that is expected."""
        if self.order.temperatures is not None:
            return predictions.max(axis=1)
        self.advance(rows, stage)
        return -self.order.gains.predict(self._hidden(stage, rows))[:, -1]

    def acquired(self, stops):
        """Return which features each example has bought by the stage where it stops."""
        return self.order.units.columns(self.bought[stops, np.arange(stops.size)])


class DynamicPurchases:
    """Predictions by a dynamic order whose features are asked for when they are needed.

    Parameters
    ----------
    point : Candidate
        The operating point.
    blank : Outcome
        The constant prediction of every example, to be filled in.
    label : callable
        From predictions of shape (n_rows, n_outputs) to labels or numbers of shape (n_rows,).
    """

    def __init__(self, point, blank, label):
        self._point, self._blank, self._label = point, blank, label
        self._order = point.cascade
        self._walk = DynamicWalk(self._order, blank.answered.size)
        self._stage = np.zeros(blank.answered.size, dtype=np.intp)

    def requests(self, ledger):
        """Yield the `Request`s of all examples, stage by stage, and return the `Outcome`.

        Parameters
        ----------
        ledger : Ledger
            What each may spend.

        Yields
        ------
        Request
        """
        rows, walk = np.arange(self._stage.size), self._walk
        cap = ledger.max_cost if ledger.capped else np.inf
        for stage in range(self._point.last_stage + 1):
            rows, chosen = walk.choose(rows, cap)
            self._stage[rows] = stage
            for unit in np.unique(chosen):
                buyers = rows[chosen == unit]
                yield from self._buy(unit, buyers)
                walk.spent[buyers] = ledger.cost[buyers]
            if stage < self._point.last_stage:
                rows = rows[~self._stop(stage, rows)]
            if not rows.size:
                break
        return self.outcome()

    def _buy(self, unit, buyers):
        """Ask for a unit's features; what cannot be had stays unknown."""
        columns = self._order.units.features[unit]
        values = np.full((buyers.size, len(columns)), np.nan)
        for place, feature in enumerate(columns):
            answer = yield Request(buyers, feature, self.outcome)
            values[:, place] = np.where(answer.refused, np.nan, answer.values)
            self._walk.X[buyers, feature] = values[:, place]
        self._walk.note(buyers, unit, values)

    def _stop(self, stage, rows):
        """Return which of the rows stop at a stage."""
        threshold = self._point.thresholds[stage]
        if threshold == np.inf or not rows.size:
            return np.zeros(rows.size, dtype=bool)
        if self._order.temperatures is None:
            return -self._order.gains.predict(self._walk.X[rows])[:, -1] >= threshold
        return self._predict(rows).max(axis=1) >= threshold

    def _predict(self, rows):
        found = self._order.masked.predict(self._walk.X[rows])
        if self._order.temperatures is None:
            return found
        made = np.empty_like(found)
        for stage in np.unique(self._stage[rows]):
            here = self._stage[rows] == stage
            made[here] = with_temperature(found[here], self._order.temperatures[stage])
        return made

    def outcome(self):
        """Return the prediction of each example by what it knows.

        Returns
        -------
        Outcome
        """
        known = ~np.isnan(self._walk.X).all(axis=1)
        blank, rows = self._blank, np.flatnonzero(known)
        probabilities = None if blank.probabilities is None else blank.probabilities.copy()
        made = type(blank)(blank.output.copy(), probabilities, known)
        if rows.size:
            found = self._predict(rows)
            made.output[rows] = self._label(found)
            if probabilities is not None:
                probabilities[rows] = found
        return made
