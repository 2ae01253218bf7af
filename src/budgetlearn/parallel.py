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

# Cached, because the search for libraries takes milliseconds.
_libraries = cache(ThreadpoolController)


def one_thread(user_api=None):
    """Return a context in which linear algebra and OpenMP, or one of them, use one thread."""
    # In small models, threads mostly wait for each other, which costs several times the processor
    # time of the actual work. `n_jobs` distributes whole models instead.
    return _libraries().limit(limits=1, user_api=user_api)


class Bar(tqdm):
    """A bar without tqdm's monitor thread, whose lock could block a forked process."""

    monitor_interval = 0


# Forks share tqdm's lock: if one is killed while it holds the lock, the others wait forever.
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=lambda: Bar.set_lock(RLock()))


def progress(items, unit, total=None):
    """Return the items, with a bar on a terminal after five seconds; for None, a bar to move."""
    if items is not None and not sys.stderr.isatty():
        return items  # even a hidden bar takes time
    return Bar(items, total=total, unit=f" {unit}", delay=5, leave=False, disable=None)


@contextmanager
def watched(count, unit, total):
    """Show a bar of a kernel's progress during the block; a thread polls `count()`."""
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
    # The bar moves when work is started rather than when it ends.
    items = items if unit is None else progress(items, unit)
    # `effective_n_jobs` takes longer than the prediction of a row, so single items avoid it.
    if (isinstance(items, list) and len(items) == 1) or effective_n_jobs(n_jobs) == 1:
        return [function(item) for item in items]
    here = _in_this_context(function)
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(here)(item) for item in items)


def threads_ahead(function, items, n_jobs=None):
    """Yield `function(item)` in order, while threads work on the next items."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield from map(function, items)
        return
    items, pending = iter(items), deque()
    with task_threads(n_jobs) as submit:
        # Twice the number of threads, so that none is idle while the consumer is busy.
        pending.extend(submit(function, item) for item in islice(items, 2 * n_threads))
        while pending:
            result = pending.popleft().result()
            pending.extend(submit(function, item) for item in islice(items, 1))
            yield result


@contextmanager
def task_threads(n_jobs=None):
    """Yield a function `submit(function, *arguments)` that returns a future."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield _call_at_once
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield lambda function, *given: pool.submit(_in_this_context(function), *given)
    finally:
        pool.shutdown(cancel_futures=True)  # also of calls that wait


def _in_this_context(function):
    """Return a function that runs in the current context, which threads do not inherit."""
    # Copied for each call, because two threads cannot enter the same context.
    context = copy_context()

    def run(*arguments):
        with one_thread("openmp"):  # OpenMP's setting, unlike linear algebra's, is per thread
            return context.copy().run(function, *arguments)

    return run


def _call_at_once(function, *arguments):
    future = Future()
    future.set_result(function(*arguments))
    return future


def row_blocks(n_rows, n_jobs=None, smallest=1024):
    """Return slices of `n_rows` rows: up to four per thread; one for few rows or one thread."""
    if n_rows <= smallest or (n_threads := effective_n_jobs(n_jobs)) == 1:
        return [slice(0, n_rows)]
    # Several blocks per thread balance blocks that take longer.
    size = max(smallest, -(-n_rows // (4 * n_threads)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
