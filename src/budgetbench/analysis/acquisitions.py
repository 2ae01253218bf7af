"""Which features each method buys how often, at half of what all features cost."""

import numpy as np
import pandas as pd

from budgetlearn.costs import affords

from ..study.records import parse_variables
from .schedules import CASE, of_case

SHARE = 0.5
_COLUMNS = [*CASE, "feature", "name", "price", "method", "rate", "n_runs"]


def acquisition_table(schedules, compared, prices):
    """Return how often each method buys each feature where it may spend half of the full cost.

    In each run a method is represented by the most expensive model of its schedule that costs at
    most half of all features on validation data, so methods are compared under the same budget.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetbench.analysis.schedules.compressed_points`.
    compared : Comparison
        The methods, controls of which are left out.
    prices : DataFrame
        dataset, costs, run, feature (its name), cost, for each run in the order of the features.

    Returns
    -------
    DataFrame
        dataset, costs, feature (its index), name, price (mean over runs, NaN where unknown),
        method, rate (the share of test examples for which it is bought, mean over runs), n_runs
        (that the mean is over: those that afford a model and tell what it buys).
    """
    affordable = schedules[affords(SHARE, schedules["valid_fraction"])]
    chosen = affordable.drop_duplicates([*CASE, "method", "run"], keep="last")
    tables = [
        _case_table(of_case(chosen, *case), compared, prices, *case)
        for case in compared.cases(chosen)
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_COLUMNS)


def _case_table(chosen, compared, prices, dataset, costs):
    """Return the rows of one case."""
    prices = of_case(prices, dataset, costs).copy()
    prices["place"] = prices.groupby("run").cumcount()
    known = prices.groupby("place").agg(name=("feature", "first"), price=("cost", "mean"))
    rows = []
    for method in compared.rivals(chosen):
        rates = _rates(chosen[chosen["method"] == method], len(known))
        if len(rates):
            mean = rates.mean(axis=0)
            table = known.reindex(range(mean.size)).assign(rate=mean, method=method)
            rows.append(table.assign(n_runs=len(rates)).rename_axis("feature").reset_index())
    if not rows:
        return pd.DataFrame(columns=_COLUMNS)
    table = pd.concat(rows, ignore_index=True).assign(dataset=dataset, costs=costs)
    unnamed = "x" + table["feature"].astype(str)
    return table.assign(name=table["name"].fillna(unnamed))[_COLUMNS]


def _rates(models, n_features):
    """Return what the models of a method buy how often, (n_models, n_features)."""
    rates = []
    for recorded, variables in models[["acquisition_rates", "variables"]].to_numpy():
        if recorded is not None:
            rates.append(np.asarray(recorded, dtype=float))
        elif pd.notna(variables) and n_features:
            bought = parse_variables(variables)
            rates.append(np.isin(np.arange(n_features), bought).astype(float))
    return np.array(rates)
