"""Reading what papers print, and which variants take the causes of differences away.

A table of printed numbers is a tidy csv: paper, table, dataset, method, quantity, value (with the
digits that are printed: they say how it was rounded), and if printed value_sd, the standard
deviation over the paper's runs, and runs, how many those are; where needed remark, what readers
must know of the number; every other column is a setting that the number belongs to, for example
trees, empty where it has none.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ..analysis.published import AREAS, QUANTITIES
from ..analysis.reproduction import WHERE
from ..study.records import setting_text

KEYS = ["dataset", "method", "setting", "quantity"]
_PRINTED = ["paper", "table", "dataset", "method", "quantity", "value"]
_SPREAD, _RUNS, _REMARK = "value_sd", "runs", "remark"
_ENTRY = {"why", "variant"}  # what an entry of the reasons must have
_MAY = {*WHERE, "reading", "chosen_after", "narrowed_after", "one_sample"}


def read_published(paths):
    """Read tables of printed numbers from csv files; the name of each is kept as `source`.

    The columns are source, paper, table, dataset, method, setting (as in records: "trees=10", ""
    for none), quantity, value, value_sd (NaN where the paper prints none), unit (that of the last
    digit of value), printed_runs (1 where no number is given), remark. A `ConfigError` says when a
    column is missing, a quantity is unknown or a number is repeated.
    """
    frames = [_read_one(Path(path)) for path in paths]
    columns = ["source", *_PRINTED[:4], "setting", *_PRINTED[4:], _SPREAD, "unit", "printed_runs"]
    columns.append(_REMARK)
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)


def _read_one(path):
    """Read one table and check it."""
    # "None" is a setting (candidate_window=None: all of them), an empty field is not.
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    # A number that is read wrongly would be judged wrongly: refuse what is not understood.
    absent = [column for column in _PRINTED if column not in frame]
    if absent:
        raise ConfigError(f"{path}: printed numbers need the column {absent[0]!r}.")
    strange = sorted(set(frame["quantity"]) - {*QUANTITIES, *AREAS})
    if strange:
        known = ", ".join([*QUANTITIES, *AREAS])
        raise ConfigError(f"{path}: unknown quantity {strange[0]!r}; known: {known}.")
    names = [column for column in frame if column not in [*_PRINTED, _SPREAD, _RUNS, _REMARK]]
    settings = [setting_text(row.dropna()) for _, row in frame[names].iterrows()]
    frame = frame.assign(
        setting=settings,
        value=frame["value"].astype(float),
        value_sd=frame[_SPREAD].astype(float) if _SPREAD in frame else np.nan,
        unit=frame["value"].map(_unit),
        printed_runs=frame[_RUNS].astype(float).fillna(1.0) if _RUNS in frame else 1.0,
        remark=frame[_REMARK].fillna("") if _REMARK in frame else "",
        source=path.stem,
    )
    # Twice the same number would count twice as reproduced.
    repeated = frame[frame.duplicated(KEYS)]
    if len(repeated):
        raise ConfigError(f"{path}: {tuple(repeated.iloc[0][KEYS])} appears more than once.")
    return frame


def _unit(text):
    """Return the unit of the last digit of a number as it is printed."""
    return 10.0 ** -len(text.partition(".")[2])


def read_reasons(path):
    """Read the reasons of known deviations, each an experiment, as a list of dicts from YAML.

    An entry has `why`, a sentence; `variant`, the study that takes the cause away; any of table,
    dataset, method, setting, quantity, as the tables of printed numbers name them; `reading`, the
    quantity to take of the variant where it is another one; `chosen_after: true` where the variant
    was chosen after seeing the printed numbers; `narrowed_after: true` where the entry was
    narrowed, after seeing the variant's results, to what it has right; and `one_sample: true` where
    the variant draws other rows in every run, so that the printed number must also be a likely draw
    of one sample. A `ConfigError` says when an entry has no `why`, no `variant` or a key that is
    not known.
    """
    entries = read_yaml(path) or []
    for entry in entries:
        # A key that is misspelt would silently make the entry fit more numbers.
        if not _ENTRY <= entry.keys() <= {*_ENTRY, *_MAY}:
            raise ConfigError(
                f"{path}: an entry needs `why` and `variant` and may have "
                f"{', '.join(sorted(_MAY))}; got {', '.join(map(str, entry))}."
            )
    return entries
