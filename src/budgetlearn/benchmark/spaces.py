"""The whole solution space of an exhaustive search, from the scores that it kept."""

from pathlib import Path

import numpy as np
import pandas as pd

from .records import OK
from .runs import profiles_of


def solution_space(points, prices, folder):
    """Return cost and score of every subset in the lowest run that was searched to the end.

    Parameters
    ----------
    points : DataFrame
        Operating points of the search.
    prices : DataFrame
        The cost table of its runs, from `budgetlearn.benchmark.runs.draw_costs`.
    folder : path-like
        Where the search kept its scores, `<run>.csv`; see
        `budgetlearn.benchmark.resuming.resumable_run`.

    Returns
    -------
    DataFrame
        run, subset (bit j for variable j), cost, score, and the seconds of each fit; empty where no
        run was completed.
    """
    names = list(prices.loc[prices["run"] == prices["run"].iloc[0], "feature"])
    completed = (points["status"] == OK).groupby(points["run"]).all()
    for run, costs in profiles_of(prices, names).items():
        path = Path(folder) / f"{run}.csv"
        if completed.get(run, False) and path.exists():
            scores = pd.read_csv(path, comment="#")
            chosen = scores["subset"].to_numpy()[:, None] >> np.arange(len(names)) & 1
            return scores.assign(cost=costs.total(chosen), run=run)
    return pd.DataFrame(columns=["subset", "score", "seconds", "cost", "run"])
