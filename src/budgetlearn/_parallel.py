"""Threads over blocks of rows or over trees; the kernels release the GIL."""

from joblib import Parallel, delayed, effective_n_jobs


def thread_map(function, items, n_jobs=None):
    """Return `[function(item) for item in items]`, computed in up to `n_jobs` threads.

    Parameters
    ----------
    function : callable
        Releases the GIL where it works hard.
    items : iterable
        Arguments, one per call.
    n_jobs : int, default=None
        As in joblib: None is 1 outside of a `parallel_config` context, -1 all cores.

    Returns
    -------
    list
        In the order of `items`.
    """
    if effective_n_jobs(n_jobs) == 1:
        return [function(item) for item in items]
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(item) for item in items)


def row_blocks(n_rows, n_jobs=None, smallest=1024):
    """Return slices that cover `n_rows` rows, about four for each thread.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    n_jobs : int, default=None
        As in joblib.
    smallest : int, default=1024
        Fewer rows are not worth a block of their own.

    Returns
    -------
    list of slice
    """
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        return [slice(0, n_rows)]
    size = max(smallest, -(-n_rows // (4 * n_threads)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
