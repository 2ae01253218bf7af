"""`Dataset`: one prepared table, the only form in which the rest of the package sees data."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from budgetlearn.exceptions import DatasetError
from budgetlearn.files import whole_file
from budgetlearn.preprocessing.reading import reading
from budgetlearn.validation import in_row

FORMAT = 2  # of the parquet file; raise it when the layout changes
TRAIN, VALIDATION, TEST = 0, 1, 2
_KEY = b"budgetlearn"
_TARGET, _GROUP, _PART = "__target__", "__group__", "__part__"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of examples with its target.

    Parameters
    ----------
    id, title : str
        As in the registry.
    task : {"classification", "regression", "ranking"}
        What is predicted.
    X : ndarray of shape (n_samples, n_features)
        float64, or float32 for big tables; kept column-major, as the tree kernels read it.
    y : ndarray of shape (n_samples,)
        Class codes 0, 1, … (intp) in classification, relevance (intp) in ranking, floats in
        regression.
    feature_names : tuple of str
        One for each column of X.
    class_names : tuple of str, default=()
        One for each class code; empty in regression.
    groups : ndarray of int of shape (n_samples,), default=None
        Query of each row in ranking; the rows of a query stand together.
    part : ndarray of int8 of shape (n_samples,), default=None
        The split that came with the data: 0 train, 1 validation, 2 test.
    categories : mapping of str to tuple of str, default={}
        Of each feature that was words in the files: the words, in the order of their codes
        0, 1, … (before any standardising).
    gaps : bool, default=False
        Whether X may have missing cells (NaN), for each run to fill from its own training rows.
    source : str, default=""
        What it was prepared from, as `DatasetSpec.digest` has it.
    licence, citation : str, default=""
        For reports.

    Attributes
    ----------
    sha256 : str
        Hash of the content: values, names, categories, groups and parts.

    Raises
    ------
    DatasetError
        When shapes disagree, names repeat, or values are not finite.
    """

    id: str
    title: str
    task: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    part: np.ndarray | None = None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gaps: bool = False
    source: str = ""
    licence: str = ""
    citation: str = ""
    sha256: str = field(init=False)

    def __post_init__(self):
        X = np.asarray(self.X)
        kind = np.float32 if X.dtype == np.float32 else np.float64
        # Frozen for everybody else: the hash below vouches for what never changes again.
        put = object.__setattr__
        put(self, "X", np.asfortranarray(X, dtype=kind))
        put(self, "y", np.ascontiguousarray(self.y, self._target_type))
        put(self, "feature_names", tuple(self.feature_names))
        put(self, "class_names", tuple(self.class_names))
        put(self, "categories", {name: tuple(words) for name, words in self.categories.items()})
        if self.groups is not None:
            put(self, "groups", np.ascontiguousarray(self.groups, np.int64))
        if self.part is not None:
            put(self, "part", np.ascontiguousarray(self.part, np.int8))
        self._check()
        put(self, "sha256", self._digest())

    @property
    def _target_type(self):
        return np.float64 if self.task == "regression" else np.intp

    @property
    def n_samples(self):
        """Number of examples."""
        return self.X.shape[0]

    @property
    def n_features(self):
        """Number of features."""
        return self.X.shape[1]

    @property
    def class_counts(self):
        """Rows of each class, in the order of the codes; empty in regression."""
        return np.bincount(self.y, minlength=len(self.class_names)) if self.class_names else ()

    def _check_names(self):
        names, n_features = self.feature_names, self.X.shape[1]
        if len(names) != n_features:
            self._fail(f"{n_features} columns, but {len(names)} feature names")
        if len(set(names)) != n_features:
            repeated = sorted({n for n in names if names.count(n) > 1})
            self._fail(f"feature names must differ; repeated: {', '.join(repeated)}")
        # These are the names of other columns of the parquet file.
        refused = sorted({"", _TARGET, _GROUP, _PART}.intersection(names))
        if refused:
            self._fail(f"a feature must not be named {refused[0]!r}: give it another name")
        nameless = next((n for n in names if n.startswith("Unnamed: ")), None)
        if nameless is not None:  # as pandas calls what has no name
            self._fail(
                f"the column {nameless!r} has no name in its file. If it numbers the rows, leave "
                f"it out (`drop: ['{nameless}']`); else name it"
            )

    def _check(self):
        self._check_names()
        n_samples = self.X.shape[0]
        for name in ("y", "groups", "part"):
            values = getattr(self, name)
            if values is not None and values.shape != (n_samples,):
                self._fail(f"{name} must have one entry for each of the {n_samples} rows")
        # Column by column, so that no mask of the whole table is made.
        for column, name in zip(self.X.T, self.feature_names, strict=True):
            bad = np.flatnonzero(np.isinf(column) if self.gaps else ~np.isfinite(column))
            if bad.size:
                self._fail(
                    f"column {name!r} holds {column[bad[0]]} {in_row(bad)}. "
                    "Fill or drop missing values first"
                )
        if not np.isfinite(self.y).all():
            self._fail("the target holds missing or infinite values. Drop these rows first")
        if self.task == "classification":
            self._check_classes()

    def _check_classes(self):
        if len(set(self.class_names)) != len(self.class_names):
            self._fail(f"class names must differ, found {', '.join(self.class_names)}")
        present = np.count_nonzero(self.class_counts)
        if present < 2:
            self._fail(f"at least 2 classes are needed, found {present}")
        if self.n_samples < len(self.class_names):
            self._fail(f"{self.n_samples} rows are fewer than its {len(self.class_names)} classes")

    def _fail(self, message):
        raise DatasetError(f"Data set {self.id!r}: {message}.")

    def _digest(self):
        digest = hashlib.sha256()
        # Shape and type first: the same bytes as another table are another content.
        names = [self.task, self.feature_names, self.class_names, self.X.shape, str(self.X.dtype)]
        names += [self.categories] if self.categories else []
        digest.update(json.dumps(names).encode())
        # Column by column, as X is stored: no copy.
        for column in self.X.T:
            digest.update(column)
        for values in (self.y, self.groups, self.part):
            digest.update(b"none" if values is None else values)
        return digest.hexdigest()

    def verify(self, spec):
        """Check the data against what the registry expects.

        Parameters
        ----------
        spec : DatasetSpec
            Entry of the registry; what it leaves open is not checked.

        Returns
        -------
        Dataset
            Itself.

        Raises
        ------
        DatasetError
            Naming what was expected and what was found.
        """
        found = {
            "rows": self.n_samples,
            "features": self.n_features,
            "queries": None if self.groups is None else np.unique(self.groups).size,
            "parts": None if self.part is None else tuple(np.bincount(self.part, minlength=3)),
            "classes": dict(zip(self.class_names, self.class_counts, strict=True)),
        }
        # What the registry leaves open cannot be wrong.
        for what, value in found.items():
            expected = getattr(spec, what)
            if expected is not None and expected != value:
                value = _plain(value)
                self._fail(
                    f"expected {what} {expected}, found {value}. The raw files differ from the "
                    "ones that the registry describes: remove them and fetch them again"
                )
        return self

    def save(self, path):
        """Write one parquet file, under its name only when it is complete.

        Parameters
        ----------
        path : path-like
            File to write; its folder is made where missing.
        """
        columns = dict(zip(self.feature_names, self.X.T, strict=True)) | {_TARGET: self.y}
        if self.groups is not None:
            columns[_GROUP] = self.groups
        if self.part is not None:
            columns[_PART] = self.part
        about = {name: getattr(self, name) for name in ("id", "title", "task", "class_names")}
        names = ("categories", "gaps", "source", "licence", "citation", "sha256")
        about |= {name: getattr(self, name) for name in names}
        table = pa.table(columns).replace_schema_metadata(
            {_KEY: json.dumps(about | {"format": FORMAT})}
        )
        # An interrupted job leaves no half of a table under the name that the next one reads.
        with whole_file(path) as partial:
            pq.write_table(table, partial, compression="zstd")

    @classmethod
    def load(cls, path):
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The parquet file.

        Returns
        -------
        Dataset

        Raises
        ------
        DatasetError
            When the file is missing, is not such a file, or its content has changed.
        """
        path = Path(path)
        with reading(path, "a prepared data set; prepare it again", (pa.ArrowException,)):
            dataset, recorded = cls._read(path)
        # Computed anew from what was read: it vouches for the bytes in memory.
        if dataset.sha256 != recorded:
            raise DatasetError(
                f"{path}: expected content sha256 {recorded}, found {dataset.sha256}. "
                "The file was changed after it was prepared: prepare it again."
            )
        return dataset

    @classmethod
    def _read(cls, path):
        """Return the content of a file, and the hash that it should have."""
        # The whole table is wanted in memory: nothing is gained by mapping it.
        table = pq.read_table(path)
        about = json.loads(table.schema.metadata[_KEY])
        if about.pop("format") != FORMAT:
            raise DatasetError(f"{path} has another format version: prepare it again.")
        recorded = about.pop("sha256")
        extra = {
            name: table.column(column).to_numpy()
            for name, column in (("y", _TARGET), ("groups", _GROUP), ("part", _PART))
            if column in table.column_names
        }
        names = [name for name in table.column_names if name not in (_TARGET, _GROUP, _PART)]
        # Made column-major at once; `to_pandas` would hold the table twice.
        X = np.empty(
            (table.num_rows, len(names)), table.schema.field(0).type.to_pandas_dtype(), "F"
        )
        for place, name in enumerate(names):
            X[:, place] = table.column(name).to_numpy()
        return cls(X=X, feature_names=names, **extra, **about), recorded


def _plain(value):
    """Return `value` with NumPy integers made plain, for messages."""
    if isinstance(value, dict):
        return {name: int(count) for name, count in value.items()}
    return tuple(int(each) for each in value) if isinstance(value, tuple) else value
