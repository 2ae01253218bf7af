"""The line that tells how many fits are done and how long the others may take."""

from types import SimpleNamespace

import pytest

from budgetbench.study import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    return clock


def watched(fits):
    """Return a filter and the lines that it has said; pass records to it by `tell`."""
    lines = []
    return progress.Progress(fits, lines.append), lines


def tell(one, **record):
    assert one.filter(SimpleNamespace(**record))


def ran(one, clock, seconds, *jobs):
    """Let jobs run beside each other, for so many seconds."""
    tell(one, event="job_started", jobs=list(jobs))
    clock.now += seconds
    for job in jobs:
        tell(one, event="job_finished", job_id=job)
    tell(one, event="progress", done=1, total=9)


def test_the_time_left_is_by_what_jobs_of_the_same_method_took(clock):
    kinds = {1: "slow", 2: "slow", 3: "quick", 4: "quick", 5: "slow", 6: "quick"}
    one, lines = watched(kinds)
    ran(one, clock, 400, 1, 2)
    assert lines == ["fits 2 of 6, about 13 min left"]  # four as slow as these, two at a time
    ran(one, clock, 100, 3, 4)
    assert lines[1] == "fits 4 of 6, about 4 min left"  # 400 and 100 s, two at a time
    ran(one, clock, 400, 5)
    assert lines[2] == "fits 5 of 6, about 1 min left"
    ran(one, clock, 100, 6)
    assert lines[3] == "fits 6 of 6"


def test_methods_that_did_not_run_yet_are_not_taken_for_the_heaviest(clock):
    one, lines = watched({1: "slow", 2: "quick", **dict.fromkeys(range(3, 13), "unknown")})
    ran(one, clock, 4, 2)
    assert lines == []  # at most a line in ten seconds
    ran(one, clock, 900, 1)
    assert lines == ["fits 2 of 12, about 10 min left"]  # of 60 s each, not of 452


def test_other_jobs_and_messages_change_nothing(clock):
    one, lines = watched({1: "m"})
    ran(one, clock, 60, 7)
    tell(one)
    tell(one, event="job_info", jobid=1)
    assert lines == []
    tell(one, event="job_finished", job_id=1)  # of a submission, whose start is not told
    tell(one, event="progress", done=1, total=9)
    assert lines == ["fits 1 of 1"]


def test_the_end_is_told_however_soon_and_once(clock):
    one, lines = watched({1: "m", 2: "m"})
    ran(one, clock, 1, 1)
    ran(one, clock, 1, 2)
    assert lines == ["fits 2 of 2"]
    ran(one, clock, 60, 3)
    assert lines == ["fits 2 of 2"]
