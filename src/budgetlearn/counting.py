"""Count of the models of a fit, made where each is trained, so that no method can forget one.

One model is whatever is trained from start to end on one table: a forest, a boosting with all its
trees, a linear model, a whole L1 path, a tree of classifiers. Models on folds, models for orders
and stand-ins count like those that are kept.
"""

from contextlib import contextmanager
from contextvars import ContextVar

_open_counts = ContextVar("open counts", default=())


class FitCount(list):
    """Numbers of models, as they were trained: threads append to a list safely."""

    @property
    def total(self):
        """Number of models so far."""
        return sum(self)


@contextmanager
def counting_fits():
    """Count the models trained in the block, itself one where nothing in it counts itself."""
    count = FitCount()
    # Blocks within blocks: each open count gets every model.
    token = _open_counts.set((*_open_counts.get(), count))
    try:
        yield count
        if not count.total:
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
