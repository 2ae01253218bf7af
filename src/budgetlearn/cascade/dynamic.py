"""A dynamic order: each example acquires the largest foreseen gain for its cost."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from ..costs import affords
from ..parallel import thread_map
from ..validation import INT32_MAX, derive_seed
from .bayes import ForeseenGains, NaiveBayesTree
from .fixed_order import Acquisitions, Answers, Reader
from .mixture import with_temperature
from .pool import Trace

# A unit's place in the order of acquisition counts as much as this many units of chance.
NOISE = 0.25
# After so many acquisitions of its own an example needs no order of its own.
MOST_STAGES = 24


@dataclass(frozen=True, eq=False)
class Units:
    """Features that are acquired together, and their costs."""

    features: tuple  # tuples of int: of each unit, in the order of acquisition that they came from
    costs: object

    @classmethod
    def of_stages(cls, stages, costs):
        """Return the additions of each stage of an order as units."""
        bounds = [0, *map(len, stages)]
        found = [tuple(stages[-1][start:end]) for start, end in pairwise(bounds)]
        return cls(tuple(found), costs)

    @property
    def n_units(self):
        """Number of units."""
        return len(self.features)

    def columns(self, acquired):
        """Return the mask of acquired features, (n_samples, n_features), for a mask of units."""
        columns = np.zeros((len(acquired), self.costs.n_features), dtype=bool)
        units, features = self._members
        columns[:, features] = acquired[:, units]
        return columns

    # A walk asks for masks and prices at every step of every example.
    @cached_property
    def _members(self):
        """The unit and the number of each feature that is in one."""
        pairs = [(unit, feature) for unit, own in enumerate(self.features) for feature in own]
        return np.transpose(pairs)

    def prices(self, acquired):
        """Return the price of each further unit for each row, (n_samples, n_units)."""
        # A unit costs its own features, and the charge of each group that is still unpaid.
        prices = np.tile(self._own_prices, (len(acquired), 1))
        if self.costs.groups is not None:
            prices += (~(acquired @ self._needs) * self.costs.group_costs) @ self._needs.T
        return prices

    @cached_property
    def _own_prices(self):
        return np.array([self.costs.costs[list(features)].sum() for features in self.features])

    @cached_property
    def _needs(self):
        """The groups that each unit has a feature of, bool (n_units, n_groups)."""
        groups = np.arange(self.costs.group_costs.size)
        return np.array([np.isin(groups, self.costs.groups[list(each)]) for each in self.features])

    def hidden(self, X, acquired):
        """Return X with NaN in all features that are not acquired."""
        return np.where(self.columns(acquired), X, np.nan)

    def drawn(self, n_rows, random):
        """Draw masks of acquired units: beginnings of the order of any length, much disturbed."""
        # Beginnings are what cascades meet; the noise shows the model other sets, too.
        places = np.arange(self.n_units) / max(self.n_units, 1)
        places = places + NOISE * random.gumbel(size=(n_rows, self.n_units))
        ranks = places.argsort(axis=1).argsort(axis=1)
        return ranks < random.randint(0, self.n_units + 1, size=n_rows)[:, None]


@dataclass(frozen=True, eq=False)
class DynamicOrder:
    """Units acquired one after another, each example its own; after each acquisition is a stage."""

    name: str
    units: Units
    stages: tuple  # tuples of int: features that some example has acquired by the end of each stage
    temperatures: np.ndarray | None  # (n_stages,): of the probabilities; None before calibration
    tree: object  # NaiveBayesTree: predicts from what is known
    gains: object  # ForeseenGains: the gain of each unit for its price
    dynamic = True

    @property
    def n_stages(self):
        """Number of acquisitions after which an example may stop."""
        return min(self.units.n_units, MOST_STAGES)

    def reader(self, models, X, answers):
        """Return a reader of predictions for the rows of X, stage by stage."""
        return DynamicReader(self, X)

    def acquisitions(self, point, models, blank, label):
        """Return the acquisitions of a prediction without a table."""
        return DynamicAcquisitions(point, blank, label)


class DynamicWalk:
    """The known values, acquisitions and spending of examples that follow a `DynamicOrder`."""

    def __init__(self, order, n_samples):
        self.order = order
        self.X = np.full((n_samples, order.units.costs.n_features), np.nan)
        self.owned = np.zeros((n_samples, order.units.n_units), dtype=bool)
        self.spent = np.zeros(n_samples)

    def choose(self, rows, cap=np.inf):
        """Return the rows that can acquire something, and the unit that each acquires next.

        It is the one with the largest expected gain per price, of those with which the row spends
        no more than `cap` in all.
        """
        units = self.order.units
        prices = units.prices(self.owned[rows])
        # Hard cap: a unit is offered only where all of it can be paid.
        can = ~self.owned[rows] & affords(cap, self.spent[rows, None] + prices)
        some = can.any(axis=1)
        rows, prices, can = rows[some], prices[some], can[some]
        if not rows.size:
            return rows, rows
        # What is free comes first: its gain is divided by next to nothing.
        prices = np.maximum(prices, 1e-9 * (units.costs.full or 1.0))
        left = cap - self.spent[rows]
        rates = self.order.gains.rates(self.X[rows], self.owned[rows], prices, left)
        return rows, np.where(can, rates, -np.inf).argmax(axis=1)


class DynamicReader(Reader):
    """A reader that walks each row once and looks at a cell of X when it is acquired."""

    def __init__(self, order, X):
        super().__init__(order, X, Answers(len(X)))
        self._walk = DynamicWalk(order, len(X))
        shape = order.n_stages, len(X)
        self._reached = np.full(len(X), -1)
        self.owned = np.zeros((*shape, order.units.n_units), dtype=bool)
        self.spent = np.zeros(shape)

    def advance(self, rows, stage):
        """Let rows acquire all that they acquire up to the end of a stage."""
        walk, units = self._walk, self.order.units
        # Rows come in any order of stages; each is brought up step by step, and remembered.
        for now in range(self._reached[rows].min(initial=stage) + 1, stage + 1):
            behind, chosen = walk.choose(rows[self._reached[rows] < now])
            for unit in np.unique(chosen):
                buyers = behind[chosen == unit]
                # Before `owned`: prices depend on what is owned so far.
                walk.spent[buyers] += units.prices(walk.owned[buyers])[:, unit]
                cells = np.ix_(buyers, list(units.features[unit]))
                walk.X[cells], walk.owned[buyers, unit] = self._X[cells], True
            self.owned[now, behind] = walk.owned[behind]
            self.spent[now, behind] = walk.spent[behind]
            self._reached[behind] = now

    def raw(self, stage, rows):
        """Return a stage's predictions before calibration, (n_rows, n_outputs)."""
        self.advance(rows, stage)
        units, predict = self.order.units, self.order.tree.predict

        def ask(fresh):
            return predict(units.hidden(self._X[fresh], self.owned[stage, fresh]))

        return self._answers.of(stage, rows, ask)

    def acquired(self, stops):
        """Return the mask of the features acquired by each example's last stage."""
        return self.order.units.columns(self.owned[stops, np.arange(stops.size)])


class DynamicAcquisitions(Acquisitions):
    """Predictions by a dynamic order whose features are asked for when they are needed."""

    def __init__(self, point, blank, label):
        self._order, n_samples = point.cascade, blank.answered.size
        self._walk = DynamicWalk(self._order, n_samples)
        super().__init__(point, blank, label, self._walk.X)
        self._stage = np.zeros(n_samples, dtype=np.intp)
        self._had = np.zeros(n_samples, dtype=bool)  # some value, were it a missing one

    def requests(self, ledger):
        """Yield the `Request`s of all examples, stage by stage, and return the `Outcome`."""
        rows, walk = np.arange(self._stage.size), self._walk
        for stage in range(self._point.last_stage + 1):
            rows, chosen = walk.choose(rows, ledger.max_cost)
            self._stage[rows] = stage
            for unit in np.unique(chosen):
                buyers = rows[chosen == unit]
                for feature in self._order.units.features[unit]:
                    self._had[buyers] |= ~(yield from self._ask(buyers, feature))
                # Refused values stay unknown, and were not charged: the ledger knows.
                walk.owned[buyers, unit], walk.spent[buyers] = True, ledger.cost[buyers]
            rows = self._going(stage, rows)
            if not rows.size:
                break
        return self.outcome()

    def _confidence(self, stage, rows):
        return self._predict(rows).max(axis=1)

    def _predict(self, rows):
        temperatures = self._order.temperatures[self._stage[rows]]
        return with_temperature(self._order.tree.predict(self._X[rows]), temperatures)

    def outcome(self):
        """Return the prediction of each example from its known values."""
        rows = np.flatnonzero(self._had)
        return self._filled([(rows, self._predict(rows))] if rows.size else [])


FORESEEN = "foreseen"  # the name of its order
# The share of what the reference tells of the class that naive Bayes trees must tell; and where
# every one of them has found that what features tell depends on another.
MUST_TELL, WITH_CONTEXTS = 0.95, 0.8
# Examples that show it.
ENOUGH = 4_000


def foresees_class(table, reference, trees):
    """Return whether naive Bayes trees tell nearly as much of the class as a reference.

    `reference`, (n_samples, n_classes), are probabilities out of fold, as are those of `trees`, the
    `BayesTrees` of the table. Both tell as much as they lower the log loss. Where trees are that
    right about a table, the gains that they foresee are.
    """
    found, with_contexts = np.empty((table.y.size, table.n_classes)), True
    for fold in np.unique(table.folds):
        tree, _ = trees.without(fold, ENOUGH)
        with_contexts &= len(tree.prior) > 1
        found[table.folds == fold] = tree.predict(table.X[table.folds == fold])
    nothing = np.broadcast_to(table.constant, found.shape)
    losses = table.calibrated_losses(found), table.losses(reference), table.losses(nothing)
    loss, least, most = map(table.mean, losses)
    share = WITH_CONTEXTS if with_contexts else MUST_TELL
    return bool(most - loss >= share * (most - least))


class BayesTrees:
    """The naive Bayes trees of a table without each fold, none of them fitted twice."""

    def __init__(self, table, seed):
        self._table, self._seed, self._known = table, seed, {}

    def without(self, fold, most_rows=None):
        """Return the tree of the examples outside a fold, and the seed of what follows."""
        table, inside = self._table, np.flatnonzero(self._table.folds != fold)
        # Every k-th where fewer are enough.
        inside = inside[:: -(-inside.size // (most_rows or inside.size))]
        key = int(fold), inside.size
        if key not in self._known:
            drawn = derive_seed(self._seed, "naive bayes", int(fold)) & INT32_MAX
            self._known[key] = NaiveBayesTree.fit(table.take(inside), drawn), drawn
        return self._known[key]


def foreseen_trace(table, units, trees, rivals=(), n_jobs=None):
    """Fit an order of foreseen gains and send the training examples along it, out of fold.

    `trees` are the `BayesTrees` of the table. Returns the trace, and the predictions from all
    features, (n_samples, n_classes); None where the `rivals`, traces of fixed orders, tell more.
    """
    folds = np.unique(table.folds)

    def fit(fold):
        tree, drawn = trees.without(fold)
        gains = ForeseenGains(tree, units, table.X[table.folds != fold], drawn)
        return DynamicOrder(FORESEEN, units, (), None, tree, gains)

    def walked(fold):
        order, here = fit(fold), table.folds == fold
        reader, rows = DynamicReader(order, table.X[here]), np.arange(here.sum())
        found = np.array([reader.raw(stage, rows) for stage in range(order.n_stages)])
        return here, found, reader.spent, reader.owned, order.tree.predict(table.X[here])

    # To choose for each example takes long: one fold shows whether it can be worth that.
    first = walked(folds[0])
    if rivals and not _tells_more(table, *first[:3], rivals):
        return None
    walks = [first, *thread_map(walked, folds[1:], n_jobs, "models")]
    final = fit(-1)  # which leaves nothing out: the model that predicts later
    shape = (final.n_stages, len(table.y))
    predictions, spent = np.empty((*shape, table.n_outputs)), np.zeros(shape)
    owned, full = np.zeros((*shape, units.n_units), dtype=bool), np.empty(predictions.shape[1:])
    for here, *parts in walks:
        predictions[:, here], spent[:, here], owned[:, here], full[here] = parts
    sizes = np.array([len(features) for features in units.features])
    # A stage's features are what some example has by then: examples differ.
    by_someone = units.columns(owned.any(axis=1))
    stages = tuple(tuple(np.flatnonzero(each).tolist()) for each in by_someone)
    return Trace(replace(final, stages=stages), predictions, spent, owned @ sizes), full


def _tells_more(table, here, predictions, spent, rivals):
    """Return whether some stage has less log loss on examples than fixed orders for its cost."""
    part = table.take(here)

    def loss(found):
        return part.mean(part.calibrated_losses(found))

    stages = (zip(each.spent[:, 0], each.predictions, strict=True) for each in rivals)
    costs, losses = np.transpose(
        sorted((cost, loss(found[here])) for cost, found in chain(*stages))
    )
    # Between two stages some examples stop at the one and some at the other.
    least = np.interp(spent.mean(axis=1), costs, np.minimum.accumulate(losses))
    return any(loss(found) < best for found, best in zip(predictions, least, strict=True))
