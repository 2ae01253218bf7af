"""Numbers that papers print, and the mean of our runs beside each.

A third reading of the area, `aup_paper`, is how Yan et al. seem to have measured theirs: section
5.2 selects within each sequence on validation data and gives "the predictive accuracy by the final
model schedule" on test data. So each sequence is compressed on validation data, and their union is
measured, and compressed again, on test data. The rectangles of the area have the height of their
right end; that was chosen after seeing the printed numbers, as one of 16 readings.
"""

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices

from ..study.records import OK, parse_setting
from .schedules import CASE, RUN, check_points

# Quantities of an operating point.
QUANTITIES = {
    "cost": lambda point: point["cost"],
    "cost_percent": lambda point: 100 * point["cost_fraction"],
    "n_features": lambda point: point["n_features"],
    "n_nodes": lambda point: point["n_nodes"],
    "entropy_percent": lambda point: 100 * point["node_entropy"],
    "seconds": lambda point: point["fit_seconds"],
    "predict_seconds": lambda point: point["predict_seconds"],
    "test_score": lambda point: point["test_score"],
    "test_error": lambda point: 1 - point["test_score"],
    "error_percent": lambda point: 100 * (1 - point["test_score"]),
    "mse": lambda point: point["test_mse"],
    "valid_score": lambda point: point["valid_score"],
    "estimated_score": lambda point: point["estimated_score"],
}
# Quantities of a whole run: three readings of the area, two of them in the table of areas.
AREAS = ("aup_test", "aup_valid", "aup_paper")
# A method built from sequences → the methods of one sequence each, by the same seeds.
MEMBERS = {"msb": ("msb_importance", "msb_cost", "msb_sampling", "msb_l1")}


def published_table(points, printed, areas, stand_ins=None):
    """Put the mean over our runs beside each printed number.

    `points` are operating points, `areas` their `area_table`, `printed` is from
    `budgetbench.report.printed_numbers.read_published`; `stand_ins` says for which data set of the
    paper one of ours stands in.

    Returns the printed rows with the columns run_on (our data set), costs, ours, sd, n_runs,
    difference (ours − printed) and note: in what ours is something else than the paper's. A number
    that the study did not rerun, or for which no run completed, has NaN. Where several operating
    points of a run have the setting that a number belongs to, the one with the best validation
    score counts: that is how the papers choose.
    """
    stand_ins = stand_ins or {}
    points = check_points(points)
    cases = points[CASE].drop_duplicates().rename(columns={"dataset": "run_on"})
    cases["dataset"] = cases["run_on"].map(lambda name: stand_ins.get(name, name))
    rows = printed.merge(cases, how="left", on="dataset")
    values = OurValues(points, areas)
    ours = [values.of(row) for row in rows.to_dict("records")]
    rows["ours"] = [own.mean() for own in ours]
    rows["sd"] = [own.std() for own in ours]
    rows["n_runs"] = [own.size for own in ours]
    rows["difference"] = rows["ours"] - rows["value"]
    rows["note"] = [_note(row) for row in rows.to_dict("records")]
    return rows


class OurValues:
    """Our values of printed quantities, one for each completed run."""

    def __init__(self, points, areas):
        good = points[points["status"] == OK]
        # The best on validation data first: of several points of a setting that one counts.
        good = good.sort_values("valid_score", ascending=False, kind="stable")
        # By label, as a dict: a Series takes a hundred times as long for each of them.
        self.settings = good["setting"].map(parse_setting).to_dict()
        self.points, self.areas = good, with_paper_areas(areas, points)

    def of(self, row):
        """Return the values that belong to a printed number as a Series, by the number of the run.

        `row` is a dict of run_on, costs, method, setting and quantity.
        """
        where = {"dataset": row["run_on"], "costs": row["costs"], "method": row["method"]}
        if row["quantity"] in AREAS:
            return _rows(self.areas, where).set_index("run")[row["quantity"]].dropna()
        wanted = parse_setting(row["setting"] or None)
        if "n_features" in wanted:  # a column of its own, not a setting of the method
            where["n_features"] = float(wanted.pop("n_features"))
        wanted, own = wanted.items(), _rows(self.points, where)
        match = np.array([wanted <= self.settings[i].items() for i in own.index], dtype=bool)
        chosen = own.loc[match].groupby(RUN).head(1).set_index("run")
        return QUANTITIES[row["quantity"]](chosen)


def _rows(frame, where):
    """Return the rows of `frame` that have the values of `where`; none where one is missing."""
    hit = np.ones(len(frame), dtype=bool)
    for column, value in where.items():
        hit &= False if pd.isna(value) else (frame[column] == value).to_numpy(dtype=bool)
    return frame[hit]


def _note(row):
    if row["n_runs"] == 0:
        return "not rerun in this study" if pd.isna(row["run_on"]) else "no run of ours has it"
    return "" if row["run_on"] == row["dataset"] else f"ours on {row['run_on']}"


def with_paper_areas(areas, points):
    """Return the table of areas with the column `aup_paper`.

    It is NaN in runs of which a member is not there: msB's own points are compressed as a union on
    validation data already.
    """
    runs = dict(list(points[points["status"] == OK].groupby(RUN, sort=False)))
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


def right_end_area(costs, scores):
    """Return the area of rectangles that reach from a point to the next cheaper one.

    Costs are shares of the full cost. Below the cheapest model its own score counts, above the most
    expensive one too.
    """
    kept = pareto_indices(costs, scores)
    edges = np.concatenate(([0.0], costs[kept]))
    edges[-1] = 1.0
    return float(np.diff(edges) @ scores[kept])
