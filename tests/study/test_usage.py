"""The minutes that a cluster is asked for."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from budgetbench.study.job_traces import minutes_for

OUTPUTS = {"fit": "points", "msb_importance": "importance"}


def study_in(folder):
    cells = [("wine", "unit", "m"), ("wine", "unit", "msb")]
    config = {"cluster": {"memory": 1500, "minutes": 3}}
    return SimpleNamespace(folder=str(folder), cells=cells, config=config)


def usage(folder, *parts, seconds, runs=0, held=100, spent=2.0):
    path = folder.joinpath("usage", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["s\th:m:s\tmax_rss", *(f"{each}\t0:00:01\t{held}" for each in seconds)]
    path.write_text("\n".join(lines) + "\n")
    if runs:
        output = folder / OUTPUTS[parts[0]] / Path(*parts[1:])
        output.parent.mkdir(parents=True, exist_ok=True)
        table = pd.DataFrame({"run": [*range(runs)] * 2, "fit": 0})  # two rows of each fit
        table = table.assign(fit_seconds=spent - 2, added_seconds=1.0)
        if parts[0] == "msb_importance":
            table.to_csv(output.with_suffix(".csv"))
        else:
            table.to_parquet(output.with_suffix(".parquet"))


def test_a_cluster_is_asked_for_what_earlier_jobs_took_and_never_for_more(tmp_path):
    study, folder = study_in(tmp_path), tmp_path / "usage/fit/wine/unit/m"
    assert minutes_for(study, 4, folder) == 4 * 3
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0], runs=2)
    usage(tmp_path, "fit", "wine", "unit", "m", "2.tsv", seconds=[1000])  # its output was lost
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 12 / 60)
    (folder / "1.tsv").write_text("")  # as a full disk leaves it
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 12 / 60)
    # Of one run, as when `runs` was smaller than now.
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0], runs=1)
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 24 / 60)
    # As of a job that took over what one that was killed had kept.
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[0.3], runs=2, spent=10.0)
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 10 / 60)
    usage(tmp_path, "fit", "wine", "unit", "m", "1.tsv", seconds=[900], runs=2)
    assert minutes_for(study, 4, folder) == 4 * 3
    usage(tmp_path, "msb_importance", "wine", "msb", "0.tsv", seconds=[12.0], runs=2)
    folder = tmp_path / "usage/msb_importance/wine/msb"
    assert minutes_for(study, 4, folder) == pytest.approx(4 * 2.5 * 6 / 60)
