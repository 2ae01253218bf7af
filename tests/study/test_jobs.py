"""What every job starts with: its log, its threads, its runs; and what it writes at the end."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from threadpoolctl import threadpool_info

from budgetbench.study import isolation, jobs, records
from budgetbench.study.job_traces import failure_file
from budgetbench.study.runs import draw_costs, draw_splits

CONFIG = {"study": "own", "time_limit": 5, "memory_limit": None, "retry_failed": False}
OUTPUT = "results/own/points/wine/unit/voc/0.parquet"


def job(memory=1000, attempt=1, **config):
    resources = Resources(mem_mb=memory, attempt=attempt)
    how = {"resources": resources, "threads": 3}
    return SimpleNamespace(config=CONFIG | config, output=[OUTPUT], **how)


class Resources(SimpleNamespace):
    """Resources of a job, as Snakemake gives them to a script."""

    def get(self, name, default=None):
        return getattr(self, name, default)


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
    # A run of the prices, a row and all rows of a run, then the whole file.
    for path, old, new, said in (
        (files.costs, b"2,", b"x,", "line 2"),
        (files.costs, b"\n2,ash,[^\n]*", b"", "KeyError.*'ash'"),
        (files.costs, b"\n3,[^\n]*", b"", r"lacks the costs of run 3\."),
        (files.split, b"PAR1", b"x,", "as splits"),
    ):
        content = Path(path).read_bytes()
        Path(path).write_bytes(re.sub(old, new, content))
        with pytest.raises(records.RecordError, match=f"{said}.* Delete the file and run"):
            next(jobs.load_runs(files, SimpleNamespace(costs="random"), 7))
        Path(path).write_bytes(content)


def test_runs_without_prices_are_at_unit_costs(files):
    del files.costs
    runs = list(jobs.load_runs(files, SimpleNamespace(), 7))
    assert [run.costs_kind for run in runs] == ["unit", "unit"]
    assert all((run.costs.costs == 1).all() for run in runs)


def test_limits_are_those_of_the_study():
    assert jobs.limits_of(job()) == {"time_limit": 5, "memory_limit": None}
    assert jobs.limits_of(job(memory_limit=70))["memory_limit"] == 70


@pytest.fixture
def submitted(monkeypatch, tmp_path):
    """Be part of a submission that is repeated twice."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(isolation.CALLER, "1")
    for name in (isolation._RETRIES, isolation._SUBMITTED):
        monkeypatch.setenv(name, "")
    isolation.announce_caller(2)
    isolation.announce_caller(submitted=True)


def caller(command, held):
    """Return a process as psutil has it, which holds so many MB; None: it is of another user."""

    def info():
        if held is None:
            raise psutil.AccessDenied
        return SimpleNamespace(uss=held * 1e6)

    return SimpleNamespace(cmdline=command.split, memory_full_info=info)


def test_a_run_in_a_submission_may_take_the_memory_of_its_job(submitted, monkeypatch):
    assert 100 < jobs.limits_of(job())["memory_limit"] <= 950
    assert 1100 < jobs.limits_of(job(2000))["memory_limit"] <= 1900
    assert jobs.limits_of(job(memory_limit=70))["memory_limit"] == 70
    # Without what Snakemake's own processes hold.
    held = {"python -m snakemake": 100, "snakemake -j 1": 50, "slurmstepd": 700, "snakemake": None}
    parents = [caller(*each) for each in held.items()]
    monkeypatch.setattr("psutil.Process", lambda: SimpleNamespace(parents=lambda: parents))
    assert jobs.limits_of(job())["memory_limit"] == pytest.approx(0.95 * 1000 - 150)
    assert jobs.limits_of(job(memory_limit=900))["memory_limit"] == pytest.approx(800)
    assert jobs.limits_of(job(100))["memory_limit"] == 1


def test_a_job_that_was_too_small_fails_until_its_last_attempt(submitted):
    rows = [(0, "ok"), (1, "memory: stopped at 900 MB")]
    for attempt in (1, 2):
        with pytest.raises(jobs.JobMemoryError, match="run 1 needs more memory than the 1000 MB"):
            jobs.close_job(job(attempt=attempt), rows)
    jobs.close_job(job(attempt=3), rows)
    assert '"job_memory": 1000' in failure_file(CONFIG, OUTPUT).read_text()
    jobs.close_job(job(memory_limit=70), rows)  # a limit of the user's own: more would not help
    once = job()
    del once.resources.attempt  # a job that Snakemake does not start again
    jobs.close_job(once, rows)
    jobs.close_job(job(), rows[:1])
    assert not failure_file(CONFIG, OUTPUT).exists()


def test_points_are_written_with_their_origin_and_failures_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"dataset": "wine", "costs": "unit", "method": "voc"}
    rows = [{**names, "run": 4, "test_score": 0.5}, {**names, "run": 5, "status": "memory: x"}]
    jobs.write_points(rows, job(), {"the data of wine": "ab"})
    frame = records.read(OUTPUT)
    assert frame["run"].tolist() == [4, 5]
    assert np.isnan(frame["test_score"][1])
    (origin,) = records.origins_of(OUTPUT)
    assert origin["jobs"] == 1
    assert {"commit", "machine", "python", "seconds", "peak_mb"} <= origin.keys()
    assert origin["threads"] == "3"
    kept = failure_file(CONFIG, OUTPUT).read_text()
    assert "memory: x" in kept
    assert '"job_memory": null' in kept
    assert records.sources_of(OUTPUT) == {"the data of wine": ["ab"]}
    jobs.write_points(rows[:1], job(), {}, [{"python": "3.1", "jobs": 3}])
    assert records.origins_of(OUTPUT) == [{"python": "3.1", "jobs": 3}]
    assert not failure_file(CONFIG, OUTPUT).exists()
