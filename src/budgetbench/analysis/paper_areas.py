"""The area under the Pareto as Yan et al. seem to have measured theirs: a third reading.

Their section 5.2 selects within each sequence on validation data and gives "the predictive accuracy
by the final model schedule" on test data. So each sequence is compressed on validation data, and
their union is measured, and compressed again, on test data. The rectangles of the area have the
height of their right end; that was chosen after seeing the printed numbers, as one of 16 readings.
"""

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices

from ..study.records import OK
from .schedules import CASE, RUN

# A method built from sequences → the methods of one sequence each, by the same seeds.
MEMBERS = {"msb": ("msb_importance", "msb_cost", "msb_sampling", "msb_l1")}


def right_end_area(costs, scores):
    """Return the area of rectangles that reach from a point to the next cheaper one.

    Parameters
    ----------
    costs, scores : ndarray of shape (n_points,)
        Shares of the full cost, and scores.

    Returns
    -------
    float
        Below the cheapest model its own score counts, above the most expensive one too.
    """
    kept = pareto_indices(costs, scores)
    edges = np.concatenate(([0.0], costs[kept]))
    edges[-1] = 1.0
    return float(np.diff(edges) @ scores[kept])


def with_paper_areas(areas, points):
    """Return the table of areas with the column `aup_paper`.

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    points : DataFrame
        Operating points, those of the members among them.

    Returns
    -------
    DataFrame
        `aup_paper` is NaN in runs of which a member is not there: msB's own points are compressed
        as a union on validation data already.
    """
    good = points[points["status"] == OK]
    runs = dict(list(good.groupby(RUN, sort=False)))
    keys = areas[RUN].itertuples(index=False, name=None)
    return areas.assign(aup_paper=[_paper_area(runs, key) for key in keys])


def _paper_area(runs, key):
    """Return the area of one run of a method."""
    *case, method, run = key
    parts = [runs.get((*case, name, run)) for name in MEMBERS.get(method, (method,))]
    if any(part is None for part in parts):
        return np.nan
    union = pd.concat(parts).drop_duplicates([*CASE, "cost_fraction", "test_score"])
    costs, scores = (union[name].to_numpy(dtype=float) for name in ("cost_fraction", "test_score"))
    return right_end_area(costs, scores)
