"""What a report says about a study beside its results, gathered from the workflow's files."""

import itertools
from pathlib import Path

import pandas as pd

from ..benchmark import provenance
from ..benchmark.deviations import read_reasons, tables_left_out
from ..benchmark.published import read_published
from ..benchmark.scores import SCORES
from ..benchmark.study import PUBLISHED
from ..datasets import Dataset, read_prices
from .inside import inside_of
from .metadata import PROFILE_COLUMNS


def metadata_of(study, dataset_paths, cost_paths, root, origins=()):
    """Return the metadata of a study, as `budgetlearn.report.write_report` takes them.

    Parameters
    ----------
    study : Study
        The study.
    dataset_paths : iterable of path-like
        Its prepared data sets.
    cost_paths : iterable of path-like
        Its cost tables, at …/<dataset>/<costs>/<chunk>.csv.
    root : path-like
        The project's folder, for the printed numbers.
    origins : list of dict, default=()
        What the operating points were made with, from `budgetlearn.benchmark.records.origins_of`.

    Returns
    -------
    dict
    """
    datasets = {data.id: data for data in map(Dataset.load, dataset_paths)}
    return {
        "study": study.name,
        "title": study.config["title"],
        "methods": study.methods,
        "datasets": {name: _sheet(datasets[name], study) for name in study.datasets},
        "settings": _settings(study),
        "provenance": _provenance(study, origins),
        "profiles": _profiles(cost_paths),
        "expected": _expected(study),
        "published": _published(study, root),
        "stand_ins": study.config.get("stand_ins", {}),
        "reasons": read_reasons(Path(root) / PUBLISHED / "deviations.yaml"),
        "not_rerun": tables_left_out(Path(root) / PUBLISHED, study.published),
        "inside": inside_of(study, cost_paths),
    }


def _sheet(data, study):
    """Return the data sheet of one data set."""
    classes = None if data.class_names is None else len(data.class_names)
    return {
        "title": study.shown[data.id]["title"],
        "score": SCORES[data.task].name,
        "budget": study.budget(data.id),
        "rows": data.X.shape[0],
        "features": data.X.shape[1],
        "classes": classes,
        "licence": study.shown[data.id]["licence"],
        "citation": study.shown[data.id]["citation"],
        "sha256": data.sha256,
    }


def _settings(study):
    """Return what the study compared, in the order in which a reader asks."""
    config = study.config
    splits = {data: _split(study.sizes(data)) for data in study.datasets}
    own = config.get("by_dataset", {})
    overrides = {
        f"only on {d}": own[d]["overrides"] for d in splits if "overrides" in own.get(d, {})
    }
    profiles = {
        data: ", ".join(costs for name, costs in study.cases if name == data) for data in splits
    }
    return {
        "runs": config["runs"],
        "split": _same_or_each(splits),
        "cost profiles": _same_or_each(profiles),
        "seed": study.seed,
        **overrides,
        **({"left out": config["left_out"]} if "left_out" in config else {}),
    }


def _same_or_each(settings):
    """Return what all data sets share, or else the mapping."""
    return next(iter(settings.values())) if len(set(settings.values())) == 1 else settings


def _published(study, root):
    """Return the printed numbers that the study reruns; None where it reruns none."""
    paths = [Path(root) / name for name in study.published]
    return read_published(paths) if paths else None


def _split(sizes):
    """Return the sizes of a split in words."""
    if isinstance(sizes, str):
        return sizes
    if isinstance(sizes, dict):
        return f"{_split(sizes['per_class'])} of each class"
    return " / ".join(map(str, sizes))


def _provenance(study, origins):
    """Return what the results were made with, when they were made."""
    return {
        **provenance.summary(origins),
        "configuration hash": provenance.config_hash(study.settings),
        "study seed": study.seed,
    }


def _profiles(cost_paths):
    """Return all prices as one table, charges of cost groups left out."""
    frames = []
    for path in map(Path, cost_paths):
        kind, dataset = path.parts[-2], path.parts[-3]
        frames.append(read_prices(path).assign(dataset=dataset, costs=kind))
    return pd.concat(frames, ignore_index=True)[PROFILE_COLUMNS]


def _expected(study):
    """Return every (dataset, costs, method, run) that the study asks for."""
    runs = range(study.config["runs"])
    rows = [(*cell, run) for cell, run in itertools.product(study.cells, runs)]
    return pd.DataFrame(rows, columns=["dataset", "costs", "method", "run"])
