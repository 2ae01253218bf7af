"""The registry of data sets: `config/datasets.yaml`, checked against its schema."""

import difflib
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

import jsonschema
from jsonschema.exceptions import best_match

from budgetlearn.exceptions import ConfigError, DatasetError
from budgetlearn.files import read_yaml

# Both are in the package; in the source tree, they are links to `config` and `workflow/schemas`.
DEFAULT_REGISTRY = Path(__file__).with_name("datasets.yaml").resolve()
SCHEMA = Path(__file__).with_name("datasets.schema.yaml")
# Fields of an entry that decide the prepared data, besides files and parameters.
_DECISIVE = ("id", "task", "kind", "reader", "labels", "unmeasured", "content")

_TYPES = jsonschema.Draft202012Validator.TYPE_CHECKER
# NaN would pass as a number below no limit, and infinity has no place in any setting.
_FINITE = _TYPES.redefine("number", lambda _, x: _TYPES.is_type(x, "number") and abs(x) < math.inf)
Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=_FINITE)


@dataclass(frozen=True)
class FileSpec:
    """One raw file of a data set."""

    path: str  # below the data folder, <dataset>/<file>
    # Accepted hashes, of the decompressed content if `path` ends in .gz. If empty, the hash of the
    # first verified file is recorded beside it.
    sha256: tuple[str, ...] = ()
    # Addresses in the order to try: url, url#member or url#archive#member.
    mirrors: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetSpec:
    """The entry of one data set in the registry."""

    id: str
    title: str
    task: str  # "classification", "regression" or "ranking"
    # "embedded" in scikit-learn, "generated", "files" (fetched), "local" or "csv" (of the user)
    kind: str
    reader: str  # of the raw files; or the name of the embedded table, or of the generator
    parameters: Mapping = field(default_factory=dict)  # of the reader or generator
    labels: Mapping = field(default_factory=dict)  # rules for the target; empty: unchanged
    files: tuple[FileSpec, ...] = ()  # raw files, in the reader's order
    folder: str | None = None  # "local" only: the folder of the files
    instructions: str = ""  # "local" only: how the user gets the files
    unmeasured: float | None = None  # rows in which every feature has this value are dropped
    # Expected numbers of rows, None if unknown: in train, validation and test; by class code.
    rows: int | None = None
    features: int | None = None
    queries: int | None = None
    parts: tuple[int, ...] | None = None
    classes: Mapping | None = None
    costs: str | None = None  # price list for the cost profile "given", a csv file
    content: str | None = None  # "csv" only: sha256 that the table must have; None accepts any
    licence: str = ""
    citation: str = ""

    @property
    def digest(self):
        """Hash of what decides the prepared data: fields of the entry, and hashes of raw files."""
        plain = asdict(self)
        # Without titles and licences, so that an edit of these prepares nothing again.
        decisive = {name: plain[name] for name in _DECISIVE}
        decisive["files"] = [file["sha256"] for file in plain["files"]]
        # The content of a table matters (`content`), not its path.
        decisive["parameters"] = {k: v for k, v in self.parameters.items() if k != "path"}
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_plain(cls, plain):
        """Return the entry from the plain data made by `dataclasses.asdict`."""
        return cls(**{**plain, "files": tuple(FileSpec(**file) for file in plain["files"])})


class Registry(dict):
    """Data sets by id; an unknown id raises an error that suggests similar names."""

    def __init__(self, specs, path=None):
        super().__init__((spec.id, spec) for spec in specs)
        self.path = path  # of the registry's file, for messages

    def __missing__(self, dataset_id):
        # Ids are short, so the default cutoff would find nothing for two wrong letters.
        close = difflib.get_close_matches(str(dataset_id), self, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}?" if close else "None comes close."
        raise DatasetError(
            f"Unknown data set {dataset_id!r}. {hint} Known ({self.path}): {', '.join(self)}."
        )


def load_registry(path=None):
    """Return the checked data sets of a YAML file; None means the file of the package."""
    path = DEFAULT_REGISTRY if path is None else Path(path)
    content = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b""
    return Registry(_checked(path, content), path)


@cache  # by the content, too, so that loading several data sets checks an unchanged file once
def _checked(path, _):
    content = read_yaml(path, "The registry of data sets")
    # Only the most relevant error, as the others mostly follow from it.
    error = best_match(Validator(read_yaml(SCHEMA)).iter_errors(content))
    if error is not None:
        place = " > ".join(str(step) for step in error.absolute_path) or "top level"
        bare = error.message.startswith("'datasets'")
        hint = ". Entries belong below the line 'datasets:', indented" if bare else ""
        raise ConfigError(f"{path}, {place}: {fault_message(error)}{hint}")
    specs = [_spec(key, entry) for key, entry in content["datasets"].items()]
    mirrors = {}
    for spec in specs:
        for file in (file for file in spec.files if file.mirrors):
            known = mirrors.setdefault(file.path, file.mirrors)
            # Whichever came first would be taken for both.
            if not (file.sha256 or {*known} & {*file.mirrors}):
                what = f"another entry fetches {file.path} from other addresses"
                raise ConfigError(f"{path}, {spec.id}: {what}. Give one of them another path.")
    return specs


def fault_message(fault):
    """Return the message for a fault against a JSON schema, with a remedy if it is known."""
    if fault.validator == "contains" and "const" in (needed := fault.validator_value):
        return f"{fault.instance} lacks {needed['const']!r}, which every study has: add it."
    if fault.validator in ("oneOf", "pattern") and (forms := fault.schema.get("examples")):
        return f"{fault.message}: write for example {' or '.join(map(str, forms))}."
    known = fault.schema.get("properties") if fault.validator == "additionalProperties" else None
    return f"{fault.message}: known are {', '.join(known)}." if known else fault.message


def _spec(dataset_id, entry):
    entry = dict(entry)
    source, reader = entry.pop("source"), dict(entry.pop("reader", {}))
    if "classes" in entry:
        entry["classes"] = {str(name): count for name, count in entry["classes"].items()}
    if entry.get("parts"):  # null: unknown
        entry["parts"] = tuple(entry["parts"])
    return DatasetSpec(id=dataset_id, **_origin(source, reader), **entry)


def _origin(source, reader):
    """Return kind, reader, parameters and files, which the form of `source` implies."""
    source = dict(source)
    for kind in ("embedded", "generated"):
        if kind in source:
            return {"kind": kind, "reader": source.pop(kind), "parameters": source}
    if "csv" in source:
        return {"kind": "csv", "reader": "csv", "parameters": {"path": source.pop("csv"), **source}}
    return {
        "kind": "local" if "instructions" in source else "files",
        "reader": reader.pop("name"),
        "parameters": reader,
        "files": _files(source["files"], source.get("mirrors", ())),
        "folder": source.get("folder"),
        "instructions": source.get("instructions", ""),
    }


def _files(hashes, mirrors):
    """Return the `FileSpec` of each path, with its name filled into the mirrors."""
    specs = []
    for path, accepted in hashes.items():
        # Mirrors may have different editions of a file with the same data, hence several hashes.
        accepted = (accepted,) if isinstance(accepted, str) else tuple(accepted or ())
        name = PurePosixPath(path).name
        # Some mirrors have files unpacked, under the name without the ending.
        stem = name.removesuffix(".gz")
        urls = tuple(url.replace("{name}", name).replace("{stem}", stem) for url in mirrors)
        specs.append(FileSpec(path, accepted, urls))
    return tuple(specs)
