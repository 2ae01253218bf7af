"""The count of fitted models, made where they are trained, so that no method can forget one.

A model is anything trained from start to end on one table: a forest, boosting with all its trees, a
linear model, an L1 path, a tree of classifiers; also models of folds, for orders, and fallbacks.
"""

from contextlib import contextmanager
from contextvars import ContextVar

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .validation import ParameterError

_open_counts = ContextVar("open counts", default=())


@contextmanager
def counting_fits():
    """Yield a list whose sum, after the block, is the number of models trained in it."""
    count = []  # a list, because threads can append to it safely
    # Blocks may be nested: each open count gets every model.
    token = _open_counts.set((*_open_counts.get(), count))
    try:
        yield count
        if not sum(count):  # a block in which nothing is counted counts as one model
            count_fit()
    finally:
        _open_counts.reset(token)


def count_fit(number=1):
    """Add a number of trained models to all open counts."""
    for count in _open_counts.get():
        count.append(number)


def fit_counted(model, *data, **options):
    """Fit an estimator and return it; counts as one model, unless it counts its own."""
    with counting_fits():
        return model.fit(*data, **options)


def fit_weighed(model, X, y, weight=None, **options):
    """Fit an estimator to weighted examples (None: equal weights), count it and return it."""
    if weight is None:
        return fit_counted(model, X, y, **options)
    # In a pipeline, the last step gets the weights.
    name, taker = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    if not has_fit_parameter(taker, "sample_weight"):
        raise ParameterError(
            "sample_weight and class_weight need estimators whose fit takes sample_weight, got "
            f"{model!r}. Use another estimator, or no weights."
        )
    named = f"{name}__sample_weight" if name else "sample_weight"
    return fit_counted(model, X, y, **{named: weight}, **options)
