"""Mean cost-accuracy curves with their spread over runs: exact staircases, nothing smoothed."""

import numpy as np
import pandas as pd

from ..costs import affords, spendable

MOST_BUDGETS = 100


def staircase(costs, values, budgets, below):
    """Return what each budget gets: the value of the most expensive point that it affords.

    Parameters
    ----------
    costs, values : ndarray of shape (n_points,)
        Points in any order.
    budgets : ndarray of shape (n_budgets,)
        In the unit of the costs.
    below : object
        What a budget gets that affords nothing.

    Returns
    -------
    ndarray of shape (n_budgets,)
    """
    order = np.argsort(costs, kind="stable")
    position = np.searchsorted(costs[order], spendable(budgets), side="right")
    return np.concatenate(([below], values[order]))[position]


def mean_curve(points, column, baselines, most=MOST_BUDGETS):
    """Return the mean test score of one method under each budget, and its spread over runs.

    In each run a budget gets the most expensive model of the schedule that it affords; where it
    affords none, the free constant, as in the area under the Pareto (Yan et al., section 5.2), and
    so in a run that the method did not complete: on shares of the full cost the area under this
    curve is the mean AUP.

    Parameters
    ----------
    points : DataFrame
        The schedules of one method in one case, from `compressed_points`.
    column : {"cost_fraction", "cost"}
        The unit of the budgets.
    baselines : Series
        Test score of the free constant in each run of the case; runs that it lacks are left out.
    most : int
        Of more budgets at which some run changes its model, so many quantiles are kept.

    Returns
    -------
    DataFrame
        budget (ascending), mean, sd (NaN for one run), n_affording (runs that afford a model),
        n_runs.
    """
    points = points[points["run"].isin(baselines.index)]
    budgets = np.unique(points[column].to_numpy(dtype=float))
    if budgets.size > most:
        ranks = np.linspace(0, budgets.size - 1, most).round().astype(int)
        budgets = budgets[ranks]
    n_runs = len(baselines)
    scores = np.empty((n_runs, budgets.size))
    for row, (run, baseline) in enumerate(baselines.items()):
        own = points[points["run"] == run]
        values = own["test_score"].to_numpy(dtype=float)
        scores[row] = staircase(own[column].to_numpy(float), values, budgets, baseline)
    cheapest = points.groupby("run")[column].min().to_numpy(dtype=float)
    affording = affords(budgets, cheapest[:, None]).sum(axis=0)
    return pd.DataFrame(
        {
            "budget": budgets,
            "mean": scores.mean(axis=0) if n_runs else np.nan,
            "sd": scores.std(axis=0, ddof=1) if n_runs > 1 else np.nan,
            "n_affording": affording,
            "n_runs": n_runs,
        }
    )


def control_point(points, column):
    """Return the one operating point of a control as a curve of one row; see `mean_curve`."""
    score = points["test_score"]
    row = {"budget": points[column].mean(), "mean": score.mean(), "sd": score.std()}
    return pd.DataFrame([row | {"n_affording": len(points), "n_runs": len(points)}])
