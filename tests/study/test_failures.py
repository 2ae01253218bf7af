"""Runs without a result: tried again when that can help, and told at the end."""

from types import SimpleNamespace

import pytest

from budgetbench.study.failures import attempt, closing_message, keep_failures

OUTPUT = "results/probe/points/wine/random/msb/0.parquet"
CONFIG = {"study": "probe", "time_limit": 10, "memory_limit": None, "retry_failed": False}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def keep(status, number=0, config=CONFIG):
    keep_failures(config, OUTPUT, number, [(0, "ok"), (1, status), (1, status)])


def test_a_job_that_never_failed_leaves_nothing(tmp_path):
    keep("ok")
    keep("partial: the path ends at penalty 3 of 100")  # a result; the next call has no better one
    assert not list(tmp_path.iterdir())
    assert attempt(CONFIG, OUTPUT) == 0


@pytest.mark.parametrize("status", ["failed: ValueError: x", "died: SIGSEGV"])
def test_what_failed_is_tried_again_until_it_does_not(status):
    keep(status)
    assert attempt(CONFIG, OUTPUT) == 1
    keep(status, 1)
    assert attempt(CONFIG, OUTPUT) == 2
    keep("ok", 2)
    assert attempt(CONFIG, OUTPUT) == 2


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
        ("memory: 10 MB", {"retry_failed": True}, True),
    ],
)
def test_what_went_over_a_limit_is_tried_again_under_a_higher_one(status, changes, again):
    config = CONFIG | {"memory_limit": 20}
    keep(status, config=config)
    assert attempt(config | changes, OUTPUT) == again


def test_the_last_word_names_every_run_of_the_study():
    study = SimpleNamespace(
        config=CONFIG,
        cells=[("wine", "random", "msb"), ("wine", "random", "logitb")],
        chunks=["0"],
        points_file=lambda *cell: OUTPUT.replace("msb/0", f"{cell[2]}/{cell[3]}"),
    )
    assert closing_message(study) == ""
    keep("failed: ValueError: x")
    told = closing_message(study)
    assert "1 run has no result" in told
    assert "msb on wine, random costs, run 1: failed: ValueError: x" in told
    assert "retry_failed=true" in told
