"""`BinnedData`: a table coded once, feature by feature, for any number of trees."""

import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..parallel import thread_map
from ..validation import check_number

MOST_BINS = 2**16 - 1  # and a code for NaN fit into two bytes
# The types of codes, narrowest first.
CODE_TYPES = (np.uint8, np.uint16, np.uint32)
# Limits on the bundles, each of which is tried for a column, and on the columns of a bundle, whose
# numbers fit into a byte.
MOST_BUNDLES = 8
MOST_MEMBERS = 255
# A few rows are usually enough to see that two columns do not exclude each other.
FIRST_ROWS = 256


@dataclass(frozen=True, eq=False)
class BinnedData:
    """Rank codes of a table, with the values behind the codes of each feature."""

    # uint8, uint16 or uint32 (n_columns, n_samples): code of each value, one
    # row for each column of the table that was coded.
    codes: np.ndarray
    columns: np.ndarray  # int32 (n_features,): the row of `codes` that holds each feature
    # int64 (n_columns + 1,): where each column begins in `lowest` and `highest`.
    offsets: np.ndarray
    # Smallest and largest value behind each code; equal if codes are exact.
    # NaN behind the last code of a column that may have missing values.
    lowest: np.ndarray
    highest: np.ndarray
    by_value: np.ndarray | None = None  # int32, as `codes`: rows by value, NaN last; None: not kept

    @property
    def n_samples(self):
        """Number of rows of the table."""
        return self.codes.shape[1]

    @property
    def n_features(self):
        """Number of features in this view."""
        return self.columns.size

    @cached_property  # used by each tree
    def n_codes(self):
        """Number of codes of each feature, shape (n_features,)."""
        return np.diff(self.offsets)[self.columns]

    @cached_property  # used by each tree
    def missing(self):
        """Mask of the features that may be missing, shape (n_features,)."""
        return np.isnan(self.lowest[self.offsets[self.columns + 1] - 1])

    @cached_property
    def bundles(self):
        """The features with two codes in this view, packed into `Bundles` by first fit."""
        found = []  # (taken, members) of each bundle
        for feature in np.flatnonzero((self.n_codes == 2) & ~self.missing):
            ones = np.flatnonzero(self.codes[self.columns[feature]])
            for taken, members in found:
                room = len(members) < MOST_MEMBERS
                if room and not (taken[ones[:FIRST_ROWS]].any() or taken[ones].any()):
                    members.append(feature)
                    taken[ones] = len(members)
                    break
            else:
                if len(found) < MOST_BUNDLES:
                    taken = np.zeros(self.n_samples, dtype=self.codes.dtype)
                    taken[ones] = 1
                    found.append((taken, [feature]))
        found = [(taken, members) for taken, members in found if len(members) > 1]
        bundle = np.full(self.n_features, -1, dtype=np.int32)
        member = np.zeros(self.n_features, dtype=np.int32)
        for index, (_, members) in enumerate(found):
            bundle[members] = index
            member[members] = np.arange(1, len(members) + 1)
        codes = np.array([taken for taken, _ in found], dtype=self.codes.dtype)
        return Bundles(codes.reshape(len(found), self.n_samples), bundle, member)

    def take(self, features):
        """Return a view of some features, in that order, on the same codes, without `by_value`."""
        columns = self.columns[np.asarray(features, dtype=np.intp)]
        return BinnedData(self.codes, columns, self.offsets, self.lowest, self.highest)


class Bundles(NamedTuple):
    """The bundles of a coded table.

    A bundle merges columns of zeros and ones, of which at most one is one in any row (such as those
    of a one-hot category), into a single column of codes. This is LightGBM's exclusive feature
    bundling (Ke et al. 2017) without conflicts.
    """

    codes: np.ndarray  # (n_bundles, n_samples): number of the member that is one, from 1; 0: none
    bundle: np.ndarray  # (n_features,): the bundle of each feature; -1: none
    member: np.ndarray  # (n_features,): the code of each feature's one in its bundle


def _code_type(n_codes):
    """Return the narrowest type that holds `n_codes` codes."""
    return next(kind for kind in CODE_TYPES if n_codes - 1 <= np.iinfo(kind).max)


def _code_column(column, n_bins, missing):
    """Return the rows by value (None: not sorted), their codes, and each code's extreme values.

    With `n_bins` None, each distinct value has a code. With `missing`, NaN has one more.
    """
    beyond = np.full(int(missing), np.nan)
    low, high = column.min(), column.max()
    upper = column == high
    if low < high and (upper | (column == low)).all():  # two values need no sort, and are frequent
        ends = np.array([low, high, *beyond], dtype=np.float64)
        return None, upper.astype(np.uint8), ends, ends
    by_value = order = np.argsort(column)  # NaN comes last
    n_known = column.size - np.count_nonzero(np.isnan(column)) if missing else column.size
    order, absent = order[:n_known], order[n_known:]
    ordered = column[order]
    fresh = np.ones(n_known, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    if n_bins is not None and first.size > n_bins:
        # Bins of equal shares; `first` has the number of values below each distinct one.
        starts = np.searchsorted(first, np.arange(n_bins) * (n_known / n_bins))
        first = first[np.unique(starts[starts < first.size])]
        fresh[:] = False
        fresh[first] = True
    codes = np.empty(column.size, dtype=_code_type(first.size + missing))
    codes[order] = np.cumsum(fresh) - 1
    if missing:
        codes[absent] = first.size
    last = np.append(first, n_known)[1:] - 1
    lowest, highest = (np.append(ordered[each], beyond) for each in (first, last))
    return by_value, codes, lowest.astype(np.float64), highest.astype(np.float64)


def bin_features(X, max_bins=None, n_jobs=None, missing=None, folder=None, ordered=False):
    """Code every feature of a table by rank, as `BinnedData`.

    `max_bins` limits the codes for a feature, to at most 65,535; None: one for each distinct value.
    All columns use the type of the column with the most codes. `missing` masks the features with an
    additional code, the largest, for NaN; all other values are finite. `folder` is for a temporary
    file of the codes, mapped into memory while they are used; their type is wide enough for any
    table of this shape. `ordered` keeps `by_value`.
    """
    check_number(max_bins, "max_bins", low=2, high=MOST_BINS, integer=True, none=True)
    missing = np.zeros(X.shape[1], dtype=bool) if missing is None else missing
    mapped, by_value = None, np.empty(X.shape[::-1], dtype=np.int32) if ordered else None
    if folder is not None:
        # Wide enough for any table of this shape, as the number of codes is not yet known.
        kind = _code_type(min(len(X), max_bins or len(X)) + int(missing.any()))
        with tempfile.TemporaryFile(dir=folder) as file:  # disappears with the array
            mapped = np.memmap(file, dtype=kind, mode="w+", shape=X.shape[::-1])

    def code(feature):
        column = np.ascontiguousarray(X[:, feature])
        order, codes, lowest, highest = _code_column(column, max_bins, missing[feature])
        if ordered:
            by_value[feature] = np.argsort(column) if order is None else order
        if mapped is not None:
            mapped[feature], codes = codes, None
        return codes, lowest, highest

    coded = thread_map(code, range(X.shape[1]), n_jobs)
    columns, lowest, highest = zip(*coded, strict=True)
    sizes = [own.size for own in lowest]
    codes = mapped
    if mapped is None:
        codes = np.empty(X.shape[::-1], dtype=_code_type(max(sizes)))
        for row, column in zip(codes, columns, strict=True):
            row[:] = column
    offsets, places = np.append(0, np.cumsum(sizes)), np.arange(X.shape[1], dtype=np.int32)
    lowest, highest = np.concatenate(lowest), np.concatenate(highest)
    return BinnedData(codes, places, offsets, lowest, highest, by_value)
