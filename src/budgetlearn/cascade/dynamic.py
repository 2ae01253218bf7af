"""A dynamic order: each example acquires the unit with the largest expected gain for its cost."""

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

# Scale of the random noise that disturbs the order of units in masked training examples.
NOISE = 0.25
# Most acquisitions of an example.
MOST_STAGES = 24


@dataclass(frozen=True, eq=False)
class Units:
    """Features that are acquired together, and their costs."""

    features: tuple  # tuples of int: the features of each unit, in the original order
    costs: object

    @classmethod
    def of_stages(cls, stages, costs):
        """Return units that hold the new features of each stage of an order."""
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

    # Cached, because a walk needs masks and prices at every step of every example.
    @cached_property
    def _members(self):
        """Pairs of unit and feature, one for each feature that belongs to a unit, (2, n)."""
        pairs = [(unit, feature) for unit, own in enumerate(self.features) for feature in own]
        return np.transpose(pairs)

    def prices(self, acquired):
        """Return the price of each unit for each row, (n_samples, n_units)."""
        # The prices of its features, plus the charge of each group that is not yet paid.
        prices = np.tile(self._own_prices, (len(acquired), 1))
        if self.costs.groups is not None:
            prices += (~(acquired @ self._needs) * self.costs.group_costs) @ self._needs.T
        return prices

    @cached_property
    def _own_prices(self):
        return np.array([self.costs.costs[list(features)].sum() for features in self.features])

    @cached_property
    def _needs(self):
        """Mask of the groups that each unit has a feature in, (n_units, n_groups)."""
        groups = np.arange(self.costs.group_costs.size)
        return np.array([np.isin(groups, self.costs.groups[list(each)]) for each in self.features])

    def hidden(self, X, acquired):
        """Return X with NaN in all features that are not acquired."""
        return np.where(self.columns(acquired), X, np.nan)

    def drawn(self, n_rows, random):
        """Draw masks of acquired units: prefixes of the order, of any length, with noise."""
        # Cascades acquire prefixes of the order; noise makes the model learn other sets, too.
        places = np.arange(self.n_units) / max(self.n_units, 1)
        places = places + NOISE * random.gumbel(size=(n_rows, self.n_units))
        ranks = places.argsort(axis=1).argsort(axis=1)
        return ranks < random.randint(0, self.n_units + 1, size=n_rows)[:, None]


@dataclass(frozen=True, eq=False)
class DynamicOrder:
    """An order of units that each example chooses for itself; each acquisition ends a stage."""

    name: str
    units: Units
    stages: tuple  # tuples of int: features that some example has acquired by the end of each stage
    temperatures: np.ndarray | None  # (n_stages,): of the probabilities; None before calibration
    tree: object  # NaiveBayesTree: predicts from the known values
    gains: object  # ForeseenGains: the expected gain of each unit per price
    dynamic = True

    @property
    def n_stages(self):
        """Number of stages: the most acquisitions of an example."""
        return min(self.units.n_units, MOST_STAGES)

    def reader(self, models, X, answers):
        """Return a reader of predictions for the rows of X, stage by stage."""
        return DynamicReader(self, X)

    def acquisitions(self, point, models, blank, label):
        """Return the acquisitions of a prediction that requests features one at a time."""
        return DynamicAcquisitions(point, blank, label)


class DynamicWalk:
    """The known values, acquisitions and spending of examples that follow a `DynamicOrder`."""

    def __init__(self, order, n_samples):
        self.order = order
        self.X = np.full((n_samples, order.units.costs.n_features), np.nan)
        self.owned = np.zeros((n_samples, order.units.n_units), dtype=bool)
        self.spent = np.zeros(n_samples)

    def choose(self, rows, cap=np.inf):
        """Return the rows that can acquire something, and the unit that each acquires next."""
        # The unit with the largest expected gain per price of those that the row's `cap` pays for.
        units = self.order.units
        prices = units.prices(self.owned[rows])
        # The cap is hard: a unit is available only if all of it can be paid.
        can = ~self.owned[rows] & affords(cap, self.spent[rows, None] + prices)
        some = can.any(axis=1)
        rows, prices, can = rows[some], prices[some], can[some]
        if not rows.size:
            return rows, rows
        # Free units come first: their gain is divided by a tiny price.
        prices = np.maximum(prices, 1e-9 * (units.costs.full or 1.0))
        left = cap - self.spent[rows]
        rates = self.order.gains.rates(self.X[rows], self.owned[rows], prices, left)
        return rows, np.where(can, rates, -np.inf).argmax(axis=1)


class DynamicReader(Reader):
    """A reader that walks each row once and reads a cell of X only when it is acquired."""

    def __init__(self, order, X):
        super().__init__(order, X, Answers(len(X)))
        self._walk = DynamicWalk(order, len(X))
        shape = order.n_stages, len(X)
        self._reached = np.full(len(X), -1)
        self.owned = np.zeros((*shape, order.units.n_units), dtype=bool)
        self.spent = np.zeros(shape)

    def advance(self, rows, stage):
        """Make the acquisitions of some rows up to the end of a stage."""
        walk, units = self._walk, self.order.units
        # Stages may be requested in any order, so each row resumes where it stopped.
        for now in range(self._reached[rows].min(initial=stage) + 1, stage + 1):
            behind, chosen = walk.choose(rows[self._reached[rows] < now])
            for unit in np.unique(chosen):
                buyers = behind[chosen == unit]
                # Before `owned` changes, because prices depend on it.
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
    """Predictions by a dynamic order that requests features when they are needed."""

    def __init__(self, point, blank, label):
        self._order, n_samples = point.cascade, blank.answered.size
        self._walk = DynamicWalk(self._order, n_samples)
        super().__init__(point, blank, label, self._walk.X)
        self._stage = np.zeros(n_samples, dtype=np.intp)
        self._had = np.zeros(n_samples, dtype=bool)  # whether any request was answered

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
                # Refused values stay unknown and are not charged, so use the ledger's costs.
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


FORESEEN = "foreseen"  # name of the dynamic order
# The share of the reference's gain in log loss that naive Bayes trees must reach. The second
# applies if every tree has splits: then the informative features depend on the context.
MUST_TELL, WITH_CONTEXTS = 0.95, 0.8
# Most examples used for this comparison.
ENOUGH = 4_000


def foresees_class(table, reference, trees):
    """Return whether naive Bayes trees predict the class nearly as well as a reference.

    Only such trees give reliable expected gains. `reference`, (n_samples, n_classes), holds
    out-of-fold probabilities; `trees`, `BayesTrees`, are compared by their gain in log loss.
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
    """Cache of the naive Bayes trees of a table, each fitted without one fold."""

    def __init__(self, table, seed):
        self._table, self._seed, self._known = table, seed, {}

    def without(self, fold, most_rows=None):
        """Return the tree fitted on the examples outside a fold, and the seed that it used."""
        table, inside = self._table, np.flatnonzero(self._table.folds != fold)
        # Every k-th example, if a sample is enough.
        inside = inside[:: -(-inside.size // (most_rows or inside.size))]
        key = int(fold), inside.size
        if key not in self._known:
            drawn = derive_seed(self._seed, "naive bayes", int(fold)) & INT32_MAX
            self._known[key] = NaiveBayesTree.fit(table.take(inside), drawn), drawn
        return self._known[key]


def foreseen_trace(table, units, trees, rivals=(), n_jobs=None):
    """Fit a dynamic order and send the training examples along it, out of fold.

    `trees` are the `BayesTrees` of the table. Returns the trace and the predictions from all
    features, (n_samples, n_classes), or None if the `rivals`, traces of fixed orders, are better.
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

    # Choosing for each example is slow: one fold shows whether it is worth doing for the others.
    first = walked(folds[0])
    here, found, spent, *_ = first
    if rivals and not _beats_rivals(table, here, found, spent, rivals):
        return None
    walks = [first, *thread_map(walked, folds[1:], n_jobs, "models")]
    final = fit(-1)  # no fold has this number: the final model, fitted on all examples
    shape = (final.n_stages, len(table.y))
    predictions, spent = np.empty((*shape, table.n_outputs)), np.zeros(shape)
    owned, full = np.zeros((*shape, units.n_units), dtype=bool), np.empty(predictions.shape[1:])
    for here, *parts in walks:
        predictions[:, here], spent[:, here], owned[:, here], full[here] = parts
    sizes = np.array([len(features) for features in units.features])
    # Examples differ, so a stage lists the features that any example has acquired by then.
    by_someone = units.columns(owned.any(axis=1))
    stages = tuple(tuple(np.flatnonzero(each).tolist()) for each in by_someone)
    return Trace(replace(final, stages=stages), predictions, spent, owned @ sizes), full


def _beats_rivals(table, here, predictions, spent, rivals):
    """Return whether some stage has a lower log loss than fixed orders at the same cost."""
    part = table.take(here)

    def loss(found):
        return part.mean(part.calibrated_losses(found))

    stages = (zip(each.spent[:, 0], each.predictions, strict=True) for each in rivals)
    costs, losses = np.transpose(sorted((cost, loss(row[here])) for cost, row in chain(*stages)))
    # Interpolated, as some examples may stop at one stage and the others at the next.
    least = np.interp(spent.mean(axis=1), costs, np.minimum.accumulate(losses))
    return any(loss(found) < best for found, best in zip(predictions, least, strict=True))
