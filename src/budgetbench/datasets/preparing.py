"""Turn raw files into a verified `Dataset`: read, make the target, verify."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.categories import MEDIAN, as_word, refuse_blank_twins

from .dataset import Dataset, Table
from .fetching import check_file, fetch, pin, pinned, refuse_changed
from .formats import read_cifar, read_idx, read_svmlight
from .registry import Registry, load_registry
from .synthetic import generate, read_embedded
from .table_files import read_excel, read_own, read_paired, read_table

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
    """Return a data set by its id: fetch missing files, read them, make the target, verify.

    Parameters
    ----------
    dataset_id : str
        Id in the registry.
    registry : Registry or path-like, default=None
        The registry; None means the one that comes with the package.
    folder : path-like, default=None
        Where raw files are kept; None means ``resources/data`` below the working directory.
    data_dir : path-like, default=None
        Folder of files that are already downloaded; None means that in ``BUDGETLEARN_DATA``.
    offline : bool, default=False
        Whether downloads are forbidden.

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
    # First, so that an unknown id leaves no folder behind.
    spec = registry[dataset_id]
    folder = Path("resources/data") if folder is None else Path(folder)
    fetch(spec, folder, data_dir, offline)
    return prepare(spec, folder)


def prepare(spec, folder=None):
    """Return a verified data set from the raw files that `fetch` put into `folder`."""
    try:
        dataset = _prepared(spec, folder).verify(spec)
    except DatasetError as error:
        raise DatasetError(f"{error}{_remedy(spec, folder)}") from error
    # Only now, because hashes are recorded only for files that match the registry.
    pin(spec, folder)
    return dataset


def _remedy(spec, folder):
    """Return advice about a fault that may be due to files without a known hash."""
    if folder is None or spec.kind != "files":
        return ""
    paths = [(file, Path(folder) / file.path) for file in spec.files]
    # Files with a matching hash cannot be the cause.
    doubtful = [path for file, path in paths if not pinned(file, path).sha256]
    if not doubtful:
        return ""
    folders = " and ".join(sorted({str(path.parent) for path in doubtful}))
    return (
        f" The source has no known hash for {', '.join(path.name for path in doubtful)}. If the "
        f"content is wrong, remove {folders} and run again to fetch it again."
    )


def _prepared(spec, folder):
    try:
        table = _read(spec, folder)
        if spec.task == "ranking" and table.groups is None:
            raise DatasetError("Ranking needs queries: set `group` to their column.")
        table, class_names = make_target(table, spec.task, spec.labels)
        # After the target, because label rules that count rows need all rows.
        if spec.unmeasured is not None:
            table = table.take(np.not_equal(table.X, spec.unmeasured).any(axis=1))
    except DatasetError as error:
        raise DatasetError(f"Data set {spec.id!r}: {error}") from error
    except Exception as error:  # readers of damaged content may raise anything
        what = f"its files do not fit its entry ({type(error).__name__}: {error})"
        remedy = "Check reader and labels of the entry."
        raise DatasetError(f"Data set {spec.id!r}: {what}. {remedy}") from error
    # Logged because the codes are needed to understand a model.
    for name, words in table.categories.items():
        coded = ", ".join(f"{code} = {word}" for code, word in enumerate(words))
        logger.info("%s: the words of column %r are coded: %s", spec.id, name, coded)
    about = {name: getattr(spec, name) for name in ("id", "title", "task", "licence", "citation")}
    gaps = spec.kind == "csv" and spec.parameters.get("missing") == MEDIAN
    source = spec.digest
    return Dataset(**about, **vars(table), class_names=class_names, gaps=gaps, source=source)


def _read(spec, folder):
    if spec.kind == "embedded":
        return read_embedded(spec.reader)
    if spec.kind == "generated":
        return generate(spec.reader, **spec.parameters)
    if spec.kind == "csv":
        table = read_own(**spec.parameters)
        # Checked after reading, so that a table edited meanwhile is noticed.
        refuse_changed(spec.parameters["path"], spec.content)
        return table
    if folder is None:
        raise DatasetError("give the folder with its raw files.")
    paths = [Path(folder) / file.path for file in spec.files]
    for file, path in zip(spec.files, paths, strict=True):
        # Checked again, because the file may have been replaced after it was fetched.
        if problem := check_file(pinned(file, path), path):
            raise DatasetError(f"{path}: {problem}. Fetch it (again) first.")
    return _READERS[spec.reader](paths, **spec.parameters)


def target_of(spec, y):
    """Return a `Dataset` with this target and one column of zeros, which is enough for a split."""
    table = Table(np.zeros((len(y), 1)), y, ("any",))
    table, names = make_target(table, spec.task, spec.labels)
    return Dataset(id=spec.id, title=spec.title, task=spec.task, class_names=names, **vars(table))


def make_target(table, task, rules):
    """Apply label rules to a table from a reader; return the table and the class names.

    `rules` has at most one of `_RULES`, and optionally ``keep``, which drops rows. Without a rule,
    sorted values become classes in classification, and other targets are unchanged.
    """
    rules = dict(rules)
    # Before the rule, which must see only the kept rows.
    if "keep" in rules:
        table = table.take(np.isin(table.y, rules.pop("keep")))
    if not len(table.X):
        raise DatasetError("No row is left: all have a missing value or a class not in `keep`.")
    missing = 0 if table.y is None else pd.isna(table.y).reshape(len(table.X), -1).any(axis=1).sum()
    if missing:
        raise DatasetError(
            f"The target is missing in {missing} rows (an empty cell; in a table of your own also "
            "NA, NaN, NULL or null). Remove these rows, or write the value in another way."
        )
    if rules:
        # The schema allows at most one rule.
        ((rule, argument),) = rules.items()
        y, names = _RULES[rule](table.y, argument, len(table.X))
    elif task == "classification":
        y, names = _classes(table.y)
    else:
        y, names = _as_numbers(table.y, task), ()
    return replace(table, y=y), tuple(names) if task == "classification" else ()


def _classes(raw):
    try:
        # Sorted, so that codes do not depend on the order of the rows.
        values, codes = np.unique(raw, return_inverse=True)
    except TypeError as error:
        raise DatasetError("The target mixes text and numbers: use one of them.") from error
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
    """Merge the first `count` classes, and the others (binary letter, vowel, satellite, MNIST)."""
    codes, names = _classes(raw)
    if not count < len(names):
        raise DatasetError(f"first_classes must be less than {len(names)}, the number of classes.")
    parts = names[:count], names[count:]
    spans = [part[0] if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts]
    return codes >= count, spans


def _quantiles(raw, count, _):
    """Split at the quantiles into classes of equal size; a border belongs to the lower class."""
    numbers = _as_numbers(raw, "quantiles")
    borders = np.quantile(numbers, np.arange(1, count) / count)
    # "left" puts a value on a border into the lower class, as in the papers.
    return np.searchsorted(borders, numbers, side="left"), [f"q{i + 1}" for i in range(count)]


def _both_above_median(raw, _, __):
    """Set class "yes" where all columns are above their medians (naval: maintenance is due)."""
    numbers = _as_numbers(raw, "both_above_median")
    return (numbers > np.median(numbers, axis=0)).all(axis=1), ["no", "yes"]


def _one_hot(raw, names, _):
    raw = _as_numbers(raw, "one_hot")
    # argmax would silently choose a class for a row with two indicators or none.
    if raw.shape[1] != len(names) or not np.array_equal(raw.sum(axis=1), np.ones(len(raw))):
        raise DatasetError(f"Each row must have exactly one of the {len(names)} indicators set.")
    return raw.argmax(axis=1), names


def _blocks(_, counts, n_rows):
    """Return the classes of files without a target column that are sorted by class (mfeat)."""
    if sum(counts.values()) != n_rows:
        raise DatasetError(f"The blocks have {sum(counts.values())} rows, but the data {n_rows}.")
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
