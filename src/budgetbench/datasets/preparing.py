"""From raw files to a verified `Dataset`: read, label, verify."""

import logging
from pathlib import Path

import numpy as np

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.reading import DAMAGE

from .dataset import Dataset
from .fetching import check_file, fetch, pin, pinned, refuse_changed
from .formats import read_cifar, read_idx, read_svmlight
from .labels import make_target, with_rows
from .registry import Registry, load_registry
from .synthetic import generate, read_embedded
from .tables import read_excel, read_paired, read_table

_READERS = {
    "table": read_table,
    "excel": read_excel,
    "paired": read_paired,
    "svmlight": read_svmlight,
    "idx": read_idx,
    "cifar": read_cifar,
}

logger = logging.getLogger("budgetlearn")


def prepare(spec, folder=None):
    """Read a data set, make its target, and verify the outcome.

    Parameters
    ----------
    spec : DatasetSpec
        Entry of the registry.
    folder : path-like, default=None
        Where `fetch` put the raw files; not needed for the kinds that have none.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        When a file is missing or differs from its hash, cannot be read, or when rows, features,
        classes or values are not as expected.

    Notes
    -----
    Where the registry has no hash of a file, that of a file that passed the checks is recorded
    beside it, as ``<file>.sha256``, and holds from then on.
    """
    try:
        dataset = _prepared(spec, folder).verify(spec)
    except DatasetError as error:
        raise DatasetError(f"{error}{_remedy(spec, folder)}") from error
    # Only now: a hash is recorded of files that gave what the registry expects.
    if spec.files:
        pin(spec, folder)
    return dataset


def _remedy(spec, folder):
    """Return the advice for a fault that unverified files may cause."""
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
        table, class_names = make_target(table, spec.task, spec.labels)
        # After the target, so that labels that count rows see the table as it came.
        if spec.unmeasured is not None:
            measured = np.not_equal(table.X, spec.unmeasured)
            table = with_rows(table, measured.any(axis=1))
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
    return Dataset(
        id=spec.id,
        title=spec.title,
        task=spec.task,
        X=table.X,
        y=table.y,
        feature_names=table.feature_names,
        class_names=class_names,
        groups=table.groups,
        part=table.part,
        categories=table.categories,
        gaps=spec.kind == "csv" and spec.parameters.get("missing") == "median",
        source=spec.digest,
        licence=spec.licence,
        citation=spec.citation,
    )


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


def _read(spec, folder):
    if spec.kind == "embedded":
        return read_embedded(spec.reader)
    if spec.kind == "generated":
        return generate(spec.reader, **spec.parameters)
    if spec.kind == "csv":
        from .user_table import read_own  # here: planning a study does without scikit-learn

        table = read_own(**spec.parameters)
        # After reading: a table that is edited meanwhile must not pass for the planned one.
        refuse_changed(spec.parameters["path"], spec.content)
        return table
    paths = [_checked(spec, file, folder) for file in spec.files]
    return _READERS[spec.reader](paths, **spec.parameters)


def _checked(spec, file, folder):
    if folder is None:
        raise DatasetError("the folder with its raw files must be named.")
    path = Path(folder) / file.path
    # Hashed again: between fetching and this job the file may have been replaced.
    problem = check_file(pinned(file, path), path)
    if problem:
        raise DatasetError(f"{path}: {problem}. Fetch it (again) first.")
    return path
