"""Runs without a result: tried again when that can help, and told at the end."""

from types import SimpleNamespace

import pytest

from budgetbench.study.job_traces import (
    closing_message,
    failure_file,
    is_repeated,
    keep_failures,
)

OUTPUT = "results/probe/points/wine/random/msb/0.parquet"
CONFIG = {
    "study": "probe",
    "time_limit": 10,
    "memory_limit": None,
    "retry_failed": False,
    "cluster": {"memory": 500, "minutes": 1},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def keep(status, config=CONFIG, job_memory=None):
    keep_failures(config, OUTPUT, [(0, "ok"), (1, status), (1, status)], job_memory)


def test_a_job_that_never_failed_leaves_nothing(tmp_path):
    keep("ok")
    keep("partial: the path ends at penalty 3 of 100")  # a result; the next call has no better one
    assert not list(tmp_path.iterdir())
    assert not is_repeated(CONFIG, OUTPUT)


@pytest.mark.parametrize("status", ["failed: ValueError: x", "died: SIGSEGV"])
def test_a_failed_job_is_repeated_until_it_succeeds_and_no_more(status):
    for _ in range(2):
        keep(status)
        assert is_repeated(CONFIG, OUTPUT)
    keep("ok")
    assert not is_repeated(CONFIG, OUTPUT)


@pytest.mark.parametrize(
    ("status", "changes", "again"),
    [
        ("timeout: 10 s", {}, False),
        ("timeout: 10 s", {"time_limit": 9}, False),
        ("timeout: 10 s", {"memory_limit": 100}, False),
        ("timeout: 10 s", {"time_limit": 11}, True),
        ("timeout: 10 s", {"time_limit": None}, True),
        ("timeout: 10 s", {"retry_failed": True}, True),
        ("memory: 10 MB", {"time_limit": 11}, False),
        ("memory: 10 MB", {"memory_limit": 21}, True),
        ("memory: 10 MB", {"cluster": {"memory": 900, "minutes": 1}}, False),
        ("memory: 10 MB", {"retry_failed": True}, True),
    ],
)
def test_a_run_over_a_limit_is_repeated_under_a_higher_one(status, changes, again):
    config = CONFIG | {"memory_limit": 20}
    keep(status, config=config)
    assert is_repeated(config | changes, OUTPUT) == again


@pytest.mark.parametrize(("memory", "again"), [(500, False), (1500, False), (1501, True)])
def test_a_run_over_the_memory_of_its_job_is_repeated_when_jobs_get_more(memory, again):
    keep("memory: stopped at 1400 MB", job_memory=1500)
    assert is_repeated(CONFIG | {"cluster": {"memory": memory, "minutes": 1}}, OUTPUT) == again


def test_the_closing_message_names_every_run_of_the_study():
    study = SimpleNamespace(
        config=CONFIG,
        cells=[("wine", "random", "msb"), ("wine", "random", "logitb")],
        chunks=["0"],
        points_file=lambda *cell: OUTPUT.replace("msb/0", f"{cell[2]}/{cell[3]}"),
    )
    assert closing_message(study) == ""
    keep("failed: ValueError: x")
    told = closing_message(study)
    assert "1 run did not complete" in told
    assert "msb on wine, random costs, run 1: failed: ValueError: x" in told
    assert "retry_failed=true" in told
    failure_file(CONFIG, OUTPUT).write_text("")  # as by a power cut
    assert is_repeated(CONFIG, OUTPUT)
    assert "run ?: died: results/" in closing_message(study)
