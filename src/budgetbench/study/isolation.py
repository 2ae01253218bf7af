"""Work in a process of its own, whose death is an answer and not the end of the job.

A method may run out of memory or time, call ``sys.exit`` or crash in compiled code: each run is a
child of the job under hard limits. Results do not depend on whether it is forked.
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
from contextlib import suppress
from logging.handlers import QueueHandler
from multiprocessing.connection import wait

import psutil
from threadpoolctl import threadpool_limits

from .fork_server import CALLER

START = "fork" if sys.platform == "linux" else "spawn"
LOOK = 0.1  # seconds between two looks at the child's time and memory
MB = 1e6
_RETRIES = "BUDGETLEARN_RETRIES"
_SUBMITTED = "BUDGETLEARN_SUBMITTED"
_PR_SET_PDEATHSIG = 1
_ITEM, _LOG, _END = range(3)  # what a child tells: an item, a line of the log, how it ended


def isolated(function, *arguments, time_limit=None, memory_limit=None, threads=1):
    """Run a generator function in a child process and collect what it yields."""
    context = multiprocessing.get_context(START)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(sender, os.getpid(), threads, function, arguments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, Python 3.12
        child.start()
    sender.close()  # only the child may hold this end, or its end would never be seen
    try:
        return _collect(child, receiver, time_limit, memory_limit)
    finally:
        try:
            # The child leads a group of its own: what it started and left behind goes with it.
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:  # none made yet, or an empty one
            child.kill()
        child.join()
        child.close()
        receiver.close()


def _collect(child, receiver, seconds, megabytes):
    """Return what a child yields, and its status: None, or what ended it."""
    items, process, began = [], psutil.Process(child.pid), time.monotonic()
    while True:
        # The sentinel too: a child that is killed sends nothing.
        ready = wait([receiver, child.sentinel], LOOK)
        # Limits first: a child that sends items all the time must not outrun them.
        if seconds is not None and time.monotonic() - began >= seconds:
            return items, f"timeout: stopped after {seconds:g} s"
        if megabytes is not None and (held := _held(process)) > megabytes:
            return items, f"memory: stopped at {held:.0f} MB, more than {megabytes:g} MB"
        # What a child sent before it ended counts, so the pipe is emptied before the sentinel.
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


def _held(process):
    try:
        return process.memory_info().rss / MB
    except psutil.Error:
        return 0.0


def _death(child):
    child.join()
    code = child.exitcode
    if code >= 0:
        return f"died: its process ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = ", as when the machine runs out of memory" if name == "SIGKILL" else ""
    return f"died: its process was killed by {name}{hint}"


def announce_caller(retries=None, submitted=False):
    """Name this process to the jobs that it is going to start (`die_with_caller`).

    `retries`: how often it starts a failed job again (None: as its own caller said); `submitted`:
    whether it runs a submission to a cluster.
    """
    os.environ[CALLER] = str(os.getpid())
    if retries is not None:
        os.environ[_RETRIES] = str(retries)
    if submitted:
        os.environ[_SUBMITTED] = os.environ.get(_RETRIES, "0")


def retries_of_submission():
    """Return the number of repeats of this job's submission, None outside of one."""
    retries = os.environ.get(_SUBMITTED)
    return None if retries is None else int(retries)


def die_with_caller():
    """End this job as soon as the program that named itself as its caller is gone."""
    named = os.environ.get(CALLER)
    if named is None:
        return
    # A process id may be given anew; the ancestors of this process cannot be strangers.
    ancestors = {process.pid: process for process in psutil.Process().parents()}
    if int(named) not in ancestors:
        os._exit(1)
    threading.Thread(target=_watch, args=(ancestors[int(named)],), daemon=True).start()


def _watch(caller):
    with suppress(psutil.NoSuchProcess):
        time.sleep(1)
        # One that has ended, and that nobody has waited for yet, is a zombie.
        while caller.is_running() and caller.status() != psutil.STATUS_ZOMBIE:
            time.sleep(1)
    os._exit(1)


def _work(sender, parent, threads, function, arguments):
    """Be the child: yield items through the pipe, and go when the parent goes."""
    # A group of its own, so that the parent can end it with all that it starts.
    os.setpgid(0, 0)
    if sys.platform == "linux":
        die_with_parent(parent)
    else:
        threading.Thread(target=_watch, args=(psutil.Process(parent),), daemon=True).start()
    log = logging.getLogger("budgetlearn")
    # The log file is open in the parent alone: two writers would mix their lines.
    log.handlers[:] = [_ToParent(sender)]
    log.setLevel(logging.INFO)
    try:
        with threadpool_limits(threads):
            for item in function(*arguments):
                sender.send((_ITEM, item))
        sender.send((_END, None))
    # A method that calls sys.exit has died, whatever its exit code says.
    except SystemExit as error:
        sender.send((_END, f"died: SystemExit: {error.code}"))
    except Exception as error:
        log.exception("a process of its own failed")
        sender.send((_END, f"failed: {type(error).__name__}: {' '.join(str(error).split())}"))


def die_with_parent(parent):
    """End this process as soon as its parent is gone, even if that is killed (Linux)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before the call
        os._exit(1)


class _ToParent(QueueHandler):
    """Sends log records, made plain text of, to the parent, which knows the log file."""

    def enqueue(self, record):
        self.queue.send((_LOG, record))
