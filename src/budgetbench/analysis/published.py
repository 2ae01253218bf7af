"""Numbers that papers print, and the mean of our runs beside each."""

import numpy as np
import pandas as pd

from ..study.records import OK, parse_setting
from .paper_areas import with_paper_areas
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


def published_table(points, printed, areas, stand_ins=None):
    """Put the mean over our runs beside each printed number.

    Parameters
    ----------
    points : DataFrame
        Operating points.
    printed : DataFrame
        From `budgetbench.report.printed_numbers.read_published`.
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    stand_ins : dict of str to str, default=None
        Data set of ours → the paper's that it stands in for.

    Returns
    -------
    DataFrame
        The printed rows with the columns run_on (our data set), costs, ours, sd, n_runs,
        difference (ours − printed) and note: in what ours is something else than the paper's. A
        number that the study did not rerun, or for which no run completed, has NaN.

    Notes
    -----
    Where several operating points of a run have the setting that a number belongs to, the one with
    the best validation score counts: that is how the papers choose.
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
        good = good.sort_values("valid_score", ascending=False, kind="stable")
        self.settings = good["setting"].map(parse_setting)
        self.points, self.areas = good, with_paper_areas(areas, points)

    def of(self, row):
        """Return the values that belong to a printed number as a Series, by the number of the run.

        Parameters
        ----------
        row : dict
            run_on, costs, method, setting and quantity.
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
