"""The share of the jobs' time that is fitting and predicting."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from budgetbench.study import records
from budgetbench.study.kept_jobs import (
    doubt_line,
    job_usage,
    minutes_for,
    usage_line,
    working_seconds,
)


def rows():
    common = {"dataset": "wine", "costs": "unit", "method": "m", "run": 0}
    return [
        common
        | {"fit": fit, "stage": stage, "fit_seconds": 3.0 + fit}
        | {"predict_seconds": 0.5 * (stage + 1), "added_seconds": 0.5}
        for fit in range(2)
        for stage in range(3)
    ]


def study_in(folder):
    cells = [("wine", "unit", "m"), ("wine", "unit", "msb")]
    config = {"cluster": {"memory": 1500, "minutes": 3}}
    runs = {"0": [0, 1], "1": [2], "2": []}  # the last of a study with more runs
    return SimpleNamespace(folder=str(folder), cells=cells, config=config, runs_of=runs.get)


def usage(folder, *parts, seconds, held=100):
    path = folder.joinpath("usage", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["s\th:m:s\tmax_rss", *(f"{each}\t0:00:01\t{held}" for each in seconds)]
    path.write_text("\n".join(lines) + "\n")


def test_each_fit_counts_once_and_each_prediction():
    assert working_seconds(records.table(rows())) == pytest.approx(3 + 4 + 6 * 0.5)


def test_only_jobs_of_the_study_count(tmp_path):
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[20.5])
    usage(tmp_path, "msb_sequence", "wine", "unit", "msb", "l1", "1.tsv", seconds=[4.5])
    usage(tmp_path, "fit", "wine", "unit", "of_an_earlier_study", "0.tsv", seconds=[1000])
    assert job_usage(study_in(tmp_path)) == [(20.5, 100, 2), (4.5, 100, 1)]


def test_a_cluster_is_asked_for_what_earlier_jobs_took_and_never_for_more(tmp_path):
    study, folder = study_in(tmp_path), tmp_path / "usage/fit/wine/unit/m"
    assert minutes_for(study, 4, folder) == 4 * 3
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0])  # two runs
    usage(tmp_path, "fit", "wine", "unit", "m", "2.tsv", seconds=[1000])  # of no run any more
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 12 / 60)
    usage(tmp_path, "fit", "wine", "unit", "m", "1.tsv", seconds=[900])
    assert minutes_for(study, 4, folder) == 4 * 3


def test_share_memory_and_time_are_told(tmp_path):
    assert usage_line(study_in(tmp_path)) == ""
    records.write(rows(), tmp_path / "points.parquet")
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[18], held=1234.4)
    usage(tmp_path, "fit", "wine", "unit", "m", "1.tsv", seconds=[2], held="NA")
    usage(tmp_path, "fit", "wine", "unit", "m", "2.tsv", seconds=[900], held=5000)
    line = usage_line(study_in(tmp_path))
    assert "worked for 20 s, of which 50% were" in line
    assert "up to 1,234 MB each (a cluster is asked for 1,500)" in line
    assert "up to 0.1 min a run (asked for 3)" in line  # 18 s for two runs


def test_a_share_that_older_results_do_not_know_is_not_told(tmp_path):
    records.write(
        records.table(rows()).assign(added_seconds=float("nan")), tmp_path / "points.parquet"
    )
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[18])
    assert "worked for 18 s. They held" in usage_line(study_in(tmp_path))


def test_memory_that_snakemake_did_not_see_is_told(tmp_path):
    records.write(rows(), tmp_path / "points.parquet", [{"numpy": "2.0", "peak_mb": 6304}])
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[18], held=1883)
    assert "They held up to 6,304 MB each" in usage_line(study_in(tmp_path))


def test_doubtful_rivals_are_told_on_the_screen(tmp_path):
    study = study_in(tmp_path)
    assert doubt_line(study) == ""
    table = Path(study.folder, "tables", "straw_men.csv")
    table.parent.mkdir(parents=True)
    table.write_text("dataset,costs,method,below\n")
    assert doubt_line(study) == ""
    table.write_text(
        "dataset,costs,method,below\nwine,unit,logitb,constant\nwine,unit,astc,default\n"
    )
    assert doubt_line(study) == (
        "Doubtful rivals, in all of their runs: logitb on wine (no better than the free constant), "
        "astc on wine (worse tuned than untuned). See “What it took”."
    )
