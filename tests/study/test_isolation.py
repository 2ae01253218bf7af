"""Work in a process of its own: what it yields comes back, and so does every way to die."""

import contextlib
import ctypes
import faulthandler
import logging
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest

from budgetbench.study import isolation
from budgetbench.study.isolation import isolated
from budgetlearn.parallel import Bar

ENDED = "its process was killed by"


def numbers(n):
    for i in range(n):
        yield {"i": i, "array": np.full(1000, i)}


def dies_of(what):
    yield "first"
    what()
    yield "second"


def by_signal():
    os.kill(os.getpid(), signal.SIGKILL)


def by_segfault():
    faulthandler.disable()  # pytest's, which would print it
    ctypes.string_at(0)


def by_exit():
    sys.exit(3)


def by_os_exit():
    os._exit(4)


def by_ending():
    os._exit(0)


def by_error():
    raise ValueError("two\nlines" + " more" * 1000)


def by_nothing_to_pickle():
    raise Unspeakable


class Unspeakable(Exception):
    def __reduce__(self):
        raise TypeError("not to be pickled")


def by_catching_everything():
    while True:
        with contextlib.suppress(BaseException):  # whatever interrupts it
            time.sleep(60)


def by_memory():
    held = []
    while True:
        held.append(np.ones(10**6))  # 8 MB


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_items_come_back(start, monkeypatch):
    monkeypatch.setattr(isolation, "START", start)
    items, problem = isolated(numbers, 3, time_limit=60, memory_limit=10_000)
    assert problem is None
    assert [item["i"] for item in items] == [0, 1, 2]
    assert (items[2]["array"] == 2).all()


@pytest.mark.parametrize(
    ("what", "status"),
    [
        (
            by_signal,
            "died: its process was killed by SIGKILL, as when the machine runs out of memory",
        ),
        (by_segfault, f"died: {ENDED} SIGSEGV"),
        (by_exit, "died: SystemExit: 3"),
        (by_os_exit, "died: its process ended with exit code 4"),
        (by_ending, "died: its process ended with exit code 0"),
        (by_error, f"failed: ValueError: two lines{' more' * 397} …"),
        (by_nothing_to_pickle, "failed: Unspeakable: "),
    ],
)
def test_every_death_is_a_status(what, status):
    assert isolated(dies_of, what) == (["first"], status)


def test_time_is_a_hard_limit():
    start = time.monotonic()
    items, problem = isolated(dies_of, by_catching_everything, time_limit=0.5)
    assert (items, problem) == (["first"], "timeout: stopped after 0.5 s")
    assert 0.5 <= time.monotonic() - start < 30


def test_no_time_at_all_is_a_timeout():
    assert isolated(numbers, 3, time_limit=0)[1] == "timeout: stopped after 0 s"
    assert isolated(numbers, 3, time_limit=-1)[1].startswith("timeout")


def test_memory_is_a_hard_limit():
    held = psutil.Process().memory_info().rss / isolation.MB
    items, problem = isolated(dies_of, by_memory, memory_limit=held + 200, time_limit=60)
    assert items == ["first"]
    assert problem.startswith("memory: stopped at ")
    assert problem.endswith(f"more than {held + 200:g} MB")


def leaves_processes():
    sleep = "import time; time.sleep(600)"
    again = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleep!r}]); {sleep}"
    for own_session in (False, True):
        yield subprocess.Popen([sys.executable, "-c", again], start_new_session=own_session).pid
    time.sleep(1)
    by_signal()


def gone(pid):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_what_a_child_started_goes_with_it():
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    pids, problem = isolated(leaves_processes)
    assert problem.startswith("died")
    assert all(map(gone, pids))
    assert {each.pid for each in psutil.Process().children(recursive=True)} <= before


def shows_a_bar(last):
    with Bar([1]):
        yield "shown"
        with Bar.get_lock():
            last()


def test_one_that_is_killed_while_it_draws_a_bar_leaves_the_bars_of_others():
    assert isolated(shows_a_bar, by_signal)[1].startswith(ENDED, 6)
    with ThreadPoolExecutor(1) as other:  # nor do they wait for what a thread has begun here
        other.submit(Bar.get_lock().acquire).result()
        ended = isolated(shows_a_bar, int, time_limit=60)
        other.submit(Bar.get_lock().release).result()  # before it can fail: others draw bars here
    assert ended == (["shown"], None)


def talks():
    logging.getLogger("budgetlearn").info("%s of %d", "one", 2)
    try:
        by_error()
    except ValueError:
        logging.getLogger("budgetlearn").exception("it failed")
    yield 1


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_its_log_is_the_jobs_log(start, monkeypatch, caplog):
    monkeypatch.setattr(isolation, "START", start)
    with caplog.at_level(logging.INFO, "budgetlearn"):
        isolated(talks)
    assert [message.splitlines()[0] for message in caplog.messages] == ["one of 2", "it failed"]
    assert "ValueError: two\nlines" in caplog.text


PARENT = """
import sys, time
from tests.study.test_isolation import stays
from budgetbench.study import isolation
isolation.START = sys.argv[1]
isolation.sys = type("system", (), {"platform": sys.argv[2], "executable": sys.executable})
if __name__ == "__main__":
    isolation.isolated(stays, sys.argv[3])
"""


def stays(path):
    with open(path + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.replace(path + ".part", path)
    yield 1
    by_catching_everything()


@pytest.mark.parametrize(("start", "platform"), [("fork", "linux"), ("fork", "darwin")])
def test_it_goes_when_its_parent_is_killed(tmp_path, start, platform):
    if platform == "linux" and sys.platform != "linux":
        pytest.skip("asks the kernel of Linux for a signal")
    path = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, start, platform, str(path)])
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        child = int(path.read_text())
        assert psutil.pid_exists(child)
    finally:
        parent.kill()
        parent.wait()
    assert gone(child)


class Caller:
    """A program that runs this job, as psutil shows it."""

    def __init__(self, *states):
        self._states = list(states)

    def is_running(self):
        state = self._states.pop(0)
        if state == "unknown":
            raise psutil.NoSuchProcess(1)
        self._state = state
        return state != "gone"

    def status(self):
        return psutil.STATUS_ZOMBIE if self._state == "zombie" else psutil.STATUS_SLEEPING


@pytest.mark.parametrize("end", ["gone", "zombie", "unknown"])
def test_a_job_ends_when_the_program_that_runs_it_has_ended(end, monkeypatch):
    exits, naps = [], []

    def leave(code):
        exits.append(code)
        raise SystemExit

    monkeypatch.setattr(isolation.os, "_exit", leave)
    monkeypatch.setattr(isolation.time, "sleep", naps.append)
    with pytest.raises(SystemExit):
        isolation._watch(Caller("there", "there", end))
    assert (exits, naps) == ([1], [1, 1, 1])


@pytest.fixture
def watches(monkeypatch):
    """The processes that threads were started to watch."""
    started = []

    class Thread:
        def __init__(self, target, args, daemon):
            assert (target, daemon) == (isolation._watch, True)
            self.pid = args[0].pid

        def start(self):
            started.append(self.pid)

    monkeypatch.setattr(isolation.threading, "Thread", Thread)
    return started


def test_a_job_watches_the_process_that_announced_itself(watches, monkeypatch):
    monkeypatch.delenv("BUDGETLEARN_CALLER", raising=False)
    isolation.die_with_caller()
    assert watches == []
    monkeypatch.setenv("BUDGETLEARN_CALLER", str(os.getppid()))
    isolation.die_with_caller()
    assert watches == [os.getppid()]


def test_a_job_whose_caller_has_ended_before_it_looked_ends_too(watches, monkeypatch):
    monkeypatch.setenv("BUDGETLEARN_CALLER", "none yet")
    isolation.announce_caller()  # this process is no ancestor of itself
    assert os.environ["BUDGETLEARN_CALLER"] == str(os.getpid())
    exits = []

    def leave(code):
        exits.append(code)
        raise SystemExit

    monkeypatch.setattr(isolation.os, "_exit", leave)
    with pytest.raises(SystemExit):
        isolation.die_with_caller()
    assert exits == [1]
    assert watches == []
