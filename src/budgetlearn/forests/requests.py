"""Requests of trees: each walks until it needs a feature, then waits until that is acquired."""

import numpy as np

from ..protocol import Answer, Request

NOTHING = Answer(np.empty(0), np.empty(0, dtype=bool))


def tree_acquisitions(
    predictor, n_trees, n_samples, ledger, finish, *, votes=False, per_step=0, dtype=np.float64
):
    """Yield the requests of trees for examples of which nothing is known; return the `Outcome`.

    Without a cap all trees of all examples walk at once, and what most of them wait for is asked
    for next, of equals the cheapest. Under a cap an example takes one tree after another, so that
    what it can pay for is spent on whole trees.

    The first `n_trees` of the predictor make the model. `finish(totals, n_counted)` returns the
    outcome of what the leaves add up to, arrays of shape (n_samples, n_values) and (n_samples,), as
    from `ForestPredictor.leaf_totals`; with `votes` leaves vote, else their values are added up.
    With `per_step` 0 the trees are averaged, and one that cannot have a feature does not count;
    else their sum is the model, so many of them each step: it ends before the step that lacks a
    feature. `dtype` is the precision in which values are compared with thresholds.
    """
    summed = per_step > 0
    # A sum says little before its first trees are through, and one example has nothing to batch.
    one_by_one = ledger.capped or (summed and n_samples == 1)
    walking = predictor.waiting_trees(
        n_samples, n_trees, one_by_one=one_by_one, until_refused=summed
    )
    prices = ledger.costs.alone

    def estimate():
        return finish(*predictor.leaf_totals(walking, n_samples, votes=votes, per_step=per_step))

    while most := walking.waiting.max():
        wanted = np.flatnonzero(walking.waiting == most)
        feature = int(wanted[prices[wanted].argmin()])
        rows = walking.rows(feature)
        answer = (yield Request(rows, feature, estimate)) if rows.size else NOTHING
        values = answer.values.astype(dtype, copy=False).astype(np.float64, copy=False)
        walking.supply(feature, rows, values, answer.refused.view(np.uint8))
    return estimate()
