"""Results for later: kept in the repository, compared with a fresh run."""

import gzip
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

    Runs that were kept before stay, unless this study has them too, or its method, data, prices or
    split on that data set are others now: points of two settings never stand together. Return the
    study's folder of kept reruns; None where it has no operating points yet.
    """
    # Those of the plan: a file of runs beyond it may be of earlier settings.
    files = [path for path in study.points_files if Path(path).exists()]
    if not files:
        return None
    folder = Path(root) / FOLDER / study.name
    fresh, sources = records.read(files), records.sources_of(files)
    origins = records.origins_of(files)
    if (folder / POINTS).exists():
        kept, before = read_kept(folder), kept_provenance(folder)
        stays = _stays(kept, fresh, before["sources"], sources)
        same = {
            d: _split_of(kept_settings(folder), d) == _split_of(study.config, d)
            for d in kept["dataset"].unique()
        }
        stays &= kept["dataset"].map(same).to_numpy(dtype=bool)
        fresh = pd.concat([kept[stays], fresh], ignore_index=True)
        sources = before["sources"] | sources
        origins = _joined(before["origins"], origins)
    _write(folder, fresh, study, {"origins": origins, "sources": sources})
    return folder


def _stays(kept, fresh, before, now):
    again = pd.MultiIndex.from_frame(kept[_PLACE]).isin(pd.MultiIndex.from_frame(fresh[_PLACE]))
    # What was kept may be of settings spelt in two ways, known to be the same.
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
    """Return the origins of both, each once, with the largest number of jobs seen."""
    known = {}
    # Files of jobs that were kept before may still be there: they must not count twice.
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
        SETTINGS: yaml.safe_dump(config, sort_keys=True, allow_unicode=True),
        PROVENANCE: json.dumps(provenance, indent=1, sort_keys=True) + "\n",
    }
    for name, content in contents.items():
        write_whole(folder / name, content)


def read_kept(folder):
    """Return the operating points of a kept rerun, with all columns of `records.COLUMNS`."""
    path = Path(folder) / POINTS
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=["NA"])
    if lacking := [name for name in KEPT if name not in frame]:
        raise records.RecordError(
            f"the points in {path} lack the columns {lacking}. Take the file from the repository "
            "again, or rerun the study and keep it."
        )
    for name in KEPT:
        if records.COLUMNS[name] != "string":  # Python's own reading keeps the last bit
            frame[name] = frame[name].map(float, na_action="ignore")
    return records.table(frame)


def kept_settings(folder):
    """Return the settings of the study that a kept rerun is of."""
    return read_yaml(Path(folder) / SETTINGS)


def kept_provenance(folder):
    """Return {"origins": what the points were made with, "sources": what of}."""
    return json.loads((Path(folder) / PROVENANCE).read_text(encoding="utf-8"))


def kept_studies(root="."):
    """Return {study: folder} of all kept reruns, in the order of their names."""
    found = sorted(Path(root, FOLDER).glob(f"*/{POINTS}"))
    return {path.parent.name: path.parent for path in found}


KEY = ("dataset", "costs", "method", "run", "fit", "stage")
UNCOMPARED = (*(name for name, column in records.POINTS.items() if column.clock), "format_version")
# On another platform, or with other versions, sums may end in other last bits.
TOLERANCE = 1e-9


class RerunError(BudgetlearnError, ValueError):
    """Results that a rerun was expected to give again, and did not."""


def stored_points(folder, fresh):
    """Return the file of operating points in the folder of an earlier run."""
    if folder is None:
        raise RerunError(
            "rerun_check compares with stored results: name their folder, as in "
            "snakemake --cores 2 rerun_check --config stored=earlier/results/default"
        )
    if Path(folder).resolve() == Path(fresh).resolve():
        raise RerunError(
            f"{folder} is where this study's own results are: move the stored results elsewhere "
            "(mv results/default stored), so that a fresh run can be compared with them."
        )
    path = Path(folder) / "points.parquet"
    if not path.is_file():
        raise RerunError(f"{folder} was expected to hold points.parquet, and does not.")
    return str(path)


def tolerance(fresh, stored):
    """Return the relative distance that numbers may have, 0 where both have one same platform."""
    # Of several it is not known which jobs ran where.
    platforms = _platforms(fresh)
    return 0.0 if len(platforms) == 1 and platforms == _platforms(stored) else TOLERANCE


def _platforms(origins):
    """Return processors, BLAS, threads and versions, whatever number of cores, code and effort."""
    others = ("commit", "kernels", *records.SUMMED)
    plain = [one | {"machine": one.get("machine", "").partition(",")[0]} for one in origins]
    return {tuple(sorted((k, v) for k, v in one.items() if k not in others)) for one in plain}


def differences(fresh, stored, within=0.0):
    """List the differences of two sets of operating points above a relative distance.

    The frame has one row for each difference: `KEY`, column, fresh, stored. Of a point that only
    one side has every value differs: it is missing on the other.
    """
    fresh, stored = (
        frame.drop(columns=list(UNCOMPARED)).set_index(list(KEY)) for frame in (fresh, stored)
    )
    for name, frame in (("fresh", fresh), ("stored", stored)):
        if not frame.index.is_unique:
            raise RerunError(f"the {name} results have two operating points of one place.")
        # Arrays have no == of their own; in 32 bits the last one is more than `TOLERANCE`.
        frame["acquisition_rates"] = frame["acquisition_rates"].map(tuple, na_action="ignore")
    fresh, stored = fresh.align(stored)
    numbers = fresh.select_dtypes("number").columns
    near = np.isclose(fresh[numbers], stored[numbers], rtol=within, atol=0, equal_nan=True)
    fresh[numbers] = fresh[numbers].mask(near, stored[numbers])
    found = fresh.compare(stored, result_names=("fresh", "stored"))
    found = found.stack(0, future_stack=True).dropna(how="all")  # noqa: PD013, of two levels
    return found.rename_axis([*KEY, "column"]).reset_index()


def check_rerun(study, fresh, stored):
    """Compare the operating points in two files, and return what was compared, in a sentence.

    Settings tried for seconds left after the tries are not compared: the machine decides how many.
    """
    within = tolerance(records.origins_of(fresh), records.origins_of(stored))
    points, earlier = (
        points[~study.beyond_tries(points)] for points in map(records.read, (fresh, stored))
    )
    found = differences(points, earlier, within)
    how = f"within {within:g} relative (platforms differ)" if within else "exactly"
    if len(found):
        raise RerunError(
            f"{len(found)} numbers of {fresh} are not those of {stored}, compared {how}. "
            f"The first of them:\n{found.head(10).to_string(index=False)}"
        )
    return f"All {len(points)} operating points of {fresh} are those of {stored}, compared {how}."
