"""The registry of data sets: `config/datasets.yaml`, checked against its schema."""

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

import jsonschema

from budgetlearn.exceptions import ConfigError, DatasetError
from budgetlearn.files import read_yaml

# The package carries both files so that an installed library has them; in the source tree they are
# links to `config/datasets.yaml` and `workflow/schemas/datasets.schema.yaml`.
DEFAULT_REGISTRY = Path(__file__).with_name("datasets.yaml").resolve()
SCHEMA = Path(__file__).with_name("datasets.schema.yaml")


@dataclass(frozen=True)
class FileSpec:
    """One raw file of a data set.

    Attributes
    ----------
    path : str
        Where it lies below the data folder, ``<dataset>/<file>``.
    sha256 : tuple of str
        Accepted hashes; of the decompressed content where `path` ends in ``.gz``. Empty where
        none is known: then the first one seen is recorded beside the file.
    mirrors : tuple of str
        Addresses in the order to try, ``url`` or ``url#member`` or ``url#archive#member``.
    """

    path: str
    sha256: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = ()

    def __post_init__(self):
        parts = self.path.split("/")
        if {"", ".", ".."}.intersection(parts) or not self.path.isprintable() or "\\" in self.path:
            raise ConfigError(
                f"{self.path!r} cannot be a file of a data set: expected <dataset>/<file> below "
                "the data folder, without '..' and '\\'."
            )


# What of an entry decides the prepared data, beside files and parameters.
_DECISIVE = ("id", "task", "kind", "reader", "labels", "unmeasured", "content")


@dataclass(frozen=True)
class DatasetSpec:
    """The entry of one data set in the registry.

    Attributes
    ----------
    id, title : str
        Name in configurations and name in reports.
    task : {"classification", "regression", "ranking"}
        What is predicted.
    kind : {"embedded", "generated", "files", "local", "csv"}
        Where the data come from: inside scikit-learn, a generator, the network, files that only
        the user can bring, or the user's own table.
    reader : str
        Reader of the raw files, name of the embedded table, or name of the generator.
    parameters : mapping
        Keyword arguments of the reader or generator.
    labels : mapping
        Rule that makes the target out of the raw one; empty for the plain reading.
    files : tuple of FileSpec
        Raw files, in the order in which the reader takes them.
    folder : str or None
        For ``local``: a folder of its own that holds the files.
    instructions : str
        For ``local``: how the user gets the files.
    unmeasured : float or None
        Rows in which every feature has this value are left out.
    rows, features, queries : int or None
        Expected numbers, None where not known.
    parts : tuple of int or None
        Expected rows of the given train, validation and test parts.
    classes : mapping or None
        Expected rows of each class, in the order of the class codes.
    costs : str or None
        Price list for the cost profile "given", a csv file.
    content : str or None
        For ``csv``: the sha256 that the table must have; None takes any.
    licence, citation : str
        For reports.
    """

    id: str
    title: str
    task: str
    kind: str
    reader: str
    parameters: Mapping = field(default_factory=dict)
    labels: Mapping = field(default_factory=dict)
    files: tuple[FileSpec, ...] = ()
    folder: str | None = None
    instructions: str = ""
    unmeasured: float | None = None
    rows: int | None = None
    features: int | None = None
    queries: int | None = None
    parts: tuple[int, ...] | None = None
    classes: Mapping | None = None
    costs: str | None = None
    content: str | None = None
    licence: str = ""
    citation: str = ""

    @property
    def digest(self):
        """Hash of what decides the prepared data: the entry, and the content of raw files."""
        plain = asdict(self)
        # Titles and licences are for readers: an edit prepares nothing anew.
        decisive = {name: plain[name] for name in _DECISIVE}
        decisive["files"] = [file["sha256"] for file in plain["files"]]
        # Where a table lies does not matter, its content does (`content`).
        decisive["parameters"] = {k: v for k, v in self.parameters.items() if k != "path"}
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_plain(cls, plain):
        """Return the entry that `dataclasses.asdict` made plain data of.

        Parameters
        ----------
        plain : dict
            As `dataclasses.asdict` returns it.

        Returns
        -------
        DatasetSpec
        """
        files = tuple(FileSpec(**file) for file in plain.get("files", ()))
        return cls(**{**plain, "files": files})


class Registry(Mapping):
    """Data sets by id; an unknown id is an error that offers the closest names.

    Parameters
    ----------
    specs : iterable of DatasetSpec
        In the order in which they are listed.
    path : path-like, default=None
        The file they came from, for messages.
    """

    def __init__(self, specs, path=None):
        self._specs = {spec.id: spec for spec in specs}
        self.path = path

    def __getitem__(self, dataset_id):
        if dataset_id not in self._specs:
            # Ids are short: the usual cutoff would offer nothing for two wrong letters.
            close = difflib.get_close_matches(str(dataset_id), self._specs, n=3, cutoff=0.5)
            hint = f"Did you mean {' or '.join(close)}?" if close else "None comes close."
            raise DatasetError(
                f"Unknown data set {dataset_id!r}. {hint} "
                f"Known ({self.path}): {', '.join(self._specs)}."
            )
        return self._specs[dataset_id]

    def __contains__(self, dataset_id):
        return dataset_id in self._specs

    def __iter__(self):
        return iter(self._specs)

    def __len__(self):
        return len(self._specs)


def load_registry(path=None):
    """Read a registry of data sets and check it against the schema.

    Parameters
    ----------
    path : path-like, default=None
        A YAML file laid out as `config/datasets.yaml`; None reads the one that comes with the
        package.

    Returns
    -------
    Registry

    Raises
    ------
    ConfigError
        When the file is missing, is not YAML, or breaks the schema; the message names the entry.
    """
    path = DEFAULT_REGISTRY if path is None else Path(path)
    content = read_yaml(path, "The registry of data sets")
    _check(content, path)
    return Registry([_spec(key, entry) for key, entry in content["datasets"].items()], path)


@cache
def _validator():
    return jsonschema.Draft202012Validator(read_yaml(SCHEMA))


def _check(content, path):
    # One error, the most telling: the others mostly follow from it.
    error = jsonschema.exceptions.best_match(_validator().iter_errors(content))
    if error is not None:
        place = " > ".join(str(step) for step in error.absolute_path) or "top level"
        raise ConfigError(f"{path}, {place}: {error.message}")


def _spec(dataset_id, entry):
    entry = dict(entry)
    source = entry.pop("source")
    reader = dict(entry.pop("reader", {}))
    classes = entry.pop("classes", None)
    parts = entry.pop("parts", None)
    return DatasetSpec(
        id=dataset_id,
        classes=None if classes is None else {str(name): count for name, count in classes.items()},
        parts=None if parts is None else tuple(parts),
        **_origin(dataset_id, source, reader),
        **entry,
    )


def _origin(dataset_id, source, reader):
    """Return kind, reader, parameters and files as the form of `source` implies them."""
    source = dict(source)
    # The form of the source says what it is: no second key can contradict it.
    for kind in ("embedded", "generated", "csv"):
        if kind in source:
            name = source.pop(kind)
            if kind == "csv":
                return {"kind": kind, "reader": "csv", "parameters": {"path": name, **source}}
            return {"kind": kind, "reader": name, "parameters": source}
    return {
        "kind": "local" if "instructions" in source else "files",
        "reader": reader.pop("name"),
        "parameters": reader,
        "files": _files(source["files"], source.get("mirrors", ())),
        "folder": source.get("folder"),
        "instructions": source.get("instructions", ""),
    }


def _files(hashes, mirrors):
    """Return the `FileSpec` of each path, with its name put into the mirrors."""
    specs = []
    for path, accepted in hashes.items():
        accepted = () if accepted is None else accepted
        # Several hashes: mirrors may hold editions of a file that read the same.
        accepted = (accepted,) if isinstance(accepted, str) else tuple(accepted)
        name = PurePosixPath(path).name
        # Mirrors keep some files unpacked, under the name without the ending.
        stem = name.removesuffix(".gz")
        urls = tuple(url.replace("{name}", name).replace("{stem}", stem) for url in mirrors)
        specs.append(FileSpec(path, accepted, urls))
    return tuple(specs)
