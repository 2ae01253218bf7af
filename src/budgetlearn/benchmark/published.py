"""Numbers that papers print, beside ours.

A table of printed numbers is a tidy csv: paper, table, dataset, method, quantity, value, and if
printed value_sd, the standard deviation over the paper's runs, where needed remark, what readers
must know of the number (that the paper does not say of which data it is); every other column is a
setting that the number belongs to, for example trees, empty where it has none.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from ..exceptions import ConfigError
from .aggregate import area_table
from .points import CASE, RUN, check_points
from .records import OK, parse_setting, setting_text

KEYS = ["dataset", "method", "setting", "quantity"]
_PRINTED = ["paper", "table", "dataset", "method", "quantity", "value"]
_SPREAD, _REMARK = "value_sd", "remark"
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
    "estimated_score": lambda point: point["estimated_score"],
}
# Quantities of a whole run: the two readings of the area, named as in the table of areas.
AREAS = ("aup_test", "aup_valid")


def read_published(paths):
    """Read tables of printed numbers.

    Parameters
    ----------
    paths : iterable of path-like
        csv files; the name of each is kept as `source`.

    Returns
    -------
    DataFrame
        source, paper, table, dataset, method, setting (as in records: "trees=10", "" for none),
        quantity, value, value_sd (NaN where the paper prints none), remark.

    Raises
    ------
    ConfigError
        When a column is missing, a quantity is unknown or a number is repeated.
    """
    frames = [_read_one(Path(path)) for path in paths]
    columns = ["source", *_PRINTED[:4], "setting", *_PRINTED[4:], _SPREAD, _REMARK]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)


def _read_one(path):
    # "None" is a setting (candidate_window=None: all of them), an empty field is none.
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    absent = [column for column in _PRINTED if column not in frame]
    if absent:
        raise ConfigError(f"{path}: printed numbers need the column {absent[0]!r}.")
    strange = sorted(set(frame["quantity"]) - {*QUANTITIES, *AREAS})
    if strange:
        known = ", ".join([*QUANTITIES, *AREAS])
        raise ConfigError(f"{path}: unknown quantity {strange[0]!r}; known: {known}.")
    names = [column for column in frame if column not in [*_PRINTED, _SPREAD, _REMARK]]
    settings = [setting_text(row.dropna()) for _, row in frame[names].iterrows()]
    frame = frame.assign(
        setting=settings,
        value=frame["value"].astype(float),
        value_sd=frame[_SPREAD].astype(float) if _SPREAD in frame else np.nan,
        remark=frame[_REMARK].fillna("") if _REMARK in frame else "",
        source=path.stem,
    )
    repeated = frame[frame.duplicated(KEYS)]
    if len(repeated):
        raise ConfigError(f"{path}: {tuple(repeated.iloc[0][KEYS])} stands there more than once.")
    return frame


def published_table(points, printed, stand_ins=None):
    """Put the mean over our runs beside each printed number.

    Parameters
    ----------
    points : DataFrame
        Operating points.
    printed : DataFrame
        From `read_published`.
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
    areas = area_table(points) if printed["quantity"].isin(AREAS).any() else None
    values = _Ours(points, areas)
    ours = [values.of(row) for row in rows.to_dict("records")]
    rows["ours"] = [own.mean() for own in ours]
    rows["sd"] = [own.std() for own in ours]
    rows["n_runs"] = [own.size for own in ours]
    rows["difference"] = rows["ours"] - rows["value"]
    rows["note"] = [_note(row) for row in rows.to_dict("records")]
    return rows


class _Ours:
    """Our values of printed quantities, one for each completed run."""

    def __init__(self, points, areas):
        good = points[points["status"] == OK]
        good = good.sort_values("valid_score", ascending=False, kind="stable")
        self.settings = good["setting"].map(parse_setting)
        self.points, self.areas = good, areas

    def of(self, row):
        """Return the values that belong to a printed number as a Series."""
        where = {"dataset": row["run_on"], "costs": row["costs"], "method": row["method"]}
        if row["quantity"] in AREAS:
            return _rows(self.areas, where)[row["quantity"]].dropna()
        wanted = parse_setting(row["setting"] or None).items()
        own = _rows(self.points, where)
        match = np.array([wanted <= self.settings[i].items() for i in own.index], dtype=bool)
        return QUANTITIES[row["quantity"]](own.loc[match].groupby(RUN).head(1))


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
