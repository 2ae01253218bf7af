"""Methods within a given cost: the scores that they reach and the features that they acquire."""

import numpy as np
import pandas as pd

from budgetlearn.costs import affords

from ..study.records import OK, parse_variables
from .areas import CONSTANT
from .schedules import CASE, CASE_RUN, GROUP, RUN, of_case

_COLUMNS = [*GROUP, "rival", "cost_fraction", "score", "score_sd", "rival_score", "rival_sd"]
_COLUMNS += ["wins", "n_affording", "n_runs"]
SHARE = 0.5  # of the full cost, under which acquisitions are compared
_RATES = [*CASE, "feature", "name", "price", "method", "rate", "n_runs"]


def own_cost_table(points, schedules, methods, compared):
    """Return the accuracy of each such method, and of the others within its cost.

    A run in which a rival affords nothing counts with the free constant, as in the area under the
    Pareto (Yan et al., section 5.2). Of `methods`, those without a choice of budget, the last stage
    counts, the whole model; `compared` is the `Comparison` with their rivals.

    The columns are dataset, costs, method, rival, cost_fraction (mean share of the full cost that
    `method` comes to), score and score_sd of `method`, rival_score and rival_sd at that cost (for a
    control: at its own), wins (runs in which the rival is ahead), n_affording (runs in which the
    rival has a model within that cost), n_runs that both completed.
    """
    good = points[points["status"] == OK].sort_values([*RUN, "stage"])
    whole = good.groupby(RUN).tail(1)[[*RUN, "cost", "cost_fraction", "test_score"]]
    own = whole[whole["method"].isin(methods)]
    free = whole.loc[whole["method"] == CONSTANT, [*CASE_RUN, "test_score"]]
    own = own.merge(free.rename(columns={"test_score": "free_score"}), on=CASE_RUN, how="left")
    rows = []
    for rival in [*compared.competitors, *compared.controls]:
        if rival in methods:
            continue
        control = compared.methods[rival].control
        # Controls have one model each, at a cost of their own.
        theirs = whole[whole["cost"] > 0] if control else schedules
        theirs = theirs[theirs["method"] == rival]
        pairs = _with_rival(own, theirs, control)
        rows += [_row(rival, key, part) for key, part in pairs.groupby(GROUP)]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _with_rival(own, theirs, control):
    """Add the rival's score in each run, within the own cost unless it is a control."""
    theirs = theirs[[*CASE_RUN, "cost", "test_score"]]
    pairs = own.merge(theirs, on=CASE_RUN, suffixes=("", "_rival"))
    # A control is shown at its own cost, beyond the budget or not.
    within = control | affords(pairs["cost"], pairs["cost_rival"])
    score = pairs["test_score_rival"].where(within, pairs["free_score"])
    pairs = pairs.assign(within=within, rival_score=score).dropna(subset="rival_score")
    return pairs.sort_values([*RUN, "within", "cost_rival"]).groupby(RUN).tail(1)


def _row(rival, key, part):
    """Return the comparison of one method with one rival in one case."""
    return dict(zip(GROUP, key, strict=True)) | {
        "rival": rival,
        "cost_fraction": part["cost_fraction"].mean(),
        "score": part["test_score"].mean(),
        "score_sd": part["test_score"].std(),
        "rival_score": part["rival_score"].mean(),
        "rival_sd": part["rival_score"].std(),
        "wins": int((part["rival_score"] > part["test_score"]).sum()),
        "n_affording": int(part["within"].sum()),
        "n_runs": len(part),
    }


def acquisition_table(schedules, compared, prices):
    """Return the rate at which each method acquires each feature at half of the full cost.

    In each run a method is represented by the most expensive model of its schedule that costs at
    most half of all features on validation data, so methods are compared under the same budget;
    controls are left out. `prices` has dataset, costs, run, feature (its name) and cost, for each
    run in the order of the features.

    The columns are dataset, costs, feature (its index), name, price (mean over runs, NaN where
    unknown), method, rate (the share of test examples for which it is bought, mean over runs),
    n_runs (that the mean is over: those that afford a model and tell what it buys).
    """
    # Chosen by validation cost, as a user would: test costs are not known then.
    affordable = schedules[affords(SHARE, schedules["valid_fraction"])]
    chosen = affordable.drop_duplicates([*CASE, "method", "run"], keep="last")
    tables = [
        _case_table(of_case(chosen, *case), compared, prices, *case)
        for case in compared.cases(chosen)
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_RATES)


def _case_table(chosen, compared, prices, dataset, costs):
    """Return the rows of one case."""
    prices = of_case(prices, dataset, costs).copy()
    prices["place"] = prices.groupby("run").cumcount()
    # The mean price over runs, which draw prices anew; names are the same in all.
    known = prices.groupby("place").agg(name=("feature", "first"), price=("cost", "mean"))
    rows = []
    for method in compared.rivals(chosen):
        rates = _rates(chosen[chosen["method"] == method], len(known))
        if len(rates):
            mean = rates.mean(axis=0)
            table = known.reindex(range(mean.size)).assign(rate=mean, method=method)
            rows.append(table.assign(n_runs=len(rates)).rename_axis("feature").reset_index())
    if not rows:
        return pd.DataFrame(columns=_RATES)
    table = pd.concat(rows, ignore_index=True).assign(dataset=dataset, costs=costs)
    unnamed = "x" + table["feature"].astype(str)
    return table.assign(name=table["name"].fillna(unnamed))[_RATES]


def _rates(models, n_features):
    """Return the acquisition rates of the models of a method, (n_models, n_features)."""
    rates = []
    for recorded, variables in models[["acquisition_rates", "variables"]].to_numpy():
        if recorded is not None:
            rates.append(np.asarray(recorded, dtype=float))
        elif pd.notna(variables) and n_features:
            bought = parse_variables(variables)
            rates.append(np.isin(np.arange(n_features), bought).astype(float))
    return np.array(rates)
