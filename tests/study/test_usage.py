"""The minutes that a cluster is asked for."""

import math
from pathlib import Path

import pandas as pd
import pytest

from budgetbench.study.job_traces import Minutes, minutes_for

OUTPUTS = {"fit": "points", "msb_importance": "importance"}


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


def test_a_cluster_is_asked_for_what_earlier_jobs_took(tmp_path):
    folder = tmp_path / "usage/fit/wine/unit/m"
    assert minutes_for(4, folder) == math.inf
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0], runs=2)
    usage(tmp_path, "fit", "wine", "unit", "m", "2.tsv", seconds=[1000])  # its output was lost
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 12 / 60)
    (folder / "1.tsv").write_text("")  # as a full disk leaves it
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 12 / 60)
    # Of one run, as when `runs` was smaller than now.
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[24.0], runs=1)
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 24 / 60)
    # As of a job that took over what one that was killed had kept.
    usage(tmp_path, "fit", "wine", "unit", "m", "0.tsv", seconds=[0.3], runs=2, spent=10.0)
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 10 / 60)
    usage(tmp_path, "fit", "wine", "unit", "m", "1.tsv", seconds=[900], runs=2)
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 450 / 60)
    usage(tmp_path, "msb_importance", "wine", "msb", "0.tsv", seconds=[12.0], runs=2)
    folder = tmp_path / "usage/msb_importance/wine/msb"
    assert minutes_for(4, folder) == pytest.approx(4 * 2.2 * 6 / 60)
    # A submission: its start, each timed job, and once for each chunk what no job has shown yet.
    jobs = [Minutes(0.1), *[Minutes(0.4)] * 3, *[Minutes(0, frozenset({("wine 0", 5)}))] * 2]
    assert [*map(str, jobs[:2])] == ["1", "2"]
    assert sum(jobs) == math.ceil(0.75 + 0.1 + 3 * 0.4 + 5)
    other = Minutes(0, frozenset({("wine 1", 4.5)}))
    assert sum([*jobs, other]) == math.ceil(0.75 + 1.3 + 9.5)
