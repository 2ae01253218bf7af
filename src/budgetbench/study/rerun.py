"""A fresh run of a study beside stored results: which numbers differ."""

from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import BudgetlearnError

from . import records

KEY = ("dataset", "costs", "method", "run", "fit", "stage")
UNCOMPARED = (*(name for name, column in records.POINTS.items() if column.clock), "format_version")
# On another platform, or with other versions, sums may end in other last bits.
TOLERANCE = 1e-9


class RerunError(BudgetlearnError, ValueError):
    """Results that a rerun was expected to give again, and did not."""


def stored_points(folder, fresh):
    """Return the file of operating points in ``results/<study>`` of an earlier run, or its archive.

    `fresh` is the folder of the results to compare with. A `RerunError` says when no folder is
    named, when it has no such file, or when it is the same folder.
    """
    if folder is None:
        raise RerunError(
            "rerun_check compares with stored results: name their folder, as in "
            "snakemake --cores 2 rerun_check --config stored=earlier/results/default"
        )
    if Path(folder).resolve() == Path(fresh).resolve():
        raise RerunError(
            f"{folder} is where this study's own results are: move the stored results elsewhere "
            "(mv results/default stored), so that a fresh run can be compared with them."
        )
    path = Path(folder) / "points.parquet"
    if not path.is_file():
        raise RerunError(f"{folder} was expected to hold points.parquet, and does not.")
    return str(path)


def tolerance(fresh, stored):
    """Return the relative distance that numbers may have, 0 on the same machine and versions."""
    return 0.0 if _platforms(fresh) == _platforms(stored) else TOLERANCE


def _platforms(origins):
    """Return machines (but for their number of cores) and versions, whatever code and effort."""
    others = ("commit", "kernels", "machine", *records.SUMMED)
    return {
        (
            one.get("machine", "").partition(",")[0],
            *sorted(item for item in one.items() if item[0] not in others),
        )
        for one in origins
    }


def differences(fresh, stored, within=0.0):
    """Return the numbers in which two sets of operating points differ.

    Up to `within`, a relative distance, they count as equal.

    The frame has one row for each difference: `KEY`, column, fresh, stored. A point that only one
    side has differs in the column "point".
    """
    fresh, stored = (frame.set_index(list(KEY)).sort_index() for frame in (fresh, stored))
    for name, frame in (("fresh", fresh), ("stored", stored)):
        if not frame.index.is_unique:
            raise RerunError(f"the {name} results have two operating points of one place.")
    # Points that only one side has are told apart from numbers that differ.
    both = fresh.index.intersection(stored.index)
    found = [
        _rows(frame.index.difference(both), "point", *said)
        for frame, said in ((fresh, ("there", "missing")), (stored, ("missing", "there")))
    ]
    fresh, stored = fresh.loc[both], stored.loc[both]
    unknown = records.unknown_columns(stored["format_version"].max())
    for column in fresh.columns.difference([*UNCOMPARED, *unknown], sort=False):
        differ = _differ(fresh[column], stored[column], within)
        found.append(_rows(both[differ], column, fresh[column][differ], stored[column][differ]))
    return pd.concat(found, ignore_index=True)


def _rows(index, column, fresh, stored):
    """Return rows of `differences` for the points of an index."""
    fresh, stored = (
        values if isinstance(values, str) else [str(value) for value in values]
        for values in (fresh, stored)
    )
    return index.to_frame(index=False).assign(column=column, fresh=fresh, stored=stored)


def _differ(fresh, stored, within):
    """Return for each pair of values whether they differ; missing values equal each other."""
    # NaN on both sides is the same answer: neither knows.
    if pd.api.types.is_float_dtype(fresh):
        return ~np.isclose(fresh, stored, rtol=within, atol=0, equal_nan=True)
    if fresh.dtype == object:  # an array in each cell
        pairs = zip(fresh, stored, strict=True)
        return np.array([not _same_array(a, b, within) for a, b in pairs], bool)
    same = (fresh == stored) | (fresh.isna() & stored.isna())
    return ~same.fillna(False).to_numpy(bool)


def _same_array(a, b, within):
    if a is None or b is None:
        return a is b
    return len(a) == len(b) and np.allclose(a, b, rtol=within, atol=0, equal_nan=True)


def check_rerun(study, fresh, stored):
    """Compare the operating points in two files, and return what was compared, in a sentence.

    Those of settings that a method tries for seconds left after its tries are not compared: how
    many there are depends on the machine. A `RerunError` has the first ten differences.
    """
    within = tolerance(records.origins_of(fresh), records.origins_of(stored))
    points, earlier = (
        points[~study.beyond_tries(points)] for points in map(records.read, (fresh, stored))
    )
    found = differences(points, earlier, within)
    how = f"within {within:g} relative (machine or versions differ)" if within else "exactly"
    if len(found):
        raise RerunError(
            f"{len(found)} numbers of {fresh} are not those of {stored}, compared {how}. "
            f"The first of them:\n{found.head(10).to_string(index=False)}"
        )
    return f"All {len(points)} operating points of {fresh} are those of {stored}, compared {how}."
