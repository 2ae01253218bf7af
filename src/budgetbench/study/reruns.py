"""Reruns kept in the repository: small enough to travel, whole enough to be judged again."""

import gzip
import io
import json
from pathlib import Path

import pandas as pd
import yaml

from budgetlearn.files import read_yaml, whole_file

from . import records
from .rerun import differences

FOLDER = "resources/reruns"
POINTS, SETTINGS, PROVENANCE = "points.csv.gz", "study.yaml", "provenance.json"
# Of an operating point, what printed numbers and claims are computed from; the rest is left out.
KEPT = (
    *("dataset", "costs", "method", "run", "stage", "fit", "setting", "cost", "cost_fraction"),
    *("n_features", "n_nodes", "node_entropy", "valid_cost", "valid_score", "test_score"),
    *("test_mse", "estimated_score", "fit_seconds", "predict_seconds", "variables", "status"),
)
_GROUP = ["dataset", "costs", "method"]
_PLACE = [*_GROUP, "run"]
# Of this machine and moment; how many runs and data sets are kept, the points themselves tell.
_LOCAL = ("data_dir", "stored", "cluster", "offline", "strict", "retry_failed", "runs_per_job")
_LOCAL += ("runs", "datasets", "time_limit", "memory_limit", "threads_per_job")


def keep(study, root="."):
    """Add a study's operating points, finished or not, to those that are kept below `root`.

    Runs that were kept before stay, unless this study has them too, or its method or data on that
    data set have other settings now: points of two settings never stand together. Return the
    study's folder of kept reruns; None where it has no operating points yet.
    """
    files = sorted(Path(study.folder).glob("points/*/*/*/*.parquet"))
    if not files:
        return None
    folder = Path(root) / FOLDER / study.name
    fresh, sources = records.read(files), records.sources_of(files)
    origins = records.origins_of(files)
    if (folder / POINTS).exists():
        kept, before = read_kept(folder), provenance_of(folder)
        stays = _stays(kept, fresh, before["sources"], sources)
        fresh = pd.concat([kept[stays], fresh], ignore_index=True)
        sources = before["sources"] | sources
        origins = _joined(before["origins"], origins)
    _write(folder, fresh, study, {"origins": origins, "sources": sources})
    return folder


def _stays(kept, fresh, before, now):
    """Return which kept points stay beside fresh ones."""
    done = set(fresh[_PLACE].itertuples(index=False, name=None))
    again = [place in done for place in kept[_PLACE].itertuples(index=False, name=None)]
    changed = {name for name in before.keys() & now.keys() if before[name] != now[name]}
    stale = [
        bool(changed & {f"the settings of {m} on {d}", f"the data of {d}"})
        for d, m in zip(kept["dataset"], kept["method"], strict=True)
    ]
    return ~(pd.Series(again, index=kept.index) | pd.Series(stale, index=kept.index))


def _joined(before, now):
    """Return origins of both, each once, with the most jobs that it was seen with.

    Files of jobs that were kept before may still be there: their seconds must not count twice.
    """
    known = {}
    for one in sorted((*before, *now), key=lambda one: one["jobs"]):
        same = {name: one[name] for name in one if name not in records.SUMMED}
        known[json.dumps(same, sort_keys=True)] = one
    return [known[key] for key in sorted(known)]


def _write(folder, points, study, provenance):
    """Write the three files of a kept rerun; the same results give the same bytes."""
    points = points.sort_values([*_PLACE, "stage"])[list(KEPT)]
    config = {key: value for key, value in study.config.items() if key not in _LOCAL}
    text = io.BytesIO()
    with gzip.GzipFile(fileobj=text, mode="wb", mtime=0) as packed:
        packed.write(points.to_csv(index=False, lineterminator="\n", na_rep="NA").encode())
    contents = {
        POINTS: text.getvalue(),
        SETTINGS: yaml.safe_dump(config, sort_keys=True, allow_unicode=True).encode(),
        PROVENANCE: (json.dumps(provenance, indent=1, sort_keys=True) + "\n").encode(),
    }
    for name, content in contents.items():
        with whole_file(folder / name) as partial:
            Path(partial).write_bytes(content)


def read_kept(folder):
    """Return the operating points of a kept rerun, with all columns of `records.COLUMNS`."""
    path = Path(folder) / POINTS
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=["NA"])
    for name in KEPT:
        if records.COLUMNS[name] != "string":  # Python's own reading keeps the last bit
            frame[name] = frame[name].map(float, na_action="ignore")
    return records.table(frame)


def settings_of(folder):
    """Return the settings of the study that a kept rerun is of."""
    return read_yaml(Path(folder) / SETTINGS)


def provenance_of(folder):
    """Return {"origins": what the points were made with, "sources": what of}."""
    return json.loads((Path(folder) / PROVENANCE).read_text(encoding="utf-8"))


def kept_studies(root="."):
    """Return {study: folder} of all kept reruns, in the order of their names."""
    found = sorted(Path(root, FOLDER).glob(f"*/{POINTS}"))
    return {path.parent.name: path.parent for path in found}


def kept_differences(fresh, kept, within=0.0):
    """Return the numbers in which fresh operating points differ from kept ones."""
    fresh, kept = (records.table(frame[list(KEPT)]) for frame in (fresh, kept))
    return differences(fresh, kept, within)
