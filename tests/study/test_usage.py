"""The minutes that a cluster is asked for."""

from types import SimpleNamespace

import pytest

from budgetbench.study.job_traces import minutes_for


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


def test_a_cluster_is_asked_for_what_earlier_jobs_took_and_never_for_more(tmp_path):
    study, folder = study_in(tmp_path), tmp_path / "usage/fit/wine/unit/m"
    assert minutes_for(study, 4, folder) == 4 * 3
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0])  # two runs
    usage(tmp_path, "fit", "wine", "unit", "m", "2.tsv", seconds=[1000])  # of no run any more
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 12 / 60)
    (folder / "1.tsv").write_text("")  # as a full disk leaves it
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 12 / 60)
    usage(tmp_path, "fit", "wine", "unit", "m", "1.tsv", seconds=[900])
    assert minutes_for(study, 4, folder) == 4 * 3
