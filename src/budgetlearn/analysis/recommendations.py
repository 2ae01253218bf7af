"""What to buy under each budget: the best validated method."""

import numpy as np
import pandas as pd

from .mean_curves import staircase
from .schedules import CASE, of_case

MOST_BUDGETS = 200
_MEASURED = ["valid_fraction", "valid_score", "cost_fraction", "test_score"]
_SHOWN = ["budget", "method", "valid", "valid_sd", "test", "test_sd", "cost"]


def recommendations(schedules, methods, dataset, costs):
    """Return which method to use under each budget, by mean validation score over runs.

    In each run a budget buys the most expensive model of a method's schedule that it affords on
    validation data. Of the methods that afford one in every run of the case, controls included,
    the one with the best mean validation score is recommended; of equals the one whose models
    are cheaper. Test scores are reported and choose nothing.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetlearn.analysis.schedules.compressed_points`.
    methods : sequence of str
        Whom to recommend, controls among them, in the order of display.
    dataset, costs : str
        The case.

    Returns
    -------
    DataFrame
        budget (share of the full cost, ascending), method, valid, valid_sd, test, test_sd, cost
        (mean share on test data), n_runs: one row for each budget from which on a larger mean
        validation score can be had (of more than 200 such budgets, quantiles), and
        models: the index in `schedules` of the model of each run, in the order of the runs.
    """
    frame = of_case(schedules, dataset, costs)
    runs = sorted(frame["run"].unique())
    complete = {
        method: own
        for method in methods
        if set((own := frame[frame["method"] == method])["run"]) == set(runs) and len(own)
    }
    if not complete:
        return pd.DataFrame(columns=[*_SHOWN, "n_runs", "models"])
    budgets = _budgets([own["valid_fraction"] for own in complete.values()])
    offers = [_offers(own, method, budgets, runs) for method, own in complete.items()]
    return _improving(pd.concat(offers, ignore_index=True)).assign(n_runs=len(runs))


def all_recommendations(schedules, methods, cases):
    """Return the recommendations of several cases as one table.

    Parameters
    ----------
    schedules, methods
        As for `recommendations`.
    cases : sequence of (str, str)
        The (dataset, costs) pairs.

    Returns
    -------
    DataFrame
        dataset, costs, and the columns of `recommendations`.
    """
    tables = [
        recommendations(schedules, methods, *case).assign(**dict(zip(CASE, case, strict=True)))
        for case in cases
    ]
    columns = [*CASE, *_SHOWN, "n_runs", "models"]
    return pd.concat(tables)[columns] if tables else pd.DataFrame(columns=columns)


def _budgets(fractions):
    """Return the budgets at which some model becomes affordable, thinned to quantiles."""
    budgets = np.unique(np.concatenate(fractions))
    if budgets.size > MOST_BUDGETS:
        budgets = budgets[np.linspace(0, budgets.size - 1, MOST_BUDGETS).round().astype(int)]
    return budgets


def _offers(points, method, budgets, runs):
    """Return what a method offers under each budget that affords a model of it in every run."""
    position = np.array([_bought(points, run, budgets) for run in runs])
    affordable = (position >= 0).all(axis=0)
    position = position[:, affordable]
    values = points[_MEASURED].to_numpy(dtype=float)[position]
    mean = values.mean(axis=0)
    sd = values.std(axis=0, ddof=1) if len(runs) > 1 else np.full(mean.shape, np.nan)
    means = dict(zip(("paid", "valid", "cost", "test"), mean.T, strict=True))
    spreads = dict(zip(("valid_sd", "test_sd"), sd.T[[1, 3]], strict=True))
    models = [list(map(int, column)) for column in points.index.to_numpy()[position].T]
    fixed = {"budget": budgets[affordable], "method": method, "models": models}
    return pd.DataFrame(fixed | means | spreads)[[*_SHOWN, "paid", "models"]]


def _bought(points, run, budgets):
    """Return the position in `points` of the model that each budget buys in a run, −1 for none."""
    position = np.flatnonzero(points["run"] == run)
    costs = points["valid_fraction"].to_numpy(dtype=float)[position]
    return staircase(costs, position, budgets, -1)


def _improving(offers):
    """Return the best offer under each budget, of those only where the best mean gets better."""
    offers = offers.assign(rounded=offers["valid"].round(12))
    ranked = offers.sort_values(
        ["budget", "rounded", "paid"], ascending=[True, False, True], kind="stable"
    )
    best = ranked.drop_duplicates("budget")
    before = best["rounded"].cummax().shift(fill_value=-np.inf)
    better = best[best["rounded"] > before]
    return better.drop(columns=["rounded", "paid"]).reset_index(drop=True)
