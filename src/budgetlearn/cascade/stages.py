"""Stages of a cascade: how far along an order of acquisition each stage goes."""

import numpy as np

from ..costs import spendable
from ..validation import ParameterError


def with_whole_groups(order, costs):
    """Cut an order into acquisitions, each of them features that are acquired together.

    The first member of a cost group brings in the others at once where their own prices together
    are no more than the group's charge, which is paid by then; the others wait for their turn.

    Parameters
    ----------
    order : sequence of int
        Features, first to last, each once.
    costs : FeatureCosts
        Prices.

    Returns
    -------
    list of tuple of int
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
    if costs.costs[others].sum() > costs.group_costs[group]:
        others = others[costs.costs[others] == 0]
    return others[np.argsort(costs.costs[others], kind="stable")].tolist()


def geometric_stages(acquisitions, costs, n_stages):
    """Return the features of each stage: prefixes of the order at geometric cumulative costs.

    Parameters
    ----------
    acquisitions : list of tuple of int
        In order.
    costs : FeatureCosts
        Prices.
    n_stages : int
        Most stages; with fewer acquisitions each is a stage.

    Returns
    -------
    list of tuple of int
        Nested, in the order of acquisition; the last one holds all features.
    """
    spent = np.array(
        [costs.subset(_joined(acquisitions[: k + 1])) for k in range(len(acquisitions))]
    )
    lengths = np.arange(1, len(acquisitions) + 1)
    # What is free is acquired at once, and what costs nothing more comes along.
    last_of_price = np.append(spent[1:] > spent[:-1], True)
    lengths, spent = lengths[last_of_price], spent[last_of_price]
    if lengths.size > n_stages:
        free = int(spent[0] == 0)
        goals = np.geomspace(spent[free], spent[-1], n_stages - free)
        goals[-1] = spent[-1]  # not a rounding below it
        kept = np.searchsorted(spent, spendable(goals), side="right") - 1
        lengths = lengths[np.unique(np.concatenate([np.zeros(free, dtype=kept.dtype), kept]))]
    return [_joined(acquisitions[:k]) for k in lengths]


def nested_stages(sets, n_features):
    """Check stages that the user gives, and return them in the order of acquisition.

    Parameters
    ----------
    sets : sequence of sequences of int
        Features of each stage, each set within the next. What no set names is never acquired.
    n_features : int
        How many features there are.

    Returns
    -------
    list of tuple of int
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
