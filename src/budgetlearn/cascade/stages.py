"""Stages of a cascade: how far along an order each one goes, and the models fitted on each."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..costs import spendable
from ..parallel import thread_map
from ..validation import ParameterError
from .mixture import Mixture
from .models import ascending, stage_seed

# A unit's place in the order of acquisition counts as much as this many units of chance.
NOISE = 0.25


def with_whole_groups(order, costs):
    """Cut an order, each feature once, into acquisitions: features that are acquired together.

    The first member of a cost group brings in the others at once where their own prices together
    are no more than the group's charge, which is paid by then; the others wait for their turn.
    """
    acquired = np.zeros(costs.n_features, dtype=bool)
    acquisitions = []
    for feature in order:
        if acquired[feature]:
            continue
        together = [feature, *_worth_adding(feature, costs, acquired)]
        acquired[together] = True
        acquisitions.append(tuple(int(each) for each in together))
    return acquisitions


def _worth_adding(feature, costs, acquired):
    """Return the members of a feature's group that are acquired with it, cheapest first."""
    if costs.groups is None or costs.groups[feature] < 0:
        return []
    group = costs.groups[feature]
    others = np.flatnonzero((costs.groups == group) & ~acquired)
    others = others[others != feature]
    # Members that cost more than the charge wait for their own turn; free ones come along.
    if costs.costs[others].sum() > costs.group_costs[group]:
        others = others[costs.costs[others] == 0]
    return others[np.argsort(costs.costs[others], kind="stable")].tolist()


def geometric_stages(acquisitions, costs, n_stages):
    """Return the features of each stage: prefixes of the order at geometric cumulative costs.

    They are nested tuples in the order of acquisition, and the last one holds all features. With no
    more than `n_stages` acquisitions each is a stage.
    """
    spent = np.array(
        [costs.subset(_joined(acquisitions[: k + 1])) for k in range(len(acquisitions))]
    )
    lengths = np.arange(1, len(acquisitions) + 1)
    # What is free is acquired at once, and what costs nothing more comes along.
    last_of_price = np.append(spent[1:] > spent[:-1], True)
    lengths, spent = lengths[last_of_price], spent[last_of_price]
    if lengths.size > n_stages:
        # What is free has no place on a geometric scale: it is a stage of its own.
        free = int(spent[0] == 0)
        goals = np.geomspace(spent[free], spent[-1], n_stages - free)
        goals[-1] = spent[-1]  # not a rounding below it
        # The longest prefix within each goal; goals nearer than two prefixes give the same one.
        kept = np.searchsorted(spent, spendable(goals), side="right") - 1
        lengths = lengths[np.unique(np.concatenate([np.zeros(free, dtype=kept.dtype), kept]))]
    return [_joined(acquisitions[:k]) for k in lengths]


def nested_stages(sets, n_features):
    """Check stages that the user gives, and return them in the order of acquisition.

    Raises `ParameterError` unless each set of features is within the next. What no set names is
    never acquired.
    """
    stages, acquired = [], []
    for features in sets:
        features = [int(feature) for feature in features]
        known = set(features)
        if len(known) < len(features) or not known <= set(range(n_features)):
            raise ParameterError(
                f"a nested set must name features from 0 to {n_features - 1}, each once, "
                f"got {features}."
            )
        if not set(acquired) < known:
            raise ParameterError(
                f"nested sets must grow: {sorted(known)} does not hold all of {sorted(acquired)} "
                "and one more. Give each stage all features of the stages before it."
            )
        acquired = [*acquired, *(each for each in features if each not in set(acquired))]
        stages.append(tuple(acquired))
    return stages


def _joined(acquisitions):
    return tuple(feature for acquisition in acquisitions for feature in acquisition)


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
        for unit, features in enumerate(self.features):
            columns[:, list(features)] = acquired[:, [unit]]
        return columns

    def prices(self, acquired):
        """Return the price of each further unit for each row, (n_samples, n_units)."""
        # A unit costs its own features, and the charge of each group that is still unpaid.
        prices = np.tile(self._own_prices, (len(acquired), 1))
        if self.costs.groups is not None:
            unpaid = (acquired.astype(np.intp) @ self._needs.astype(np.intp)) == 0
            prices += (unpaid * self.costs.group_costs) @ self._needs.T
        return prices

    # A walk asks for prices at every step of every example.
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


class StageModels:
    """Models of each kind on each set of features, whichever cascades ask for them.

    `models` and `held_out`, the predictions of models that had not seen the training examples,
    (n_samples, n_outputs), are keyed by kind and ascending features. `fallback_model`, a
    `MaskedModel` or one on demand, predicts where values that a stage needs cannot be had; `usual`
    are the medians of the training examples, (n_features,).
    """

    def __init__(self, models, held_out, fallback_model=None, usual=None):
        self.models = models
        self.held_out = held_out
        self.fallback_model = fallback_model
        self.usual = usual

    @property
    def kinds(self):
        """Names of the kinds."""
        return tuple(dict.fromkeys(kind for kind, _ in self.models))

    @classmethod
    def fit(cls, table, feature_sets, kinds, seed, n_jobs=None):
        """Fit a model of each kind on each distinct set of features.

        `kinds` holds by name what `as_kind` gives; `n_jobs` models are fitted at a time, in
        threads.
        """
        # Two orders often share a set: its models are fitted once.
        distinct = sorted({ascending(features) for features in feature_sets}, key=len)
        # The largest tables first, so that no thread waits for them in the end.
        keys = [(name, features) for features in reversed(distinct) for name in kinds]

        def fit_one(key):
            name, features = key
            return kinds[name].fit_both(table, list(features), stage_seed(seed, name, features))

        fitted = thread_map(fit_one, keys, n_jobs, "models")
        return cls(
            {key: model for key, (_, model) in zip(keys, fitted, strict=True)},
            {key: held_out for key, (held_out, _) in zip(keys, fitted, strict=True)},
        )

    def joined(self, others):
        """Return these models and others."""
        return StageModels(self.models | others.models, self.held_out | others.held_out)

    def mixture(self, features, table):
        """Return the mixture of all kinds that were fitted on some features."""
        key = ascending(features)
        kinds = [kind for kind in self.kinds if (kind, key) in self.held_out]
        held_out = {kind: self.held_out[kind, key] for kind in kinds}
        return Mixture.fit(held_out, table.y, table.n_classes, table.weight)

    def held_out_stages(self, stages, mixtures):
        """Return the mixed out-of-fold predictions of stages, (n_stages, n_samples, n_outputs)."""
        return np.array(
            [
                mixture.of([self.held_out[kind, ascending(features)] for kind in mixture.kinds])
                for features, mixture in zip(stages, mixtures, strict=True)
            ]
        )

    def only(self, cascades):
        """Return the models that some cascades use, without the out-of-fold predictions."""
        keys = {key for cascade in cascades for key in cascade.model_keys()}
        kept = {key: model for key, model in self.models.items() if key in keys}
        return StageModels(kept, {}, self.fallback_model, self.usual)
