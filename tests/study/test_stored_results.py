"""Kept reruns: written small, read whole, never mixed of two settings."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetbench.datasets import load_dataset
from budgetbench.study import records, stored_results
from budgetbench.study.experiment import run_method
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml
from tests.factories import make_points, make_study

ROOT = Path(__file__).resolve().parents[2]


def write(study, points, prices="same", commit="abc", corrected=None, **settings):
    """Write a study's points a file for each data set and method, as its jobs do."""
    for (dataset, costs, method), part in points.groupby(["dataset", "costs", "method"]):
        name = f"the settings of {method} on {dataset}"
        own = np.atleast_1d(settings.get(method, "same")).tolist()
        sources = {name: own, f"the data of {dataset}": [str(dataset == corrected)]}
        sources |= {} if costs == "random" else {f"the {costs} prices of {dataset}": [prices]}
        place = study.points_file(dataset, costs, method, 0)
        records.write(part, place, [{"commit": commit, "jobs": 1, "seconds": 2.0}], sources)


def kept_differences(fresh, kept, within=0.0):
    """Return the differences of what is kept of two frames."""
    fresh, kept = (records.table(frame[list(stored_results.KEPT)]) for frame in (fresh, kept))
    return stored_results.differences(fresh, kept, within)


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_study(2)


def test_what_is_kept_comes_back_to_the_last_bit(study, tmp_path):
    points = records.table(make_points(n_runs=2))
    write(study, points)
    folder = stored_results.keep(study)
    assert stored_results.kept_studies() == {"generated": folder}
    assert kept_differences(points, stored_results.read_kept(folder)).empty
    settings, provenance = stored_results.kept_facts(folder)
    assert settings["seed"] == study.seed
    assert not {"datasets", "runs", "runs_per_job"} & settings.keys()  # the points tell them
    assert provenance["origins"][0]["commit"] == "abc"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    stored_results.keep(study)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_kept_file_that_lacks_a_column_is_refused(study):
    write(study, records.table(make_points(n_runs=2)))
    path = stored_results.keep(study) / stored_results.POINTS
    pd.read_csv(path).drop(columns="test_score").to_csv(path, index=False)
    with pytest.raises(records.RecordError, match=r"lack the columns \['test_score'\]\. Take the"):
        stored_results.read_kept(path.parent)


def test_runs_are_added_and_those_of_other_settings_replaced(study):
    points = records.table(make_points(n_runs=3))
    write(study, points[points["run"] < 2])
    stored_results.keep(study)
    write(study, points[points["run"] == 2], logitb=["changed", "same"], commit="later")
    kept = stored_results.read_kept(stored_results.keep(study))
    runs = kept.groupby("method")["run"].unique().map(sorted).to_dict()
    assert runs["msb"] == [0, 1, 2]
    assert runs["logitb"] == [2]
    # What a call has no results of stays as it was; all is sorted.
    for path in map(Path, study.points_files):
        if "logitb" in path.parts:
            path.unlink()
    folder = stored_results.keep(study)
    places = stored_results.read_kept(folder)[["dataset", "costs", "method", "run", "stage"]]
    assert places.equals(places.sort_values([*places]))
    assert len(places) == len(kept)
    origins, sources = stored_results.kept_facts(folder)[1].values()
    assert [(one["commit"], one["jobs"]) for one in origins] == [("abc", 8), ("later", 8)]
    assert sources["the settings of logitb on wine"] == ["changed", "same"]


def test_runs_of_settings_spelt_in_two_ways_stay(study):
    """Once parameters were renamed, kept runs name the hash of either spelling."""
    points = records.table(make_points(n_runs=3))
    write(study, points[points["run"] < 2], logitb=["old spelling", "new spelling"])
    stored_results.keep(study)
    write(study, points[points["run"] == 2], logitb=["new spelling"])
    kept = stored_results.read_kept(stored_results.keep(study))
    assert sorted(kept.loc[kept["method"] == "logitb", "run"].unique()) == [0, 1, 2]


def kept_runs(study):
    """Keep a study; return the runs that are kept then, by kind of costs and data set."""
    kept = stored_results.read_kept(stored_results.keep(study))
    return kept.groupby(["costs", "dataset"])["run"].unique().map(sorted).to_dict()


def test_runs_beyond_the_plan_that_earlier_settings_left_are_not_kept(study):
    points = records.table(make_points(n_runs=4))
    write(study, points[points["run"] < 2], msb="now")
    earlier = make_study(4)
    earlier.config["runs_per_job"] = 2
    late = points[(points["run"] >= 2) & (points["dataset"] == "wine")]
    stale = earlier.points_file("wine", "random", "msb", 1)
    records.write(late[late["method"] == "msb"], stale, sources={"the settings of msb on wine": ""})
    assert kept_runs(study)["random", "wine"] == [0, 1]


def test_runs_at_other_prices_or_of_other_data_do_not_stay(study):
    study.config["costs"].append("given")
    points = make_points(n_runs=3)
    points = records.table(pd.concat([points, points.assign(costs="given")], ignore_index=True))
    write(study, points[points["run"] < 2])
    stored_results.keep(study)
    write(study, points[points["run"] == 2], prices="raised", corrected="breast_cancer")
    runs = kept_runs(study)
    assert runs["random", "wine"] == [0, 1, 2]
    assert runs["given", "wine"] == runs["random", "breast_cancer"] == [2]


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ({"split": {"train": 50, "valid": 20, "test": "rest"}}, [2]),
        ({"by_dataset": {"wine": {"split": {"train": 0.5, "valid": 0.2, "test": 0.3}}}}, [0, 1, 2]),
    ],
)
def test_runs_of_other_splits_do_not_stay(study, change, others):
    points = records.table(make_points(n_runs=3))
    write(study, points[points["run"] < 2])
    stored_results.keep(study)
    study = make_study(2, **change)
    write(study, points[points["run"] == 2])
    assert kept_runs(study) == {("random", "wine"): [2], ("random", "breast_cancer"): others}


def test_without_results_nothing_is_kept(study):
    assert stored_results.keep(study) is None
    assert stored_results.kept_studies() == {}


# A study, a data set that needs no file, and a method: redone here, number by number.
REDONE = [
    ("gif-regression", "friedman1", "gif_regressor"),
    ("gif-text", "twonorm", "gif_trimmed_exponential"),
    ("gif-comments-features", "friedman1", "gif_regressor"),
]


@pytest.mark.filterwarnings("ignore:node_budget=")  # of 1 % of 1000 small trees: the paper's
@pytest.mark.parametrize(("name", "dataset", "method"), REDONE)
def test_a_kept_run_is_what_the_study_gives_today(name, dataset, method, tmp_path):
    config = read_yaml(ROOT / "config/config.yaml") | read_yaml(
        ROOT / f"config/studies/{name}.yaml"
    )
    study = Study.from_config(config, ROOT)
    data = load_dataset(dataset, folder=tmp_path)
    splits = draw_splits(data, [0], study.seed, study.sizes(dataset))
    costs = draw_costs(data, "unit", [0], study.seed)
    (run,) = iterate(data, splits, costs, "unit", study.seed)
    spec = study.spec(method, dataset)
    if "grid" in spec:  # of a large one the first settings are enough: none knows of another
        (first, values), *others = spec["grid"].items()
        spec = spec | {"grid": {first: values[:2], **dict(others)}}
    fresh = records.table(run_method(method, spec, run))
    kept = stored_results.read_kept(ROOT / stored_results.FOLDER / name)
    mine = (kept["dataset"] == dataset) & (kept["method"] == method) & (kept["run"] == 0)
    mine &= kept["setting"].isin(fresh["setting"])
    assert mine.sum() == len(fresh)
    # Versions and machines may end sums in other last bits.
    assert kept_differences(fresh, kept[mine], 1e-9).empty


def test_all_kept_reruns_are_small_and_readable():
    kept = stored_results.kept_studies(ROOT)
    assert {name for name, _, _ in REDONE} <= set(kept)
    size = sum(path.stat().st_size for path in (ROOT / stored_results.FOLDER).rglob("*.*"))
    assert size <= 10e6
    for folder in kept.values():
        points = stored_results.read_kept(folder)
        assert np.isfinite(points.loc[points["status"] == records.OK, "test_score"]).all()
        assert stored_results.kept_facts(folder)[1]["origins"]
