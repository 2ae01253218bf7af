"""The score of a forest on the examples that each tree left out."""

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from ..parallel import thread_map
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError


def left_out_sums(forest, trees, seeds, examples):
    """Return the sums of the votes of trees on the examples that they left out."""

    predictor = ForestPredictor(trees, examples.X.shape[1], shares=forest._in_shares)

    def said(item):
        place, seed = item
        # The seed tells the sample: what was drawn is not stored.
        rows = np.flatnonzero(forest._drawn(examples, seed) == 0)
        own = {"trees": (place, place + 1), forest._vote_kind: True}
        return rows, getattr(predictor.walk(examples.X[rows], **own), forest._vote_kind)

    totals = np.zeros((len(examples.y), trees[0].value.shape[1]))
    n_counted = np.zeros(len(examples.y), dtype=int)
    for rows, values in thread_map(said, list(enumerate(seeds)), forest.n_jobs):
        totals[rows] += values
        n_counted[rows] += 1
    return totals, n_counted


def check_oob(forest):
    """Raise for `oob_score` of a forest whose trees leave no example out."""
    if forest.oob_score and not forest._growth.bootstrap:
        raise ParameterError("oob_score=True needs bootstrap=True: no example is left out.")


def set_oob(forest, trees, seeds, examples):
    """Set `oob_score_`, and each example's class shares or prediction.

    These are NaN where no tree left the example out.
    """
    totals, n_counted = left_out_sums(forest, trees, seeds, examples)
    seen = n_counted > 0
    if is_classifier(forest):
        sums = totals.sum(axis=1, keepdims=True)
        forest.oob_decision_function_ = np.full_like(totals, np.nan)
        # Rows that no tree left out stay NaN: 0 / 0 would warn.
        np.divide(totals, sums, out=forest.oob_decision_function_, where=seen[:, None])
        hits = totals[seen].argmax(axis=1) == examples.y[seen]
        forest.oob_score_ = float(hits.mean()) if hits.size else float("nan")
        return
    forest.oob_prediction_ = np.full(seen.size, np.nan)
    forest.oob_prediction_[seen] = totals[seen, 0] / n_counted[seen]
    known = examples.y[seen], forest.oob_prediction_[seen]
    # R² of one example is not defined.
    forest.oob_score_ = float(r2_score(*known)) if seen.sum() > 1 else float("nan")
