"""What every job starts with: its log, its threads, its runs; and what it writes at the end."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from budgetbench.study import jobs, records
from budgetbench.study.failures import failure_file
from budgetbench.study.runs import draw_costs, draw_splits

CONFIG = {"study": "own", "time_limit": 5, "memory_limit": None, "retry_failed": False}


@pytest.fixture(autouse=True)
def watched(monkeypatch):
    """How often a job asked to go with its caller (this process shall not)."""
    calls = []
    monkeypatch.setattr(jobs, "die_with_caller", lambda: calls.append(1))
    return calls


def test_a_job_writes_its_log_and_holds_its_threads(tmp_path, watched):
    path = tmp_path / "log.txt"
    path.write_text("of an earlier call")
    log = logging.getLogger("budgetlearn")
    before = list(log.handlers)
    with jobs.job_log(path, threads=1) as given:
        given.info("%d of %d", 1, 2)
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
    assert given is log
    assert log.handlers == before
    assert watched == [1]
    (line,) = path.read_text().splitlines()
    assert line.endswith(" 1 of 2")
    log.info("after the job")
    assert "after" not in path.read_text()


def test_what_ends_a_job_is_in_its_log_and_on_the_screen(tmp_path, capsys):
    path = tmp_path / "log.txt"
    before = list(logging.getLogger("budgetlearn").handlers)
    with pytest.raises(ValueError, match="no such luck"), jobs.job_log(path):
        raise ValueError("no such luck")
    assert "Traceback" in path.read_text()
    assert capsys.readouterr().err == "ValueError: no such luck\n"
    assert logging.getLogger("budgetlearn").handlers == before


@pytest.fixture
def files(wine, tmp_path):
    wine.save(tmp_path / "wine.parquet")
    draw_splits(wine, [2, 3], 7, [0.6, 0.2, 0.2]).to_parquet(tmp_path / "split.parquet")
    draw_costs(wine, "random", [2, 3], 7).to_csv(tmp_path / "costs.csv", index=False)
    names = {"data": "wine.parquet", "split": "split.parquet", "costs": "costs.csv"}
    return SimpleNamespace(**{key: str(tmp_path / name) for key, name in names.items()})


def test_runs_come_from_the_files_of_a_job(wine, files):
    runs = list(jobs.load_runs(files, SimpleNamespace(costs="random"), 7))
    assert [(run.number, run.costs_kind, run.study_seed) for run in runs] == [
        (2, "random", 7),
        (3, "random", 7),
    ]
    drawn = draw_costs(wine, "random", [2, 3], 7)
    for run in runs:
        assert run.costs.costs.tolist() == drawn[drawn["run"] == run.number]["cost"].tolist()
        assert sum(len(part[1]) for part in (run.train, run.valid, run.test)) == 178


def test_runs_without_prices_are_at_unit_costs(files):
    del files.costs
    runs = list(jobs.load_runs(files, SimpleNamespace(), 7))
    assert [run.costs_kind for run in runs] == ["unit", "unit"]
    assert all((run.costs.costs == 1).all() for run in runs)


def test_limits_are_those_of_the_study():
    assert jobs.limits_of(CONFIG) == {"time_limit": 5, "memory_limit": None}


def test_points_are_written_with_their_origin_and_failures_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"dataset": "wine", "costs": "unit", "method": "voc"}
    rows = [{**names, "run": 4, "test_score": 0.5}, {**names, "run": 5, "status": "died: x"}]
    output = "results/own/points/wine/unit/voc/0.parquet"
    jobs.write_points(rows, output, 1, CONFIG, {"the data of wine": "ab"})
    frame = records.read(output)
    assert frame["run"].tolist() == [4, 5]
    assert np.isnan(frame["test_score"][1])
    (origin,) = records.origins_of(output)
    assert origin["jobs"] == 1
    assert {"commit", "machine", "python", "seconds", "peak_mb"} <= origin.keys()
    kept = failure_file(CONFIG, output).read_text()
    assert '"attempt": 1' in kept
    assert "died: x" in kept
    assert records.sources_of(output) == {"the data of wine": ["ab"]}
    jobs.write_points(rows[:1], output, 2, CONFIG, {}, [{"python": "3.1", "jobs": 3}])
    assert records.origins_of(output) == [{"python": "3.1", "jobs": 3}]
    assert "died" not in failure_file(CONFIG, output).read_text()
