"""Reading what papers print, and why our numbers differ from theirs.

A table of printed numbers is a tidy csv: paper, table, dataset, method, quantity, value, and if
printed value_sd, the standard deviation over the paper's runs, where needed remark, what readers
must know of the number (that the paper does not say of which data it is); every other column is a
setting that the number belongs to, for example trees, empty where it has none.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ..analysis.published import AREAS, QUANTITIES
from ..study.records import setting_text

KEYS = ["dataset", "method", "setting", "quantity"]
_PRINTED = ["paper", "table", "dataset", "method", "quantity", "value"]
_SPREAD, _REMARK = "value_sd", "remark"
# An entry of the reasons may leave out what it is meant for all of.
_WHERE = ("table", "dataset", "method", "setting", "quantity")


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
    # "None" is a setting (candidate_window=None: all of them), an empty field is not.
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
        raise ConfigError(f"{path}: {tuple(repeated.iloc[0][KEYS])} appears more than once.")
    return frame


def read_reasons(path):
    """Read the reasons of known deviations.

    Parameters
    ----------
    path : path-like
        YAML: a list of entries with `why` and any of table, dataset, method, setting, quantity, as
        the tables of printed numbers name them.

    Returns
    -------
    list of dict

    Raises
    ------
    ConfigError
        When an entry has no `why` or a key that is not known.
    """
    entries = read_yaml(path) or []
    for entry in entries:
        if "why" not in entry or not entry.keys() <= {"why", *_WHERE}:
            raise ConfigError(
                f"{path}: an entry needs `why` and may have {', '.join(_WHERE)}; got "
                f"{', '.join(map(str, entry))}."
            )
    return entries
