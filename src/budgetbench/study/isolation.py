"""Run work in a child process, so that the job survives when the child dies.

A method may run out of memory or time, call ``sys.exit`` or crash in compiled code. So each run is
a child process of the job, under hard limits. Results do not depend on whether it is forked.
Pebble and loky do not limit memory, and keep nothing of a child that dies.
"""

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from logging.handlers import QueueHandler
from multiprocessing.connection import wait
from textwrap import shorten
from types import SimpleNamespace

import psutil
from threadpoolctl import threadpool_limits

from .fork_server import CALLER

START = "fork" if sys.platform == "linux" else "spawn"
LOOK = 0.1  # seconds between two looks at the child's time and memory
MB = 1e6
_RETRIES = "BUDGETLEARN_RETRIES"
_SUBMITTED = "BUDGETLEARN_SUBMITTED"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ITEM, _LOG, _END = range(3)  # messages of a child: an item, a log record, its final status


@contextmanager
def ending_orphans():
    """End what was started within and has lost its parent, in any session (Linux)."""
    if START != "fork":
        yield
        return
    become, own = ctypes.CDLL(None).prctl, psutil.Process()
    others = {*own.children(recursive=True)}
    become(_PR_SET_CHILD_SUBREAPER, 1)  # orphans get this process as their parent
    try:
        yield
    finally:
        # Parents first: orphans come to this process, which then can wait for them.
        for process in own.children(recursive=True):
            if process not in others:
                with suppress(psutil.Error):
                    process.kill()
                    process.wait(1)
        become(_PR_SET_CHILD_SUBREAPER, 0)


@ending_orphans()
def isolated(function, *arguments, time_limit=None, memory_limit=None, threads=1):
    """Run a generator in a child process; return its items and None, or why it ended early."""
    context = multiprocessing.get_context(START)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(sender, os.getpid(), threads, function, arguments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork with threads
        child.start()
    sender.close()  # while this process holds it, the pipe would not end with the child
    try:
        return _collect(child, receiver, time_limit, memory_limit)
    finally:
        try:
            # The child leads a process group, so this ends its own children as well.
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:  # the group does not exist yet, or no longer
            child.kill()
        child.join()
        child.close()
        receiver.close()


def _collect(child, receiver, seconds, megabytes):
    """Return the items and the status of a child process; see `isolated`."""
    items, process, began = [], psutil.Process(child.pid), time.monotonic()
    while True:
        # A killed child sends nothing, but its sentinel becomes ready.
        ready = wait([receiver, child.sentinel], LOOK)
        # Limits come first, so that a child that sends items all the time cannot evade them.
        if seconds is not None and time.monotonic() - began >= seconds:
            return items, f"timeout: stopped after {seconds:g} s"
        with suppress(psutil.Error):
            if megabytes is not None and (held := process.memory_info().rss / MB) > megabytes:
                return items, f"memory: stopped at {held:.0f} MB, more than {megabytes:g} MB"
        # The pipe comes before the sentinel: items sent before the end count.
        if receiver in ready:
            try:
                kind, content = receiver.recv()
            except (EOFError, OSError):
                return items, _death(child)
            if kind == _ITEM:
                items.append(content)
            elif kind == _LOG:
                logging.getLogger(content.name).handle(content)
            else:
                return items, content
        elif child.sentinel in ready:
            return items, _death(child)


def _death(child):
    child.join()
    code = child.exitcode
    if code >= 0:
        return f"died: its process ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = ", as when the machine runs out of memory" if name == "SIGKILL" else ""
    return f"died: its process was killed by {name}{hint}"


def announce_caller(retries=None, submitted=False):
    """Tell the jobs that this process is going to start its process id (see `die_with_caller`).

    `retries` is how often a failed job is started again (None: as this process's own caller said).
    `submitted` says whether this process runs a submission to a cluster.
    """
    os.environ[CALLER] = str(os.getpid())
    if retries is not None:
        os.environ[_RETRIES] = str(retries)
    if submitted:
        os.environ[_SUBMITTED] = os.environ.get(_RETRIES, "0")


def retries_of_submission():
    """Return the number of retries of this job's cluster submission; None outside of one."""
    retries = os.environ.get(_SUBMITTED)
    return None if retries is None else int(retries)


def die_with_caller():
    """End this job as soon as its caller (see `announce_caller`) has ended."""
    named = os.environ.get(CALLER)
    if named is None:
        return
    # Looked up among the ancestors, because the process id could be reused by a stranger.
    ancestors = {process.pid: process for process in psutil.Process().parents()}
    if int(named) not in ancestors:
        os._exit(1)
    threading.Thread(target=_watch, args=(ancestors[int(named)],), daemon=True).start()


def _watch(caller):
    with suppress(psutil.NoSuchProcess):
        time.sleep(1)
        # A zombie has ended, although nobody has waited for it yet.
        while caller.is_running() and caller.status() != psutil.STATUS_ZOMBIE:
            time.sleep(1)
    os._exit(1)


def _work(sender, parent, threads, function, arguments):
    """Run in the child: send the generator's items through the pipe, and end with the parent."""
    # A process group, so that the parent can end this process with all its children.
    os.setpgid(0, 0)
    if sys.platform == "linux":
        die_with_parent(parent)
    else:
        threading.Thread(target=_watch, args=(psutil.Process(parent),), daemon=True).start()
    log = logging.getLogger("budgetlearn")
    # Only the parent writes to the log file: two writers would mix their lines.
    pipe = SimpleNamespace(put_nowait=lambda record: sender.send((_LOG, record)))
    log.handlers[:] = [QueueHandler(pipe)]
    log.setLevel(logging.INFO)
    try:
        with threadpool_limits(threads):
            for item in function(*arguments):
                sender.send((_ITEM, item))
        sender.send((_END, None))
    # A method that calls sys.exit counts as dead, whatever the exit code.
    except SystemExit as error:
        sender.send((_END, f"died: SystemExit: {error.code}"))
    except Exception as error:
        log.exception("a child process failed")
        sender.send((_END, failure(error)))


def failure(error):
    """Return the status of a run that an exception ended: a short line that any file can hold."""
    text = shorten(str(error), 2000, placeholder=" …").encode(errors="replace").decode()
    return f"failed: {type(error).__name__}: {text}"


def die_with_parent(parent):
    """End this process as soon as its parent ends, even if the parent is killed (Linux)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(1)
