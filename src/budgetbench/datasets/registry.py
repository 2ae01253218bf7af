"""The registry of data sets: `config/datasets.yaml`, checked against its schema."""

import difflib
import hashlib
import json
import os
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
    """One raw file of a data set."""

    path: str  # where it lies below the data folder, <dataset>/<file>
    # Accepted hashes, of the decompressed content where `path` ends in .gz. Empty where none is
    # known: then the first one seen is recorded beside the file.
    sha256: tuple[str, ...] = ()
    # Addresses in the order to try: url, url#member or url#archive#member.
    mirrors: tuple[str, ...] = ()


# What of an entry decides the prepared data, beside files and parameters.
_DECISIVE = ("id", "task", "kind", "reader", "labels", "unmeasured", "content")


@dataclass(frozen=True)
class DatasetSpec:
    """The entry of one data set in the registry."""

    id: str
    title: str
    task: str  # "classification", "regression" or "ranking"
    # "embedded" in scikit-learn, "generated", "files" of the network, "local": files that only the
    # user can bring, or "csv": the user's own table.
    kind: str
    reader: str  # of the raw files; or the name of the embedded table, or of the generator
    parameters: Mapping = field(default_factory=dict)  # of the reader or generator
    labels: Mapping = field(default_factory=dict)  # how the target is made; empty: as it is
    files: tuple[FileSpec, ...] = ()  # raw files, in the order in which the reader takes them
    folder: str | None = None  # of "local": one that holds the files
    instructions: str = ""  # of "local": how the user gets the files
    unmeasured: float | None = None  # rows in which every feature has this value are left out
    # Expected numbers, of the given parts and of the classes in the order of their codes; None
    # where not known.
    rows: int | None = None
    features: int | None = None
    queries: int | None = None
    parts: tuple[int, ...] | None = None
    classes: Mapping | None = None
    costs: str | None = None  # price list for the cost profile "given", a csv file
    content: str | None = None  # of "csv": the sha256 that the table must have; None takes any
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
        """Return the entry that `dataclasses.asdict` made plain data of."""
        files = tuple(FileSpec(**file) for file in plain.get("files", ()))
        return cls(**{**plain, "files": files})


class Registry(dict):
    """Data sets by id; an unknown id is an error that offers the closest names."""

    def __init__(self, specs, path=None):
        super().__init__((spec.id, spec) for spec in specs)
        self.path = path  # the file they came from, for messages

    def __missing__(self, dataset_id):
        # Ids are short: the usual cutoff would offer nothing for two wrong letters.
        close = difflib.get_close_matches(str(dataset_id), self, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}?" if close else "None comes close."
        raise DatasetError(
            f"Unknown data set {dataset_id!r}. {hint} Known ({self.path}): {', '.join(self)}."
        )


def load_registry(path=None):
    """Return the data sets of a YAML file, checked; None: of the one that the package brings."""
    path = DEFAULT_REGISTRY if path is None else Path(path)
    content = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b""
    return Registry(_checked(path, content), path)


@cache  # by the bytes, too: each data set that is loaded asks anew
def _checked(path, _):
    content = read_yaml(path, "The registry of data sets")
    # One error, the most telling: the others mostly follow from it.
    validator = jsonschema.Draft202012Validator(read_yaml(SCHEMA))
    error = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if error is not None:
        place = " > ".join(str(step) for step in error.absolute_path) or "top level"
        bare = error.message.startswith("'datasets'")
        hint = ". Entries stand below the line 'datasets:', indented" if bare else ""
        raise ConfigError(f"{path}, {place}: {fault_message(error)}{hint}")
    return [_spec(key, entry) for key, entry in content["datasets"].items()]


def fault_message(fault):
    """Describe a fault against a JSON schema, and say what to write instead."""
    if fault.validator == "contains" and "const" in (needed := fault.validator_value):
        return f"{fault.instance} lacks {needed['const']!r}, which every study has: add it."
    known = fault.schema.get("properties") if fault.validator == "additionalProperties" else None
    return f"{fault.message}: known are {', '.join(known)}." if known else fault.message


def _spec(dataset_id, entry):
    entry = dict(entry)
    source, reader = entry.pop("source"), dict(entry.pop("reader", {}))
    classes, parts = entry.pop("classes", None), entry.pop("parts", None)
    return DatasetSpec(
        id=dataset_id,
        classes=None if classes is None else {str(name): count for name, count in classes.items()},
        parts=None if parts is None else tuple(parts),
        **_origin(source, reader),
        **entry,
    )


def _origin(source, reader):
    """Return kind, reader, parameters and files as the form of `source` implies them."""
    source = dict(source)
    # The form of the source says what it is: no second key can contradict it.
    for kind in ("embedded", "generated"):
        if kind in source:
            return {"kind": kind, "reader": source.pop(kind), "parameters": source}
    if "csv" in source:
        parameters = {"path": source.pop("csv"), **source}
        return {"kind": "csv", "reader": "csv", "parameters": parameters}
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
        # Several hashes: mirrors may hold editions of a file that read the same.
        accepted = (accepted,) if isinstance(accepted, str) else tuple(accepted or ())
        name = PurePosixPath(path).name
        # Mirrors keep some files unpacked, under the name without the ending.
        stem = name.removesuffix(".gz")
        urls = tuple(url.replace("{name}", name).replace("{stem}", stem) for url in mirrors)
        specs.append(FileSpec(path, accepted, urls))
    return tuple(specs)
