"""Hard budgets and mean ones: what no example may exceed, and what examples cost on average."""

import numpy as np
import pandas as pd

from ..benchmark.records import OK

HARD, MEAN = "hard", "mean"


def budget_kinds(points):
    """Return {method: "hard" or "mean"}: whether any example ever cost more than its model's mean.

    Parameters
    ----------
    points : DataFrame
        Operating points with cost and cost_max.

    Returns
    -------
    dict of str to str
        "hard" where all examples of a model cost the same, in every model of every run.
    """
    good = points[points["status"] == OK]
    equal = np.isclose(good["cost_max"].astype(float), good["cost"].astype(float), rtol=1e-9)
    kept = pd.Series(equal).groupby(good["method"].to_numpy()).all()
    return {name: HARD if same else MEAN for name, same in kept.items()}


def at_most(points):
    """Return operating points charged what their most expensive example costs.

    Under a hard budget a model may be used only if no example exceeds it.

    Parameters
    ----------
    points : DataFrame
        Operating points with cost_max, and valid_cost_max where the validation part was charged.

    Returns
    -------
    DataFrame
        The points that have both, cost, cost_fraction and valid_cost in these terms.
    """
    full = (points["cost"] / points["cost_fraction"]).where(points["cost_fraction"] > 0)
    keys = [points[name] for name in ("dataset", "costs", "run")]
    full = full.groupby(keys).transform("max")
    share = (points["cost_max"] / full).where(points["cost_max"] > 0, 0.0)
    valid = points["valid_cost_max"].fillna(points["cost_max"])
    hard = points.assign(cost=points["cost_max"], cost_fraction=share, valid_cost=valid)
    return hard[(hard["status"] != OK) | hard["cost_fraction"].notna()]
