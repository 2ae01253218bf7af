"""Threads over blocks of rows or over trees; the kernels release the GIL."""

import os
import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import islice
from threading import Event, RLock, Thread

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

# To look for the libraries takes milliseconds; those of numpy, scipy and scikit-learn are there.
_libraries = cache(ThreadpoolController)


def one_thread(user_api=None):
    """Return a context in which linear algebra and OpenMP, or one of them, work in one thread.

    In models as small as ours threads mostly wait for each other, which takes processor time, too:
    several times as much as the work. `n_jobs` shares out whole models instead.
    """
    return _libraries().limit(limits=1, user_api=user_api)


class Bar(tqdm):
    """A bar without tqdm's own thread: forked while that holds a lock, a process would wait."""

    monitor_interval = 0


# tqdm's lock is shared by all forks: one that is killed while it holds it lets the others wait.
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=lambda: Bar.set_lock(RLock()))


def progress(items, unit, total=None):
    """Yield the items (or return a bar to move), with a bar on a terminal after five seconds."""
    if items is not None and not sys.stderr.isatty():
        return items  # even a bar that is never shown takes its time
    return Bar(items, total=total, unit=f" {unit}", delay=5, leave=False, disable=None)


@contextmanager
def watched(count, unit, total):
    """Show a bar of what a kernel counts while the block runs; `count()` is asked by a thread."""
    with progress(None, unit, total) as bar:
        done = Event()

        def watch():
            while not done.wait(0.5):
                bar.update(count() - bar.n)

        watcher = Thread(target=watch, daemon=True)
        if not bar.disable:
            watcher.start()
        try:
            yield
        finally:
            done.set()
            if not bar.disable:
                watcher.join()


def thread_map(function, items, n_jobs=None, unit=None):
    """Return `[function(item) for item in items]`, computed in up to `n_jobs` threads."""
    # With a bar of so many units, which moves as work is handed out: that is close enough.
    items = items if unit is None else progress(items, unit)
    # One item does not even ask joblib, which takes longer than a row's prediction.
    if (isinstance(items, list) and len(items) == 1) or effective_n_jobs(n_jobs) == 1:
        # In this thread: no pool, and tracebacks stay short.
        return [function(item) for item in items]
    here = _in_this_context(function)
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(here)(item) for item in items)


def threads_ahead(function, items, n_jobs=None):
    """Yield `function(item)` in order, while threads already work on the next items."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield from map(function, items)
        return
    items, pending = iter(items), deque()
    with task_threads(n_jobs) as submit:
        # Twice as many as threads, so that none waits while the consumer is busy.
        pending.extend(submit(function, item) for item in islice(items, 2 * n_threads))
        while pending:
            result = pending.popleft().result()
            pending.extend(submit(function, item) for item in islice(items, 1))
            yield result


@contextmanager
def task_threads(n_jobs=None):
    """Yield a `submit(function, *arguments)` that returns a future while the caller goes on.

    In one thread a call is made at once; what has not begun when the block ends is dropped.
    """
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield _call_at_once
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield lambda function, *given: pool.submit(_in_this_context(function), *given)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_this_context(function):
    """Return the function as it would run here: threads do not inherit context variables."""
    # Copied again for each call: one context cannot be entered by two threads at once.
    context = copy_context()

    def run(*arguments):
        with one_thread("openmp"):  # a thread's own setting, unlike linear algebra's
            return context.copy().run(function, *arguments)

    return run


def _call_at_once(function, *arguments):
    future = Future()
    future.set_result(function(*arguments))
    return future


def row_blocks(n_rows, n_jobs=None, smallest=1024):
    """Return slices that cover `n_rows` rows, about four for each thread, few rows in one."""
    if n_rows <= smallest or (n_threads := effective_n_jobs(n_jobs)) == 1:
        return [slice(0, n_rows)]
    # Four blocks a thread even out blocks that take long.
    size = max(smallest, -(-n_rows // (4 * n_threads)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
