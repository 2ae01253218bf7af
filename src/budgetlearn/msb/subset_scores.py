"""Scores of subsets of variables, in memory and in a file that outlives an interruption."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from ..exceptions import BudgetlearnError
from ..files import whole_file

FORMAT = 1
COLUMNS = "subset,score,fit_seconds"


class CheckpointError(BudgetlearnError, ValueError):
    """A file of subset scores that belongs to something else."""


def variables_of(subset):
    """Return the variables of a subset that is coded as an integer: bit j stands for variable j."""
    return tuple(j for j in range(int(subset).bit_length()) if subset >> j & 1)


def fingerprint(estimator, seed, *tables, scoring=None):
    """Return a hash of all that the scores depend on.

    Prices are not among it: they change no score, so one file serves all cost profiles. The
    estimator's class and parameters count, but for those that change no result (`n_jobs`,
    `verbose`) and `random_state`, which the seed replaces. `tables` are X, y and, where there are
    any, weights of each part of the data.
    """
    digest = hashlib.sha256()
    # The shape and type, too: the same bytes in another shape are other data.
    for array in (array for table in tables for array in table):
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    parameters = estimator.get_params()
    decisive = {
        name: f"{type(value).__qualname__} {value!r}"
        for name, value in parameters.items()
        if name.split("__")[-1] not in ("n_jobs", "verbose", "random_state")
    }
    digest.update(f"{type(estimator).__qualname__} {sorted(decisive.items())} {seed}".encode())
    if scoring is not None:
        digest.update(repr(scoring).encode())
    return digest.hexdigest()


class SubsetScores:
    """The scores found so far for the subsets of a few variables.

    `scores` and `seconds` are by the code of the subset (see `variables_of`), NaN where it is not
    known: the memory is that of 2^n_variables pairs of numbers. `path` is a file to go on from and
    to add to, one process at a time; a line of it is one subset's code, its score and the seconds
    of its fit. `key` is the `fingerprint` of what the scores belong to. A `CheckpointError` says
    when the file belongs to other data, another estimator or another seed, or is something else.
    """

    def __init__(self, n_variables, path=None, key=""):
        self.scores = np.full(2**n_variables, np.nan)
        self.seconds = np.full(2**n_variables, np.nan)
        self.path = None if path is None else Path(path)
        self._header = json.dumps({"format": FORMAT, "variables": n_variables, "key": key})
        if self.path is not None:
            self._read() if self.path.exists() else self._create()

    def _create(self):
        with whole_file(self.path) as partial:
            partial.write_text(f"# {self._header}\n{COLUMNS}\n", encoding="utf-8")

    def _read(self):
        """Take over the scores in the file; cut off an unfinished last line."""
        content = self.path.read_bytes()
        # The last line may have been cut by an interruption: only whole lines count.
        whole = content[: content.rfind(b"\n") + 1]
        head, _, lines = whole.decode("utf-8", "replace").partition(f"\n{COLUMNS}\n")
        if head != f"# {self._header}":
            raise CheckpointError(
                f"{self.path} does not hold scores of these data, with this estimator and "
                f"random_state (it starts with {head[:60]!r}). Name another file, or delete it to "
                "start afresh."
            )
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        for line in lines.splitlines():
            subset, score, seconds = line.split(",")
            self.scores[int(subset)], self.seconds[int(subset)] = float(score), float(seconds)

    def add(self, subsets, scores, seconds):
        """Keep some scores; the file has them all, or a part that the next reader can use."""
        self.scores[subsets], self.seconds[subsets] = scores, seconds
        if self.path is None:
            return
        rows = zip(subsets, scores, seconds, strict=True)
        lines = "".join(f"{subset},{score!r},{taken:.6f}\n" for subset, score, taken in rows)
        # Appended and flushed to the disk: what was paid for survives the loss of power.
        with self.path.open("ab") as file:
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
