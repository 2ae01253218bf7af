"""Stored results: keep operating points in the repository, and compare them with a fresh run."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.files import read_yaml, write_whole

from . import records

FOLDER = "resources/reruns"
POINTS, SETTINGS, PROVENANCE = "points.csv.gz", "study.yaml", "provenance.json"
# The columns of operating points from which published numbers and claims are computed.
KEPT = (
    *("dataset", "costs", "method", "run", "stage", "fit", "setting", "cost", "cost_fraction"),
    *("n_features", "n_nodes", "node_entropy", "valid_cost", "valid_score", "test_score"),
    *("test_mse", "estimated_score", "fit_seconds", "predict_seconds", "variables", "status"),
)
_GROUP = ["dataset", "costs", "method"]
_PLACE = [*_GROUP, "run"]
# Settings of this machine and call. Runs and data sets are not kept, as the points have them.
_LOCAL = ("data_dir", "stored", "cluster", "offline", "strict", "retry_failed", "runs_per_job")
_LOCAL += ("runs", "datasets", "time_limit", "memory_limit", "threads_per_job")
KEY = ["dataset", "costs", "method", "run", "fit", "stage"]
UNCOMPARED = [*(name for name, column in records.POINTS.items() if column.clock), "format_version"]
# Relative tolerance across platforms and versions, on which the last bits of sums depend.
TOLERANCE = 1e-9


def keep(study, root="."):
    """Add a study's operating points, finished or not, to those kept below `root`.

    Runs that were kept before are replaced if this study has them too. They are dropped if the
    method, data, prices or split of their data set have changed, so that points of two settings are
    never mixed. Return the study's folder of kept reruns; None if it has no operating points yet.
    """
    # Only planned files: others may come from earlier settings.
    files = [path for path in study.points_files if Path(path).exists()]
    if not files:
        return None
    folder = Path(root) / FOLDER / study.config["study"]
    fresh, sources = records.read(files), records.sources_of(files)
    origins = records.origins_of(files)
    if (folder / POINTS).exists():
        kept, (config, before) = read_kept(folder), kept_facts(folder)
        stays = _stays(kept, fresh, before["sources"], sources)
        same = kept["dataset"].map(lambda d: _split_of(config, d) == _split_of(study.config, d))
        stays &= same.to_numpy(dtype=bool)
        fresh = pd.concat([kept[stays], fresh], ignore_index=True)
        sources = before["sources"] | sources
        origins = _joined(before["origins"], origins)
    points = fresh.sort_values([*_PLACE, "stage"])[list(KEPT)]
    settings = {key: value for key, value in study.config.items() if key not in _LOCAL}
    provenance = {"origins": origins, "sources": sources}
    packed, how = io.BytesIO(), {"method": "gzip", "mtime": 0}  # equal points, equal bytes
    points.to_csv(packed, index=False, lineterminator="\n", na_rep="NA", compression=how)
    contents = {
        POINTS: packed.getvalue(),
        SETTINGS: yaml.safe_dump(settings, sort_keys=True, allow_unicode=True),
        PROVENANCE: json.dumps(provenance, indent=1, sort_keys=True) + "\n",
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return folder


def _stays(kept, fresh, before, now):
    """Return a mask of the kept points that `keep` does not replace or drop."""
    again = pd.MultiIndex.from_frame(kept[_PLACE]).isin(pd.MultiIndex.from_frame(fresh[_PLACE]))
    # Kept points may have several hashes, if equivalent settings were written in different ways.
    changed = {n for n in before.keys() & now.keys() if not set(now[n]) <= set(before[n])}
    stale = [
        not changed.isdisjoint(
            (f"the settings of {m} on {d}", f"the data of {d}", f"the {costs} prices of {d}")
        )
        for d, costs, m in zip(*(kept[name] for name in _GROUP), strict=True)
    ]
    return ~(again | np.array(stale, dtype=bool))


def _split_of(config, dataset):
    return config.get("by_dataset", {}).get(dataset, {}).get("split", config.get("split"))


def _joined(before, now):
    """Return the distinct origins of both, each with its largest number of jobs."""
    known = {}
    # The largest number, not the sum: files that were kept before may be among the new ones.
    for one in sorted((*before, *now), key=lambda one: one["jobs"]):
        same = {name: one[name] for name in one if name not in records.SUMMED}
        known[json.dumps(same, sort_keys=True)] = one
    return [known[key] for key in sorted(known)]


def read_kept(folder):
    """Return the operating points of a kept rerun, with all columns of `records.COLUMNS`."""
    path = Path(folder) / POINTS
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=["NA"])
    if lacking := [name for name in KEPT if name not in frame]:
        raise records.RecordError(
            f"the points in {path} lack the columns {lacking}. Take the file from the repository "
            "again, or rerun the study and `keep` it."
        )
    for name in KEPT:
        if records.COLUMNS[name] != "string":  # pandas' fast parser may change the last bit
            frame[name] = frame[name].map(float, na_action="ignore")
    return records.table(frame)


def kept_facts(folder):
    """Return a kept rerun's settings, and {"origins": code and machine, "sources": data hashes}."""
    provenance = (Path(folder) / PROVENANCE).read_text(encoding="utf-8")
    return read_yaml(Path(folder) / SETTINGS), json.loads(provenance)


def kept_studies(root="."):
    """Return {study: folder} of all kept reruns, sorted by name."""
    return {p.parent.name: p.parent for p in sorted(Path(root, FOLDER).glob(f"*/{POINTS}"))}


class RerunError(BudgetlearnError, ValueError):
    """A rerun did not reproduce the stored results, or cannot be compared with them."""


def stored_points(folder, fresh):
    """Return the file of operating points in the folder of an earlier run."""
    if folder is None:
        raise RerunError(
            "rerun_check compares with stored results. Give their folder, as in "
            "snakemake --cores 2 rerun_check --config stored=earlier/results/default"
        )
    if Path(folder).resolve() == Path(fresh).resolve():
        raise RerunError(
            f"{folder} has this study's own results: move the stored results elsewhere "
            "(mv results/default stored), so that a fresh run can be compared with them."
        )
    path = Path(folder) / "points.parquet"
    if not path.is_file():
        raise RerunError(f"{folder} has no file points.parquet with stored results.")
    return str(path)


def tolerance(fresh, stored):
    """Return the relative tolerance for numbers: 0 if all come from the same single platform."""
    # With several platforms, it is unknown which points came from which.
    platforms = _platforms(fresh)
    return 0.0 if len(platforms) == 1 and platforms == _platforms(stored) else TOLERANCE


def _platforms(origins):
    """Return the set of platforms: origins without number of cores, code and effort."""
    others = ("commit", "kernels", *records.SUMMED)
    plain = [one | {"machine": one.get("machine", "").partition(",")[0]} for one in origins]
    return {tuple(sorted((k, v) for k, v in one.items() if k not in others)) for one in plain}


def differences(fresh, stored, within=0.0):
    """Return the differences between two sets of operating points above a relative tolerance.

    Each has a row: `KEY`, column, fresh, stored. All values of a point on one side only differ.
    """
    fresh, stored = (each.drop(columns=UNCOMPARED).set_index(KEY) for each in (fresh, stored))
    for name, frame in (("fresh", fresh), ("stored", stored)):
        if not frame.index.is_unique:
            raise RerunError(f"the {name} results have two operating points with the same key.")
        # Tuples, as == of arrays gives arrays. Exactly: their last bit is larger than `TOLERANCE`.
        frame["acquisition_rates"] = frame["acquisition_rates"].map(tuple, na_action="ignore")
    # All values that differ, where pandas.testing would name the first column only.
    fresh, stored = fresh.align(stored)
    numbers = fresh.select_dtypes("number").columns
    near = np.isclose(fresh[numbers], stored[numbers], rtol=within, atol=0, equal_nan=True)
    fresh[numbers] = fresh[numbers].mask(near, stored[numbers])
    found = fresh.compare(stored, result_names=("fresh", "stored"))
    found = found.stack(0, future_stack=True).dropna(how="all")  # noqa: PD013, columns have levels
    return found.rename_axis([*KEY, "column"]).reset_index()


def check_rerun(study, fresh, stored):
    """Compare the operating points in two files, and return a sentence about the comparison."""
    within = tolerance(records.origins_of(fresh), records.origins_of(stored))
    # Without settings after the tries, as their number depends on the machine's speed.
    points, earlier = (p[~study.beyond_tries(p)] for p in map(records.read, (fresh, stored)))
    found = differences(points, earlier, within)
    how = f"within {within:g} relative (platforms differ)" if within else "exactly"
    if len(found):
        what = f"{len(found)} numbers of {fresh} differ from those of {stored}, compared {how}"
        raise RerunError(f"{what}. The first ones:\n{found.head(10).to_string(index=False)}")
    return f"All {len(points)} operating points of {fresh} equal those of {stored}, compared {how}."
