"""From raw files to a verified `Dataset`: read, make the target, verify."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.categories import MEDIAN, as_word, refuse_blank_twins
from budgetlearn.preprocessing.reading import DAMAGE

from .dataset import Dataset
from .fetching import check_file, fetch, pin, pinned, refuse_changed
from .formats import read_cifar, read_idx, read_svmlight
from .registry import Registry, load_registry
from .synthetic import generate, read_embedded
from .table_files import Table, read_excel, read_own, read_paired, read_table

_READERS = {
    "table": read_table,
    "excel": read_excel,
    "paired": read_paired,
    "svmlight": read_svmlight,
    "idx": read_idx,
    "cifar": read_cifar,
}

logger = logging.getLogger("budgetlearn")


def load_dataset(dataset_id, registry=None, folder=None, data_dir=None, offline=False):
    """Return a data set by its id: fetch what is missing, read, label, verify.

    Parameters
    ----------
    dataset_id : str
        As in the registry.
    registry : Registry or path-like, default=None
        Where to look the id up; None takes the registry that comes with the package.
    folder : path-like, default=None
        Where raw files are kept; None means ``resources/data`` below the working directory.
    data_dir : path-like, default=None
        Folder of files that are already there; None takes ``BUDGETLEARN_DATA``.
    offline : bool, default=False
        Whether the network is out of bounds.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> wine = load_dataset("wine")
    >>> wine.X.shape, wine.class_names
    ((178, 13), ('class_0', 'class_1', 'class_2'))
    """
    if not isinstance(registry, Registry):
        registry = load_registry(registry)
    # Before any folder is touched: an unknown name must leave nothing behind.
    spec = registry[dataset_id]
    folder = Path("resources/data") if folder is None else Path(folder)
    fetch(spec, folder, data_dir, offline)
    return prepare(spec, folder)


def prepare(spec, folder=None):
    """Return a data set from the raw files that `fetch` put into `folder`, verified."""
    try:
        dataset = _prepared(spec, folder).verify(spec)
    except DatasetError as error:
        raise DatasetError(f"{error}{_remedy(spec, folder)}") from error
    # Only now: a hash is recorded of files that gave what the registry expects.
    pin(spec, folder)
    return dataset


def _remedy(spec, folder):
    """Return advice on a fault that may be due to files without a known hash."""
    if folder is None or spec.kind != "files":
        return ""
    paths = [(file, Path(folder) / file.path) for file in spec.files]
    # Files with a hash that fits are what they should be: the fault lies elsewhere.
    open_to_doubt = [path for file, path in paths if not pinned(file, path).sha256]
    if not open_to_doubt:
        return ""
    folders = " and ".join(sorted({str(path.parent) for path in open_to_doubt}))
    return (
        f" The source has no known hash for {', '.join(path.name for path in open_to_doubt)}: if "
        f"that is not the right content, remove {folders} and run again to fetch it anew."
    )


def _prepared(spec, folder):
    try:
        table = _read(spec, folder)
        if spec.task == "ranking" and table.groups is None:
            raise DatasetError("Ranking is within queries: name their column as the `group`.")
        table, class_names = make_target(table, spec.task, spec.labels)
        # After the target, so that labels that count rows see the table as it came.
        if spec.unmeasured is not None:
            table = with_rows(table, np.not_equal(table.X, spec.unmeasured).any(axis=1))
    except DatasetError as error:
        raise DatasetError(f"Data set {spec.id!r}: {error}") from error
    except DAMAGE as error:
        raise DatasetError(
            f"Data set {spec.id!r}: its files do not fit its entry ({type(error).__name__}: "
            f"{error}). Check reader and labels of the entry."
        ) from error
    # Whoever reads a model needs the codes, and the log is kept with the data.
    for name, words in table.categories.items():
        coded = ", ".join(f"{code} = {word}" for code, word in enumerate(words))
        logger.info("%s: the words of column %r are coded: %s", spec.id, name, coded)
    about = {name: getattr(spec, name) for name in ("id", "title", "task", "licence", "citation")}
    gaps = spec.kind == "csv" and spec.parameters.get("missing") == MEDIAN
    content = {**vars(table), "class_names": class_names, "gaps": gaps}
    return Dataset(**about, **content, source=spec.digest)


def _read(spec, folder):
    if spec.kind == "embedded":
        return read_embedded(spec.reader)
    if spec.kind == "generated":
        return generate(spec.reader, **spec.parameters)
    if spec.kind == "csv":
        table = read_own(**spec.parameters)
        # After reading: a table that is edited meanwhile must not pass for the planned one.
        refuse_changed(spec.parameters["path"], spec.content)
        return table
    if folder is None:
        raise DatasetError("the folder with its raw files must be named.")
    paths = [Path(folder) / file.path for file in spec.files]
    for file, path in zip(spec.files, paths, strict=True):
        # Hashed again: between fetching and this job the file may have been replaced.
        if problem := check_file(pinned(file, path), path):
            raise DatasetError(f"{path}: {problem}. Fetch it (again) first.")
    return _READERS[spec.reader](paths, **spec.parameters)


def target_of(spec, y):
    """Return a target as a `Dataset` without features: a split asks for no more."""
    # One column of zeros stands for the features.
    table = Table(np.zeros((len(y), 1)), y, ("any",))
    table, names = make_target(table, spec.task, spec.labels)
    return Dataset(spec.id, spec.title, spec.task, **vars(table), class_names=names)


def make_target(table, task, rules):
    """Apply a label rule to a table that a reader returned; return it, and the class names.

    `rules` has at most one of `_RULES`, after an optional ``keep``, which leaves fewer rows. Empty:
    numbers as they are in regression and ranking, sorted values as classes in classification.
    """
    rules = dict(rules)
    # Before the rule: classes are counted among the rows that are kept.
    if "keep" in rules:
        table = with_rows(table, np.isin(table.y, rules.pop("keep")))
    if not len(table.X):
        raise DatasetError("No row is left: all have a missing value, or a class left out.")
    missing = 0 if table.y is None else pd.isna(table.y).reshape(len(table.X), -1).any(axis=1).sum()
    if missing:
        raise DatasetError(
            f"The target is missing in {missing} rows (an empty cell; in a table of your own also "
            "NA, NaN, NULL or null). Leave these rows out, or spell out what is meant."
        )
    if rules:
        # The schema allows one rule at most.
        ((rule, argument),) = rules.items()
        y, names = _RULES[rule](table.y, argument, len(table.X))
    elif task == "classification":
        y, names = _classes(table.y)
    else:
        y, names = _as_numbers(table.y, task), ()
    return replace(table, y=y), tuple(names) if task == "classification" else ()


def with_rows(table, chosen):
    """Return the table with the chosen rows (a boolean mask) only."""
    parts = {name: getattr(table, name) for name in ("X", "y", "part", "groups")}
    return replace(table, **{n: part[chosen] for n, part in parts.items() if part is not None})


def _classes(raw):
    try:
        # Sorted, so that codes do not depend on the order of the rows.
        values, codes = np.unique(raw, return_inverse=True)
    except TypeError as error:
        raise DatasetError("The target mixes text and numbers: make it one of them.") from error
    refuse_blank_twins((str(value) for value in values), "The classes")
    return codes, [as_word(value) for value in values]


def _as_numbers(raw, task):
    try:
        numbers = np.asarray(raw, np.float64)
    except ValueError as error:
        raise DatasetError(f"The target of {task} must be numbers: {error}.") from error
    if task == "ranking" and not np.array_equal(numbers, np.round(numbers)):
        raise DatasetError("The target of ranking must be whole numbers (grades of relevance).")
    return numbers


def _first_classes(raw, count, _):
    """Set the first `count` classes against the others (binary letter, vowel, satellite, MNIST)."""
    codes, names = _classes(raw)
    if not count < len(names):
        raise DatasetError(f"{count} classes against the others, but there are {len(names)}.")
    return codes >= count, [_span(names[:count]), _span(names[count:])]


def _span(names):
    return names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}"


def _quantiles(raw, count, _):
    """Split at the quantiles into equally filled classes; a border belongs to the lower one."""
    numbers = _as_numbers(raw, "quantiles")
    borders = np.quantile(numbers, np.arange(1, count) / count)
    # Left: a value on a border is in the lower class, as the papers count.
    return np.searchsorted(borders, numbers, side="left"), [f"q{i + 1}" for i in range(count)]


def _both_above_median(raw, _, __):
    """Tell where every coefficient is above its median: maintenance is due (naval propulsion)."""
    numbers = _as_numbers(raw, "both_above_median")
    return (numbers > np.median(numbers, axis=0)).all(axis=1), ["no", "yes"]


def _one_hot(raw, names, _):
    raw = _as_numbers(raw, "one_hot")
    # A row with two indicators, or none, would silently become the first class.
    if raw.shape[1] != len(names) or not np.array_equal(raw.sum(axis=1), np.ones(len(raw))):
        raise DatasetError(f"Each row must have exactly one of the {len(names)} indicators set.")
    return raw.argmax(axis=1), names


def _blocks(_, counts, n_rows):
    # Files without a target column, whose classes stand one below the other (mfeat).
    if sum(counts.values()) != n_rows:
        raise DatasetError(f"The blocks hold {sum(counts.values())} rows, the data {n_rows}.")
    return np.repeat(np.arange(len(counts)), list(counts.values())), list(counts)


_RULES = {
    "first_classes": _first_classes,
    "quantiles": _quantiles,
    "both_above_median": _both_above_median,
    "one_hot": _one_hot,
    "blocks": _blocks,
    "at_least": lambda raw, least, _: (
        _as_numbers(raw, "at_least") >= least,
        [f"below {least}", f"{least} or more"],
    ),
    "unit": lambda raw, unit, _: (_as_numbers(raw, "unit") / unit, ()),
}
