"""Work in threads gives the same results as a loop, in the same order."""

import itertools
import threading
import time

import pytest

from budgetlearn.parallel import row_blocks, task_threads, thread_map, threads_ahead


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_maps_keep_the_order(n_jobs):
    expected = [x * x for x in range(20)]
    assert thread_map(lambda x: x * x, range(20), n_jobs) == expected
    assert list(threads_ahead(lambda x: x * x, range(20), n_jobs)) == expected


def test_stopping_early_drops_the_work_ahead():
    begun, lock = [], threading.Lock()

    def work(x):
        with lock:
            begun.append(x)
        return x

    ahead = threads_ahead(work, itertools.count(), 2)
    assert [next(ahead), next(ahead)] == [0, 1]
    ahead.close()
    assert len(begun) <= 6


def test_errors_reach_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(threads_ahead(lambda x: 1 // x, [1, 0, 2], 2))


@pytest.mark.parametrize(("n_rows", "n_jobs"), [(0, 1), (10, 1), (10_000, 2), (10_001, 2)])
def test_blocks_cover_the_rows(n_rows, n_jobs):
    blocks = row_blocks(n_rows, n_jobs)
    assert [row for block in blocks for row in range(n_rows)[block]] == list(range(n_rows))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_are_done_while_the_caller_goes_on(n_jobs):
    with task_threads(n_jobs) as submit:
        futures = [submit(pow, base, 2) for base in range(20)]
        assert [future.result() for future in futures] == [base**2 for base in range(20)]


def test_an_error_drops_the_tasks_that_have_not_begun():
    begun = []

    def task(number):
        begun.append(number)
        if number == 0:
            raise ValueError("first")
        time.sleep(0.01)

    def first_of_many():
        with task_threads(2) as submit:
            return next(iter([submit(task, number) for number in range(200)])).result()

    with pytest.raises(ValueError, match="first"):
        first_of_many()
    assert len(begun) < 200
