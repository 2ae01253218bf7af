"""The count of models fitted, made where each is trained, so that no method can forget one.

A model is whatever is trained from start to end on one table: a forest, a boosting with all its
trees, a linear model, a whole L1 path, a tree of classifiers. Models on folds, models for orders
and fallbacks count like those that are kept.
"""

from contextlib import contextmanager
from contextvars import ContextVar

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .validation import ParameterError

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


def fit_weighed(model, X, y, weight=None, **options):
    """Fit an estimator to examples that count so much (None: all alike); return it, counted.

    Of a pipeline the last step gets the weights. Raises `ParameterError` where `fit` takes none.
    """
    if weight is None:
        return fit_counted(model, X, y, **options)
    name, taker = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    if not has_fit_parameter(taker, "sample_weight"):
        raise ParameterError(
            "sample_weight and class_weight need estimators whose fit takes sample_weight, got "
            f"{model!r}. Give another one, or leave the weights out."
        )
    named = f"{name}__sample_weight" if name else "sample_weight"
    return fit_counted(model, X, y, **{named: weight}, **options)
