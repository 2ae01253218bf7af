"""Read and write tables of operating points; no other module touches these files."""

import itertools
import json
import re
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from budgetlearn.costs import read_prices
from budgetlearn.exceptions import BudgetlearnError, DatasetError
from budgetlearn.files import whole_file
from budgetlearn.preprocessing.reading import reading

FORMAT_VERSION = 8


class Column(NamedTuple):
    """A column of the operating points."""

    dtype: str  # pandas type; "object" means an array in each cell
    meaning: str  # for `docs/results.md` and for the report's `tables/schema.json`
    clock: bool = False  # whether it is a measured time, which reruns do not reproduce


# One row per operating point of one method in one run. `docs/results.md` is made from this table.
POINTS = {
    "dataset": Column("string", "data set"),
    "costs": Column("string", "kind of cost profile: random, unit or given"),
    "method": Column("string", "method, by its id in the methods file"),
    "run": Column("int64", "number of the run; all methods share its split, prices and seed"),
    "stage": Column(
        "int64", "number of the operating point, by fit, then from the least expensive"
    ),
    "fit": Column(
        "int64", "number of the fit in the run, one for each setting; 0: the method's own setting"
    ),
    "setting": Column("string", "parameters of this fit and of the stage"),
    "budget": Column("float64", "budget at which the method would use this point, if it has one"),
    "cost": Column("float64", "mean acquisition cost of a test example, in units of the prices"),
    "cost_fraction": Column("float64", "`cost` as a share of the cost of all features"),
    "cost_p95": Column("float64", "95th percentile of the acquisition cost of a test example"),
    "cost_max": Column("float64", "largest acquisition cost of a test example"),
    "n_features": Column("float64", "mean number of features acquired for a test example"),
    "n_nodes": Column("float64", "tree nodes of the model"),
    "n_bytes": Column(
        "float64",
        "bytes of the model in the compact format float32 (docs/gif-format.md), if it is a sum of "
        "trees whose nodes are counted",
    ),
    "node_entropy": Column("float64", "entropy of nodes over the trees, divided by its maximum"),
    "valid_cost": Column("float64", "mean acquisition cost of a validation example"),
    "valid_cost_max": Column("float64", "largest acquisition cost of a validation example"),
    "valid_score": Column("float64", "score on validation data, used to choose operating points"),
    "test_score": Column("float64", "score on test data: accuracy, R², AP@5 or the `scoring` set"),
    "choice_score": Column("float64", "score on the half of the test data that chooses a method"),
    "held_out_score": Column("float64", "score on the other half: what to expect of the choice"),
    "test_mse": Column("float64", "mean squared error on test data (regression)"),
    "estimated_score": Column("float64", "score that the method expected, if it estimates one"),
    "n_fitted": Column(
        "float64",
        "models trained in this fit, including models that are not kept, models on folds, along "
        "paths and sequences, and on training and validation data together; a forest, a boosted "
        "ensemble and an L1 path count as one each",
    ),
    "fit_seconds": Column(
        "float64", "seconds of this fit, including the second one if the study refits", clock=True
    ),
    "processor_seconds": Column(
        "float64", "processor seconds of this fit, summed over all threads", clock=True
    ),
    "predict_seconds": Column("float64", "seconds to predict the test data", clock=True),
    "added_seconds": Column(
        "float64",
        "the part of `predict_seconds` that earlier operating points of the same fit had not yet "
        "spent (a forest of 20 trees continues one of 10)",
        clock=True,
    ),
    "variables": Column("string", "indices of the features that the point's model may use"),
    "acquisition_rates": Column(
        "object", "share of test examples for which each feature was acquired, an array"
    ),
    "status": Column(
        "string",
        "ok, or why the fit or the run has no result: failed, died, timeout or memory, with "
        "details; partial in an extra row after the points of a fit that ended early, which count",
    ),
    "format_version": Column("int64", "version of this table's format"),
}
COLUMNS = {name: column.dtype for name, column in POINTS.items()}
OK = "ok"
PARTIAL = "partial"  # starts the status of the row after the points of a fit that ended early
_REMEDY = "Delete the file and run the workflow again."
# How to combine these entries of the origins of several jobs.
SUMMED = {"jobs": sum, "seconds": sum, "peak_mb": max}
# Keys of a file's metadata for the origins of its points (code, machine) and their sources (data).
_ORIGINS, _SOURCES = b"budgetlearn", b"budgetlearn sources"


class RecordError(BudgetlearnError, ValueError):
    """A file that the workflow made is damaged or has the wrong columns."""


def is_failure(status):
    """Return True if a status means that there is no result, not even a partial one."""
    return status != OK and not status.startswith(PARTIAL)


def setting_text(setting):
    """Return the text for the column `setting`, such as "alpha=4, trees=10"."""
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def parse_setting(text):
    """Return {name: value as text} from the text of `setting_text`; empty for a missing text."""
    # A value may contain ", " (alpha=[0, 8]), but a name is an identifier.
    pairs = [] if pd.isna(text) else re.split(r", (?=[^\W\d]\w*=)", text)
    return dict(pair.split("=", 1) for pair in pairs)


def variables_text(variables):
    """Return the text for the column `variables`, such as "0,3,4"."""
    return ",".join(map(str, variables))


def parse_variables(text):
    """Return the tuple of feature indices from the text of `variables_text`."""
    return tuple(int(variable) for variable in text.split(",") if variable)


def table(rows):
    """Return operating points as a frame with every column of `COLUMNS`, in that order."""
    frame = pd.DataFrame(rows)
    # A misspelt column would silently be dropped.
    unknown = sorted(set(frame.columns) - set(COLUMNS))
    if unknown:
        raise RecordError(f"operating points have unknown columns {unknown}.")
    defaults = {"status": OK, "format_version": FORMAT_VERSION, "stage": 0, "fit": 0}
    frame = frame.reindex(columns=list(COLUMNS)).astype({"status": "string"}).fillna(defaults)
    return frame.astype(COLUMNS).reset_index(drop=True)


def write(rows, path, origins=(), sources=None):
    """Write operating points with their origins and sources as one Parquet file."""
    content = pa.Table.from_pandas(table(rows), preserve_index=False)
    made_with = {_ORIGINS: json.dumps(list(origins)), _SOURCES: json.dumps(sources or {})}
    content = content.replace_schema_metadata(content.schema.metadata | made_with)
    # Neither a reader nor Snakemake after a kill may find half a file.
    with whole_file(path) as partial:
        pq.write_table(content, partial)


def origins_of(paths):
    """Return the distinct origins (code, versions, machine) of the points in one or many files."""
    found = {}
    for one in itertools.chain.from_iterable(_metadata_of(paths, _ORIGINS)):
        # Origins that differ only in summed entries are merged.
        key = json.dumps({name: one[name] for name in one if name not in SUMMED})
        found.setdefault(key, []).append({"jobs": 1, **one})
    origins = []
    for key, same in found.items():
        known = {name: [one[name] for one in same if name in one] for name in SUMMED}
        sums = {name: SUMMED[name](values) for name, values in known.items() if values}
        origins.append(json.loads(key) | sums)
    return origins


def sources_of(paths):
    """Return {name: hashes} of the sources of the points in files; several if files differ."""
    found = {}
    for made_of in _metadata_of(paths, _SOURCES):
        for name, hashes in made_of.items():
            found[name] = sorted({*found.get(name, ()), *_listed(hashes)})
    return found


def _metadata_of(paths, key):
    """Yield the metadata that each of one or many files has under a key."""
    for path in _listed(paths):
        with reading_made(path):
            yield json.loads(pq.read_schema(path).metadata[key])


@contextmanager
def reading_made(path, form="operating points"):
    """Turn errors about a damaged file that the workflow made into a `RecordError`."""
    try:
        with reading(Path(path), form):
            yield
    except DatasetError as error:
        raise RecordError(f"in {Path(path).parent}: {error} {_REMEDY}") from error


def read_costs(path):
    """Read the cost profiles of a job from its file."""
    with reading_made(path, "cost profiles"):
        return read_prices(path)


def _listed(paths):
    return [paths] if isinstance(paths, (str, Path)) else list(paths)


def read(paths):
    """Read operating points from one or many files into one frame."""
    parts = [_part(path) for path in _listed(paths)]
    # One conversion for all: converting many small files one by one takes minutes.
    return pa.concat_tables(parts, promote_options="permissive").to_pandas().astype(COLUMNS)


def seconds_of_runs(path):
    """Return {run: seconds of its fits and of their predictions} of the points in a file."""
    names = ["run", "fit", "fit_seconds", "added_seconds"]
    fits = pq.read_table(path, columns=names).to_pandas().fillna(0.0).groupby(["run", "fit"])
    seconds = fits["fit_seconds"].max() + fits["added_seconds"].sum()
    return seconds.groupby("run").sum().to_dict()


def _part(path):
    with reading_made(path):
        content = pq.read_table(path)
        content.validate(full=True)  # invalid text would raise an error much later
        lacking = sorted(set(COLUMNS) - set(content.column_names))
    versions = [] if lacking else content["format_version"].unique().to_pylist()
    if lacking or not set(versions) <= {FORMAT_VERSION}:
        found = f"lacks {lacking}" if lacking else f"has format version {sorted(versions)}"
        raise RecordError(f"{path} {found}; this version reads format {FORMAT_VERSION}. {_REMEDY}")
    with reading_made(path):
        content = content.select(list(COLUMNS))
        kinds = {"string": pa.large_string(), "int64": pa.int64(), "float64": pa.float64()}
        # Acquisition rates keep their type, which is null if all are missing.
        types = [kinds.get(COLUMNS[column.name], column.type) for column in content.schema]
        return content.cast(pa.schema(zip(COLUMNS, types, strict=True)))
