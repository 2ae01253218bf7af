"""Fit a dynamic order, and send the training examples along it out of fold."""

from dataclasses import replace

import numpy as np

from .._parallel import thread_map
from .._validation import INT32_MAX, derive_seed
from .cascade_dynamic import DynamicOrder
from .cascade_gain import GainModel, States, soft_losses
from .cascade_masked import N_EXTRA_TREES, MaskedModel
from .cascade_pool import Journey


def dynamic_journey(table, units, reference, seed, n_jobs=None):
    """Fit a dynamic order and send the training examples along it, out of fold.

    Parameters
    ----------
    table : Table
        Training examples.
    units : Units
        What can be bought.
    reference : ndarray of shape (n_samples, n_outputs)
        What the best-informed models say that had not seen the example.
    seed : int
        Source of randomness.
    n_jobs : int or None
        Models fitted at a time, in threads.

    Returns
    -------
    Journey
        Its order is not yet calibrated.
    """
    folds = np.unique(table.folds)

    def fit_masked(fold):
        inside = table.folds != fold
        drawn = derive_seed(seed, "masked", int(fold)) & INT32_MAX
        n_trees = N_EXTRA_TREES if fold < 0 else N_EXTRA_TREES // 2  # for speed
        X, y = table.X[inside], table.y[inside]
        return MaskedModel.fit(X, y, table.n_classes, units, drawn, n_trees)

    *parts, final = thread_map(fit_masked, [*folds, -1], n_jobs, "models")
    *halves, gains = _gain_models(table, units, reference, parts, seed, n_jobs)
    order = DynamicOrder("dynamic", units, (), None, final, gains)
    readers = [
        (table.folds == fold, replace(order, masked=masked, gains=halves[place % 2]))
        for place, (fold, masked) in enumerate(zip(folds, parts, strict=True))
    ]
    return _travelled(order, readers, table)


def _gain_models(table, units, reference, parts, seed, n_jobs):
    """Return the gain models without the even folds, without the odd ones, and of all."""
    scale = None if table.n_classes is not None else table.y.var() or 1.0
    places = np.searchsorted(np.unique(table.folds), table.folds)

    def unseen(X, rows):
        found = np.empty((len(X), table.n_outputs))
        for place, masked in enumerate(parts):
            here = places[rows] == place
            if here.any():
                found[here] = masked.predict(X[here])
        return found

    random = np.random.RandomState(derive_seed(seed, "states") & INT32_MAX)
    states = States.drawn(
        *(table.X, units, unseen),
        lambda predictions, rows: soft_losses(predictions, reference[rows], scale),
        random,
    )
    half = places[states.rows] % 2
    return thread_map(
        lambda kept: GainModel(states, kept, seed),
        [np.flatnonzero(half == 1), np.flatnonzero(half == 0), np.arange(half.size)],
        n_jobs,
        "models",
    )


def _travelled(order, readers, table):
    shape = (order.units.n_units, len(table.y))
    predictions, remaining = np.empty((*shape, table.n_outputs)), np.zeros(shape)
    spent, bought = np.zeros(shape), np.zeros((*shape, order.units.n_units), dtype=bool)
    for here, part in readers:
        reader, rows = part.reader(None, table.X[here]), np.arange(here.sum())
        for stage in range(shape[0]):
            found = reader.raw(stage, rows)
            predictions[stage, here] = found
            if table.n_classes is None:
                remaining[stage, here] = -reader.confidence(stage, found, rows)
        spent[:, here], bought[:, here] = reader.spent, reader.bought
    sizes = np.array([len(features) for features in order.units.features])
    by_someone = [order.units.columns(each.any(axis=0)[None])[0] for each in bought]
    stages = tuple(tuple(np.flatnonzero(each).tolist()) for each in by_someone)
    return Journey(replace(order, stages=stages), predictions, spent, bought @ sizes, remaining)
