"""Columns of zeros and ones of which no row has two ones are one column of codes, counted at once.

As of a category that was coded one-hot: LightGBM's exclusive feature bundling (Ke et al. 2017),
without its conflicts.
"""

from typing import NamedTuple

import numpy as np

# So many bundles are tried for a column, and so many columns go into one.
MOST_BUNDLES = 8
MOST_MEMBERS = 255
# Two columns that exclude each other nowhere are mostly told apart by a few rows.
FIRST_ROWS = 256


class Bundles(NamedTuple):
    """The bundles of a coded table."""

    codes: np.ndarray  # (n_bundles, n_samples): the member with its one in a row, from 1; 0: none
    bundle: np.ndarray  # (n_features,): where each feature belongs, -1: to none
    member: np.ndarray  # (n_features,): which code of the bundle stands for its one


def find_bundles(data):
    """Bundle the features with two codes, first fit."""
    binary = np.flatnonzero((data.n_codes == 2) & ~data.missing)
    found = []  # (taken, members) of each bundle
    for feature in binary:
        ones = np.flatnonzero(data.codes[data.columns[feature]])
        for taken, members in found:
            room = len(members) < MOST_MEMBERS
            if room and not (taken[ones[:FIRST_ROWS]].any() or taken[ones].any()):
                members.append(feature)
                taken[ones] = len(members)
                break
        else:
            if len(found) < MOST_BUNDLES:
                taken = np.zeros(data.n_samples, dtype=data.codes.dtype)
                taken[ones] = 1
                found.append((taken, [feature]))
    found = [(taken, members) for taken, members in found if len(members) > 1]
    bundle = np.full(data.n_features, -1, dtype=np.int32)
    member = np.zeros(data.n_features, dtype=np.int32)
    for index, (_, members) in enumerate(found):
        bundle[members] = index
        member[members] = np.arange(1, len(members) + 1)
    codes = np.array([taken for taken, _ in found], dtype=data.codes.dtype)
    return Bundles(codes.reshape(len(found), data.n_samples), bundle, member)
