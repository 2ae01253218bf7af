"""Prices of a table in which some of the original columns are spread over several."""

import numpy as np

from ..costs import FeatureCosts
from ..exceptions import CostError

_KEY = "budgetlearn"


def mark(frame, names, origins):
    """Write onto an encoded table which original column each of its columns comes from.

    Parameters
    ----------
    frame : DataFrame
        The encoded table.
    names : sequence of str
        The original columns.
    origins : sequence of int
        Index among them for each column of the frame.
    """
    frame.attrs[_KEY] = {"names": list(names), "origins": [int(origin) for origin in origins]}


def costs_for(X, feature_costs, n_features, names=None):
    """Return the prices of a table's columns: of the original ones where it was encoded.

    Parameters
    ----------
    X : object
        The table, as a user or `BudgetPreprocessor` handed it over.
    feature_costs : None, array-like, dict, Series or FeatureCosts
        Prices of the original columns.
    n_features : int
        How many columns the table has.
    names : sequence of str, default=None
        What they are called.

    Returns
    -------
    FeatureCosts
        Of the table's columns.
    """
    marked = getattr(X, "attrs", {}).get(_KEY)
    if marked is None or len(marked["origins"]) != n_features:
        return FeatureCosts.of(feature_costs, n_features, names)
    originals = marked["names"]
    costs = encoded_costs(
        FeatureCosts.of(feature_costs, len(originals), originals), marked["origins"], originals
    )
    costs.names = None if names is None else tuple(names)
    return costs


def encoded_costs(costs, origins, names=None):
    """Return the prices of a table in which some features are spread over several columns.

    A feature of one column keeps its price and its group. The columns of a feature that has
    several are a group of their own: the first one bought costs the feature's price, the others
    then nothing.

    Parameters
    ----------
    costs : FeatureCosts
        Prices of the features.
    origins : array-like of int of shape (n_columns,)
        Which feature each column comes from.
    names : sequence of str, default=None
        What messages call the features.

    Returns
    -------
    FeatureCosts
        Of the columns.

    Raises
    ------
    CostError
        When a feature of several columns shares a charge with others: a column has one group.

    Examples
    --------
    >>> costs = FeatureCosts([5, 1, 2], groups=[-1, 0, 0], group_costs=[10])
    >>> spread = encoded_costs(costs, [0, 0, 0, 1, 2])
    >>> spread.subset([0]), spread.subset([0, 1]), spread.subset([1, 3, 4])
    (5.0, 5.0, 18.0)
    """
    origins = np.asarray(origins, dtype=np.intp)
    spread = np.flatnonzero(np.bincount(origins, minlength=costs.n_features) > 1)
    own = np.full(costs.n_features, -1) if costs.groups is None else costs.groups.copy()
    shared = spread[own[spread] >= 0]
    if shared.size:
        name = shared[0] if names is None else names[shared[0]]
        raise CostError(
            f"feature {name!r} shares a charge with others and cannot be spread over several "
            "columns as well: take it out of one_hot."
        )
    charges = np.empty(0) if costs.groups is None else costs.group_costs
    charges = np.concatenate([charges, costs.costs[spread]])
    if not charges.size:
        return FeatureCosts(costs.costs[origins])
    own[spread] = charges.size - spread.size + np.arange(spread.size)
    price = np.where(np.isin(np.arange(costs.n_features), spread), 0.0, costs.costs)
    return FeatureCosts(price[origins], own[origins], charges)
