"""Exhaustive search: the best possible schedule for a small number of variables.

Scores of subsets are kept in a file, so that a search can continue after an interruption.
"""

import hashlib
import inspect
import json
import logging
import os
import time
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..exceptions import BudgetlearnError
from ..files import write_whole
from ..fit_counts import count_fit
from ..parallel import Bar, progress
from ..protocol.documenting import estimator_class
from ..validation import ParameterError, check_number, check_path
from .search import SubsetSearch

log = logging.getLogger("budgetlearn")

# Number of subsets that are scored and saved together, each chunk without earlier models in memory.
CHUNK = 64
_UNITS = (("s", 1), ("min", 60), ("h", 3600), ("days", 86400), ("years", 365.25 * 86400))


def duration(seconds):
    """Return a time in words with about two digits, such as "75 s", "40 min" or "3.1 days"."""
    fitting = [(name, unit) for name, unit in _UNITS if seconds >= 1.5 * unit]
    name, unit = fitting[-1] if fitting else _UNITS[0]
    value = seconds / unit
    return f"{value:,.0f} {name}" if value >= 10 else f"{value:.2g} {name}"


@estimator_class
class ExhaustiveSearch(SubsetSearch):
    """Fit every subset of the variables and keep the best models under all budgets.

    The schedule is the optimal one of section 4 for the given data. Models have the same seeds as
    in `ModelScheduleSearch`, so with the same `estimator`, `random_state` and data no schedule of
    model sequences can beat it on the validation data.

    Parameters
    ----------
    min_variables : int, default=2
        Minimum number of variables of a model.
    checkpoint : path-like, default=None
        File for the scores found so far. An interrupted search continues from it, and a search with
        other prices reuses it. Other data, another estimator or another seed raise an error.
    max_variables : int, default=18
        With more variables `fit` raises an error that estimates the time of the search.
    verbose : bool, default=False
        Whether to print the estimated time and show a bar at once, even without a terminal.
    random_state : int, RandomState instance or None, default=None
        Seed of the engine. A checkpoint needs an integer, as otherwise each fit is another search.

    Attributes
    ----------
    subsets_ : ndarray of int of shape (n_subsets,)
        Every subset, ascending: bit j stands for variable j.
    subset_costs_, subset_scores_ : ndarray of shape (n_subsets,)
        Cost and validation score of each: the solution space.
    resumed_seconds_ : float
        Seconds of the fits that came out of the checkpoint.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ExhaustiveSearch(DecisionTreeClassifier(), feature_costs=[1, 2, 3, 4])
    >>> search.set_params(random_state=0).fit(X, y).subset_scores_.size  # of 2, 3 or 4 variables
    11
    """

    min_variables: int = field(default=2, kw_only=False)
    checkpoint: Any = None
    max_variables: int = 18
    verbose: bool = False

    def _fit_schedule(self, train, valid, seed):
        data = train, valid, seed
        n_variables = train.X.shape[1]
        check_number(self.max_variables, "max_variables", low=1, high=30, integer=True)
        smallest = check_number(self.min_variables, "min_variables", low=1, integer=True)
        if n_variables > self.max_variables:
            self._refuse(data)
        codes = np.arange(1, 2**n_variables)
        self.subsets_ = codes[np.bitwise_count(codes) >= min(smallest, n_variables)]
        # Before any fit: a file of other data is refused at once, not after hours.
        weight = [] if train.weight is None else [train.weight]
        arrays = [train.X, train.y, *weight, valid.X, valid.y]
        key = fingerprint(self._engine(), seed, arrays, self.scoring)
        known = SubsetScores(n_variables, check_path(self.checkpoint, "checkpoint"), key)
        done = ~np.isnan(known.scores[self.subsets_])
        self.resumed_seconds_ = float(known.seconds[self.subsets_[done]].sum())
        count_fit(int(done.sum()))  # a checkpoint changes no count
        self._score(self.subsets_[~done], known, data)
        # Bit j of a code stands for variable j.
        acquired = (self.subsets_[:, None] >> np.arange(n_variables) & 1).astype(bool)
        self.subset_costs_ = self.feature_costs_.total(acquired)
        self.subset_scores_ = known.scores[self.subsets_]
        self._compress(data)

    def _refuse(self, data):
        n_variables = data[0].X.shape[1]
        half, seconds = self._trial(data)
        # Powers stop at 1000, as 2.0 ** 1024 is too large for a float.
        exact = 2**n_variables - 1
        fits = f"{exact:,}" if exact < 1e12 else f"{float(2 ** min(n_variables, 1000)):.1e}"
        total = seconds * 2.0 ** min(n_variables, 1000) / effective_n_jobs(self.n_jobs)
        raise ParameterError(
            f"an exhaustive search of {n_variables} variables fits {fits} models; at "
            f"{seconds:.3g} s a model (measured with {half} variables) that takes "
            f"{duration(total)} with n_jobs={self.n_jobs}. Raise max_variables (now "
            f"{self.max_variables}) to run it anyway, drop variables, or use ModelScheduleSearch."
        )

    def _trial(self, data):
        """Return the size of a typical subset and the seconds for fitting and scoring it."""
        # Most subsets have about half of the variables.
        half = max(1, data[0].X.shape[1] // 2)
        start = time.perf_counter()
        self._problem(*data).visit([tuple(range(half))])
        return half, time.perf_counter() - start

    def _score(self, subsets, known, data):
        """Fit and score the remaining subsets, chunk by chunk."""
        if not subsets.size:
            return
        _, seconds = self._trial(data)
        expected = duration(seconds * subsets.size / effective_n_jobs(self.n_jobs))
        size, unit = subsets.size, "models"
        log.info(message := f"exhaustive search: {size:,} models to fit, about {expected}")
        if self.verbose:
            print(message)
        with Bar(total=size, unit=unit) if self.verbose else progress(None, unit, size) as bar:
            for start in range(0, subsets.size, CHUNK):
                chunk = subsets[start : start + CHUNK].tolist()
                # A new problem for each chunk forgets earlier models, which bounds the memory.
                visited = self._problem(*data).visit([variables_of(subset) for subset in chunk])
                known.add(chunk, [m.score for m in visited], [m.fit_seconds for m in visited])
                bar.update(len(chunk))

    def _compress(self, data):
        """Set the schedule, and fit its models again with the seeds of their variables."""
        # Sorted as in ModelScheduleSearch, so that ties are resolved alike.
        variables = map(variables_of, self.subsets_)
        models = sorted(zip(variables, self.subset_costs_, self.subset_scores_, strict=True))
        variables, costs, scores = zip(*models, strict=True)
        self.schedule_ = self._schedule_of(costs, scores, variables)
        visited = self._problem(*data).visit(self.schedule_.variables)
        again = np.array([model.score for model in visited])
        if not np.array_equal(again, self.schedule_.scores):
            raise CheckpointError(
                f"models of the schedule score {again.tolist()} when fitted again, but scored "
                f"{self.schedule_.scores.tolist()} before. The checkpoint was made with other "
                "versions, or the estimator ignores its random_state."
            )
        self.models_ = [model.model for model in visited]


FORMAT = 1
COLUMNS = "subset,score,fit_seconds"


class CheckpointError(BudgetlearnError, ValueError):
    """A file of subset scores that is damaged or belongs to another search."""


def variables_of(subset):
    """Return the variables of a subset coded as an integer, where bit j is variable j."""
    return tuple(j for j in range(int(subset).bit_length()) if subset >> j & 1)


def fingerprint(estimator, seed, arrays, scoring):
    """Return a hash of everything that scores depend on, which does not include prices."""
    digest = hashlib.sha256()
    # Includes shape and type, as the same bytes in another shape are other data.
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    # Without parameters that do not affect results, and `random_state`, which the seed replaces.
    decisive = {
        name: f"{type(value).__qualname__} {_spelt(value)}"
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] not in ("n_jobs", "verbose", "random_state")
    }
    digest.update(f"{type(estimator).__qualname__} {sorted(decisive.items())} {seed}".encode())
    if scoring is not None:
        digest.update(_spelt(scoring).encode())
    return digest.hexdigest()


def _spelt(value):
    """Return a text that identifies a value in any process; functions by their source."""
    if scored := getattr(value, "_score_func", None):  # of `make_scorer`, whose repr has only names
        return f"{_spelt(scored)} {value._sign} {value._response_method} {_spelt(value._kwargs)}"
    if inspect.isfunction(value) and value.__module__.startswith("sklearn."):
        return f"{value.__module__}.{value.__qualname__}"
    if inspect.isfunction(value) and not value.__closure__:
        with suppress(OSError):
            return f"{inspect.getsource(value)} {value.__defaults__}"
    with np.printoptions(threshold=np.inf, floatmode="unique"):  # arrays in full
        return repr(value)


class SubsetScores:
    """The scores found so far for the subsets of a few variables.

    `scores` and `seconds` are indexed by the code of the subset (see `variables_of`), NaN if
    unknown. `path` is a file to read and extend, by one process at a time, with a subset's code,
    score and seconds per line. A file of another `key`, the search's `fingerprint`, is an error.
    """

    def __init__(self, n_variables, path, key):
        self.scores, self.seconds = np.full((2, 2**n_variables), np.nan)
        self.path = None if path is None else Path(path)
        self._header = json.dumps({"format": FORMAT, "variables": n_variables, "key": key})
        if self.path is not None and self.path.exists():
            self._read()
        elif self.path is not None:
            write_whole(self.path, f"# {self._header}\n{COLUMNS}\n")

    def _read(self):
        """Read the scores from the file, and cut off an incomplete last line."""
        content = self.path.read_bytes()
        # An interruption may have cut the last line.
        whole = content[: content.rfind(b"\n") + 1]
        head, _, lines = whole.decode("utf-8", "replace").partition(f"\n{COLUMNS}\n")
        if head != f"# {self._header}":
            raise CheckpointError(
                f"{self.path} does not hold scores of these data, with this estimator and "
                f"random_state (it starts with {head[:60]!r}). Name another file, or delete it to "
                "start again."
            )
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        for line in lines.splitlines():
            try:
                subset, score, seconds = line.split(",")
                self.scores[int(subset)], self.seconds[int(subset)] = float(score), float(seconds)
            except (ValueError, IndexError) as error:
                raise CheckpointError(
                    f"{self.path} has a line {line[:60]!r}, which is no subset with its score and "
                    "seconds. Delete the line, or the file to start again."
                ) from error

    def add(self, subsets, scores, seconds):
        """Store some scores; an interruption leaves a file that can still be read."""
        self.scores[subsets], self.seconds[subsets] = scores, seconds
        if self.path is None:
            return
        rows = zip(subsets, scores, seconds, strict=True)
        lines = "".join(f"{subset},{score!r},{taken:.6f}\n" for subset, score, taken in rows)
        # Flushed to the disk, so that results survive a power failure.
        with self.path.open("ab") as file:
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
