"""The share of the jobs' time that is fitting and predicting."""

from types import SimpleNamespace

import pytest

from budgetlearn.benchmark import records
from budgetlearn.benchmark.usage import job_seconds, usage_line, working_seconds


def rows():
    common = {"dataset": "wine", "costs": "unit", "method": "m", "run": 0}
    return [
        {**common, "fit": fit, "stage": stage, "fit_seconds": 3.0 + fit, "predict_seconds": 0.5}
        for fit in range(2)
        for stage in range(3)
    ]


def study_in(folder):
    cells = [("wine", "unit", "m"), ("wine", "unit", "msb")]
    return SimpleNamespace(folder=str(folder), cells=cells)


def usage(folder, *parts, seconds):
    path = folder.joinpath("usage", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["s\th:m:s\tmax_rss", *(f"{each}\t0:00:01\t100" for each in seconds)]
    path.write_text("\n".join(lines) + "\n")


def test_each_fit_counts_once_and_each_prediction():
    assert working_seconds(records.table(rows())) == pytest.approx(3 + 4 + 6 * 0.5)


def test_only_jobs_of_the_study_count(tmp_path):
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[20.5])
    usage(tmp_path, "msb_sequence", "wine", "unit", "msb", "l1", "0.tsv", seconds=[4.5])
    usage(tmp_path, "fit", "wine", "unit", "of_an_earlier_study", "0.tsv", seconds=[1000])
    assert job_seconds(study_in(tmp_path)) == 25


def test_the_share_is_told(tmp_path):
    assert usage_line(study_in(tmp_path)) == ""
    records.write(rows(), tmp_path / "points.parquet")
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[20])
    assert "worked for 20 s, of which 50% were" in usage_line(study_in(tmp_path))
