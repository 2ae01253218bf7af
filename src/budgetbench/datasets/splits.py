"""Splits of a data set into train, validation and test rows."""

import numbers

import numpy as np

from budgetlearn.exceptions import ConfigError, DatasetError
from budgetlearn.validation import check_number

LEFT_OUT = -1
_NAMES = ("train", "validation", "test")


def split(dataset, seed, sizes=(0.6, 0.2, 0.2)):
    """Assign each row of a data set to train, validation or test.

    Classification is split within each class (stratified), ranking by whole queries, regression
    plainly at random.

    Parameters
    ----------
    dataset : Dataset
        The table.
    seed : int
        Same seed, same split.
    sizes : sequence of three, "given", or dict, default=(0.6, 0.2, 0.2)
        Shares of train, validation and test that sum to 1; or numbers of rows, of which one may be
        ``"rest"``. Where numbers leave rows over, these are in no part. ``"given"`` takes the split
        that came with the data. ``{"per_class": [train, validation, test]}`` draws as many rows of
        each class.

    Returns
    -------
    ndarray of int8 of shape (n_samples,)
        0 train, 1 validation, 2 test, -1 in no part.

    Raises
    ------
    ConfigError
        When `sizes` makes no sense for this data set.
    DatasetError
        When a class has too few rows to be in every part, or there are fewer rows than classes.
    """
    check_number(seed, "seed", low=0, integer=True)
    if isinstance(sizes, str):
        return _given(dataset, sizes)
    rng = np.random.default_rng(seed)
    if isinstance(sizes, dict):
        return _per_class(dataset, sizes, rng)
    counts = _counts(dataset, list(sizes))
    if dataset.task == "classification":
        return _stratified(dataset, counts, rng)
    if dataset.groups is not None:
        return _by_query(dataset, counts, rng)
    return _cut(rng.permutation(dataset.n_samples), counts, dataset.n_samples)


def _given(dataset, sizes):
    if sizes != "given":
        raise ConfigError(f"Sizes of a split must be three numbers or 'given', got {sizes!r}.")
    if dataset.part is None:
        raise ConfigError(
            f"Data set {dataset.id!r} comes without a split of its own: give three sizes instead."
        )
    return dataset.part.copy()


def _per_class(dataset, sizes, rng):
    if set(sizes) != {"per_class"} or dataset.task != "classification":
        raise ConfigError(
            "A split by classes is written {'per_class': [train, validation, test]} and needs "
            f"classification; got {sizes} for {dataset.task}."
        )
    counts = _counts(dataset, list(sizes["per_class"]))
    part = np.full(dataset.n_samples, LEFT_OUT, np.int8)
    for label, available in enumerate(dataset.class_counts):
        if sum(counts) > available:
            raise DatasetError(
                f"Data set {dataset.id!r}: {sum(counts)} rows per class are asked for, but class "
                f"{dataset.class_names[label]!r} has {available}. Ask for fewer."
            )
        rows = rng.permutation(np.flatnonzero(dataset.y == label))
        part[rows[: sum(counts)]] = np.repeat(np.arange(3), counts)
    return part


def _counts(dataset, sizes):
    """Return rows of train, validation and test."""
    n_samples = dataset.n_samples
    if len(sizes) != 3:
        raise ConfigError(f"A split needs three sizes (train, validation, test), got {sizes}.")
    numeric = [size for size in sizes if size != "rest"]
    if not all(isinstance(s, numbers.Real) and not isinstance(s, bool) for s in numeric):
        raise ConfigError(f"Sizes of a split must be numbers or 'rest', got {sizes}.")
    if min(numeric, default=0) < 0 or len(numeric) < 2:
        raise ConfigError(f"Sizes must be >= 0 and only one of them 'rest', got {sizes}.")
    # Whole numbers are rows, also 1; shares are floats.
    if all(isinstance(size, numbers.Integral) for size in numeric):
        left = n_samples - sum(numeric)
        if left < 0:
            raise ConfigError(
                f"Data set {dataset.id!r} has {n_samples} rows, the sizes {sizes} ask for more."
            )
        return [left if size == "rest" else int(size) for size in sizes]
    if len(numeric) < 3 or abs(sum(numeric) - 1) > 1e-9:
        raise ConfigError(f"Shares of a split must sum to 1, got {sizes}.")
    # Rounded ends, not rounded sizes: the parts then always sum to all rows.
    ends = np.rint(np.cumsum(sizes) * n_samples).astype(int)
    return np.diff(ends, prepend=0).tolist()


def _cut(order, counts, n_samples):
    part = np.full(n_samples, LEFT_OUT, np.int8)
    ends = np.cumsum(counts)
    for code, (end, count) in enumerate(zip(ends, counts, strict=True)):
        part[order[end - count : end]] = code
    return part


def _stratified(dataset, counts, rng):
    """Cut the rows in an order in which the classes are spread evenly.

    The k-th row of a class of n, in random order, stands at (k + 1/2) / n; so every cut holds each
    class in its share, to a row, and the parts have exactly the sizes asked for.
    """
    y, n_samples = dataset.y, dataset.n_samples
    shuffled = rng.permutation(n_samples)
    # Stable sorting of shuffled rows: random within each class.
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    class_counts = dataset.class_counts
    within = np.arange(n_samples) - np.repeat(np.cumsum(class_counts) - class_counts, class_counts)
    position = (within + 0.5) / np.repeat(class_counts, class_counts)
    part = _cut(by_class[np.argsort(position, kind="stable")], counts, n_samples)
    _check_strata(dataset, part, counts)
    return part


def _check_strata(dataset, part, counts):
    for code, count in enumerate(counts):
        if count == 0:
            continue
        # A class that no row has is no class to miss; one with rows must be in every part.
        present = np.bincount(dataset.y[part == code], minlength=len(dataset.class_names))
        for label in np.flatnonzero((present == 0) & (dataset.class_counts > 0)):
            raise DatasetError(
                f"Data set {dataset.id!r}: class {dataset.class_names[label]!r} has "
                f"{dataset.class_counts[label]} of {dataset.n_samples} rows, too few to be in the "
                f"{_NAMES[code]} part of {count} rows. Merge or drop rare classes, or enlarge "
                "the part."
            )


def _by_query(dataset, counts, rng):
    """Deal whole queries, in random order, to the part in which their middle row falls."""
    queries, code, length = np.unique(dataset.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(queries.size)
    ends = np.cumsum(length[order])
    # By its middle: a query across a border goes where most of it lies.
    middle = ends - length[order] / 2
    part_of_query = np.empty(queries.size, np.int8)
    part_of_query[order] = np.searchsorted(np.cumsum(counts), middle, side="right")
    part = part_of_query[code]
    part[part == 3] = LEFT_OUT
    for each, count in enumerate(counts):
        if count and not (part == each).any():
            raise DatasetError(
                f"Data set {dataset.id!r}: no whole query falls into the {_NAMES[each]} part of "
                f"{count} rows. Enlarge the part, or use more queries."
            )
    return part
