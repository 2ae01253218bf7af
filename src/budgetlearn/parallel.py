"""Threads over blocks of rows or over trees, with progress bars; and the count of models fitted.

The kernels release the GIL. Models are counted where each is trained, so that no method can forget
one: a model is whatever is trained from start to end on one table, be it a forest, a boosting with
all its trees, a linear model, a whole L1 path or a tree of classifiers. Models on folds, models for
orders and stand-ins count like those that are kept.
"""

import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from itertools import islice
from threading import Event, Thread

from joblib import Parallel, delayed, effective_n_jobs
from tqdm import tqdm


def _on_terminal():
    return sys.stderr.isatty()


def progress(items, unit, total=None):
    """Yield the items (or return a bar to move), with a bar on a terminal after five seconds."""
    if items is not None and not _on_terminal():
        return items  # even a bar that is never shown takes its time
    return tqdm(items, total=total, unit=f" {unit}", delay=5, leave=False, disable=None)


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
    """Return `[function(item) for item in items]`, computed in up to `n_jobs` threads.

    `unit` is what the items are, in the plural, to show progress; None: show none.
    """
    # The bar moves as work is handed out, which is close enough.
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
    return lambda *arguments: context.copy().run(function, *arguments)


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


_open_counts = ContextVar("open counts", default=())


@contextmanager
def counting_fits():
    """Yield the list of the numbers of models trained in the block, whose sum is their count.

    The block is itself one where nothing in it counts itself.
    """
    count = []  # threads append to a list safely
    # Blocks within blocks: each open count gets every model.
    token = _open_counts.set((*_open_counts.get(), count))
    try:
        yield count
        if not sum(count):
            count_fit()
    finally:
        _open_counts.reset(token)


def count_fit(number=1):
    """Count models trained here."""
    for count in _open_counts.get():
        count.append(number)


def fit_counted(model, *data, **options):
    """Fit an estimator and return it, counted as one model, or as those that it counts itself."""
    with counting_fits():
        return model.fit(*data, **options)
