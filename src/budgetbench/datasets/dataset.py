"""`Dataset`, a prepared table, and its splits into training, validation and test parts."""

import hashlib
import json
import numbers
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from budgetlearn.exceptions import ConfigError, DatasetError
from budgetlearn.files import whole_file
from budgetlearn.preprocessing.reading import reading
from budgetlearn.validation import check_number, in_row

FORMAT = 2  # of the parquet file; raise it when the layout changes
LEFT_OUT, TRAIN, VALID, TEST = -1, 0, 1, 2  # parts of a split
_NAMES = ("train", "validation", "test")
_KEY = b"budgetlearn"
# Columns of the file other than features, by attribute; optional ones only if the data have them.
_BESIDE = {"y": "__target__", "groups": "__group__", "part": "__part__"}
# Attributes in the file's metadata, in this order.
_ABOUT = (
    *("id", "title", "task", "class_names"),
    *("categories", "gaps", "source", "licence", "citation", "sha256"),
)


@dataclass(frozen=True, eq=False)
class Table:
    """Output of a reader: features as numbers, and the target as it is in the files."""

    X: np.ndarray
    y: np.ndarray | None  # with one or many columns; None if the order of rows implies it
    feature_names: tuple[str, ...]
    part: np.ndarray | None = None  # split that came with the data: `TRAIN`, … for each row
    groups: np.ndarray | None = None  # group of each row (in ranking its query); None: no groups
    # {feature: its words, in the order of their codes 0, 1, … (before a reader standardises them)}
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def take(self, rows):
        """Return the table with only some rows (indices or a mask)."""
        parts = {name: getattr(self, name) for name in ("X", "y", "part", "groups")}
        return replace(self, **{n: each[rows] for n, each in parts.items() if each is not None})


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(Table):
    """A checked table with its target: `y` has class codes 0, 1, …, relevance (intp) or floats.

    `X` is float64, or float32 for big tables, and column-major, as the tree kernels read it.
    """

    id: str  # as in the registry
    title: str
    task: str  # "classification", "regression" or "ranking"
    class_names: tuple[str, ...] = ()  # one for each class code; empty in regression
    # Whether X may have missing cells (NaN), which each run fills from its training rows.
    gaps: bool = False
    source: str = ""  # `DatasetSpec.digest` of the entry that it was prepared from
    licence: str = ""
    citation: str = ""
    sha256: str = field(init=False)  # of the content: values, names, categories, groups and parts

    def __post_init__(self):
        X = np.asarray(self.X)
        kind = np.float32 if X.dtype == np.float32 else np.float64
        # Frozen after this, so that the hash below stays right.
        put = object.__setattr__
        put(self, "X", np.asfortranarray(X, dtype=kind))
        target_type = np.float64 if self.task == "regression" else np.intp
        put(self, "y", np.ascontiguousarray(self.y, target_type))
        put(self, "feature_names", tuple(self.feature_names))
        put(self, "class_names", tuple(self.class_names))
        put(self, "categories", {name: tuple(words) for name, words in self.categories.items()})
        for name, kind in (("groups", np.int64), ("part", np.int8)):
            if getattr(self, name) is not None:
                put(self, name, np.ascontiguousarray(getattr(self, name), kind))
        self._check()
        put(self, "sha256", self._digest())

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
        """Number of rows of each class, in the order of the codes; empty in regression."""
        return np.bincount(self.y, minlength=len(self.class_names)) if self.class_names else ()

    def _check_names(self):
        names, n_features = self.feature_names, self.n_features
        if len(names) != n_features:
            self._fail(f"{n_features} columns, but {len(names)} feature names")
        if len(set(names)) != n_features:
            repeated = sorted({n for n in names if names.count(n) > 1})
            self._fail(f"feature names must differ; repeated: {', '.join(repeated)}")
        # The parquet file uses these names for other columns.
        refused = sorted({"", *_BESIDE.values()}.intersection(names))
        if refused:
            self._fail(f"a feature must not be named {refused[0]!r}: give it another name")
        for name in names:
            if name.startswith("Unnamed: "):  # as pandas calls a column without a name
                self._fail(
                    f"the column {name!r} has no name in its file. If it numbers the rows, drop it "
                    f"(`drop: ['{name}']`); otherwise give it a name"
                )

    def _check(self):
        self._check_names()
        for name in _BESIDE:
            values = getattr(self, name)
            if values is not None and values.shape != (self.n_samples,):
                self._fail(f"{name} must have one entry for each of the {self.n_samples} rows")
        # Column by column, to avoid a mask of the whole table.
        for column, name in zip(self.X.T, self.feature_names, strict=True):
            bad = np.flatnonzero(np.isinf(column) if self.gaps else ~np.isfinite(column))
            if bad.size:
                self._fail(
                    f"column {name!r} holds {column[bad[0]]} {in_row(bad)}. "
                    "Fill or drop missing values first"
                )
        if not np.isfinite(self.y).all():
            self._fail("the target holds missing or infinite values. Drop these rows first")
        if self.task != "classification":
            return
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
        # Shape and type first, because tables of different shapes may have the same bytes.
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
        """Return this data set; raise `DatasetError` if it differs from its registry entry."""
        parts = None if self.part is None else np.bincount(self.part, minlength=3).tolist()
        found = {
            "rows": self.n_samples,
            "features": self.n_features,
            "queries": None if self.groups is None else np.unique(self.groups).size,
            "parts": parts and tuple(parts),
            "classes": dict(zip(self.class_names, map(int, self.class_counts), strict=True)),
        }
        for what, value in found.items():
            wanted = getattr(spec, what)
            if wanted is not None and wanted != value:
                self._fail(
                    f"expected {what} {wanted}, found {value}. Correct the entry or the data"
                )
        return self

    def save(self, path):
        """Write a parquet file, which appears only when it is complete."""
        columns = dict(zip(self.feature_names, self.X.T, strict=True))
        beside = {column: getattr(self, name) for name, column in _BESIDE.items()}
        columns |= {column: values for column, values in beside.items() if values is not None}
        about = {name: getattr(self, name) for name in _ABOUT} | {"format": FORMAT}
        table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about)})
        with whole_file(path) as partial:
            pq.write_table(table, partial, compression="zstd")

    @classmethod
    def load(cls, path):
        """Read a file written by `save`; raise `DatasetError` if its content has changed."""
        path = Path(path)
        with reading(path, "a prepared data set; prepare it again"):
            table = pq.read_table(path)
            about = json.loads(table.schema.metadata[_KEY])
            if about.pop("format") != FORMAT:
                raise DatasetError(f"{path} has another format version: prepare it again.")
            recorded = about.pop("sha256")
            extra = {
                name: table.column(column).to_numpy()
                for name, column in _BESIDE.items()
                if column in table.column_names
            }
            names = [name for name in table.column_names if name not in _BESIDE.values()]
            # Filled column-major directly; `to_pandas` would need twice the memory.
            kind = table.schema.field(0).type.to_pandas_dtype()
            X = np.empty((table.num_rows, len(names)), kind, "F")
            for place, name in enumerate(names):
                X[:, place] = table.column(name).to_numpy()
            dataset = cls(X=X, feature_names=names, **extra, **about)
        if dataset.sha256 != recorded:
            raise DatasetError(
                f"{path}: expected content sha256 {recorded}, found {dataset.sha256}. "
                "The file was changed after it was prepared: prepare it again."
            )
        return dataset


def split(dataset, seed, sizes=(0.6, 0.2, 0.2)):
    """Assign each row of a data set to train, validation or test.

    Rows of one group, such as a query in ranking, stay together. Without groups, classification is
    split within each class (stratified), regression at random.

    Parameters
    ----------
    dataset : Dataset
        The table.
    seed : int
        Seed of the random split.
    sizes : sequence of three, "given", or dict, default=(0.6, 0.2, 0.2)
        Shares of train, validation and test that sum to 1, or numbers of rows, of which one may be
        ``"rest"``. Rows beyond these numbers are in no part. ``"given"`` uses the split that came
        with the data, ``{"per_class": [train, validation, test]}`` these numbers of each class.

    Returns
    -------
    ndarray of int8 of shape (n_samples,)
        0 train, 1 validation, 2 test, -1 in no part.
    """
    check_number(seed, "seed", low=0, integer=True)
    if isinstance(sizes, str):
        if sizes != "given":
            raise ConfigError(f"Sizes of a split must be three numbers or 'given', got {sizes!r}.")
        if dataset.part is None:
            raise ConfigError(f"Data set {dataset.id!r} has no split of its own: set three sizes.")
        return dataset.part.copy()
    rng = np.random.default_rng(seed)
    if isinstance(sizes, dict):
        return _per_class(dataset, sizes, rng)
    counts = _counts(dataset, list(sizes))
    if dataset.groups is not None:
        return _by_group(dataset, counts, rng)
    if dataset.task == "classification":
        return _stratified(dataset, counts, rng)
    return _cut(rng.permutation(dataset.n_samples), counts)


def _per_class(dataset, sizes, rng):
    plain = dataset.task == "classification" and dataset.groups is None
    if set(sizes) != {"per_class"} or not plain:
        raise ConfigError(
            "A split by classes is written {'per_class': [train, validation, test]} and needs "
            f"classification without groups; got {sizes} for {dataset.task}."
        )
    counts = _counts(dataset, list(sizes["per_class"]))
    part = np.empty(dataset.n_samples, np.int8)
    for label, available in enumerate(dataset.class_counts):
        if sum(counts) > available:
            dataset._fail(
                f"{sum(counts)} rows per class are required, but class "
                f"{dataset.class_names[label]!r} has {available}. Reduce the sizes"
            )
        part[dataset.y == label] = _cut(rng.permutation(available), counts)
    return part


def check_sizes(sizes):
    """Return whether the sizes of a split are rows and not shares; refuse invalid sizes."""
    known = [size for size in sizes if size != "rest"]
    plain = all(isinstance(s, numbers.Real) and not isinstance(s, bool) for s in known)
    if len(sizes) != 3 or not plain or len(known) < 2 or min(known) < 0:
        wanted = "three sizes >= 0 (train, validation, test), numbers or 'rest'"
        raise ConfigError(f"A split needs {wanted}, and only one of them 'rest'; got {sizes}.")
    # Integers are rows, even 1, and floats are shares.
    rows = all(isinstance(size, numbers.Integral) for size in known)
    if not rows and (len(known) < 3 or abs(sum(known) - 1) > 1e-9):
        raise ConfigError(f"Shares of a split must sum to 1, got {sizes}.")
    return rows


def _counts(dataset, sizes):
    n_samples = dataset.n_samples
    if check_sizes(sizes):
        left = n_samples - sum(size for size in sizes if size != "rest")
        if left < 0:
            raise ConfigError(
                f"Data set {dataset.id!r} has {n_samples} rows, but the sizes {sizes} need more."
            )
        counts = [left if size == "rest" else int(size) for size in sizes]
    else:
        # Cumulated sizes are rounded, so that the parts always sum to all rows.
        counts = np.diff(np.rint(np.cumsum(sizes) * n_samples).astype(int), prepend=0).tolist()
    for name, size, count in zip(_NAMES, sizes, counts, strict=True):
        if size and not count:
            dataset._fail(f"its {n_samples} rows leave none for the {name} part ({size})")
    return counts


def _cut(order, counts):
    """Return the part of each row: the first rows in this order are the first part, and so on."""
    part = np.full(order.size, LEFT_OUT, np.int8)
    part[order[: sum(counts)]] = np.repeat(np.arange(3), counts)
    return part


def _stratified(dataset, counts, rng):
    """Cut the rows in an order in which the classes are spread evenly."""
    # The k-th of the n rows of a class, in random order, gets the position (k + 1/2) / n. So every
    # part has exactly the required size and its share of each class, up to one row with two
    # classes. With many, a part may have a row too many of most, and so too few of a large one.
    y, n_samples = dataset.y, dataset.n_samples
    shuffled = rng.permutation(n_samples)
    # Stable sorting of shuffled rows: random within each class.
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    class_counts = dataset.class_counts
    within = np.arange(n_samples) - np.repeat(np.cumsum(class_counts) - class_counts, class_counts)
    position = (within + 0.5) / np.repeat(class_counts, class_counts)
    part = _cut(by_class[np.argsort(position, kind="stable")], counts)
    for code, count in enumerate(counts):
        # Every class that has rows must be in every part.
        present = np.bincount(y[part == code], minlength=len(class_counts))
        for label in np.flatnonzero((present == 0) & (class_counts > 0)) if count else ():
            dataset._fail(
                f"class {dataset.class_names[label]!r} has {class_counts[label]} of {n_samples} "
                f"rows, too few to be in the {_NAMES[code]} part of {count} rows. Merge or drop "
                "rare classes, or enlarge the part"
            )
    return part


def _by_group(dataset, counts, rng):
    """Assign whole groups, in random order, to the part in which their middle row falls."""
    groups, code, length = np.unique(dataset.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(groups.size)
    # The middle, so that a group across a border goes to the part with most of its rows.
    middle = np.cumsum(length[order]) - length[order] / 2
    part_of_group = np.empty(groups.size, np.int8)
    part_of_group[order] = np.searchsorted(np.cumsum(counts), middle, side="right")
    part = part_of_group[code]
    part[part == 3] = LEFT_OUT
    for each, count in enumerate(counts):
        if count and not (part == each).any():
            dataset._fail(
                f"no whole group falls into the {_NAMES[each]} part of {count} rows. Enlarge the "
                "part or use more groups"
            )
    return part
