"""The score of a forest on the examples that each tree left out."""

import numpy as np
from sklearn.metrics import r2_score

from ..parallel import thread_map
from ..tree.predictor import ForestPredictor
from ..validation import ParameterError


def left_out_sums(forest, trees, seeds, examples):
    """Return what the trees say of the examples that they left out.

    Parameters
    ----------
    forest : Forest
        How its trees vote is used, and its threads.
    trees : list of Tree
        As they grew.
    seeds : list of int
        Of each; its bootstrap sample follows from it.
    examples : Examples
        What they grew on.

    Returns
    -------
    totals : ndarray of float64 of shape (n_samples, n_values)
        Sums over the trees that left the example out.
    n_counted : ndarray of int of shape (n_samples,)
        How many these are.
    """

    def said(item):
        tree, seed = item
        rows = np.flatnonzero(forest._drawn(examples, seed) == 0)
        predictor = ForestPredictor([tree], examples.X.shape[1], shares=forest._in_shares)
        walk = predictor.walk(examples.X[rows], **{forest._vote_kind: True})
        return rows, getattr(walk, forest._vote_kind)

    totals = np.zeros((len(examples.y), trees[0].value.shape[1]))
    n_counted = np.zeros(len(examples.y), dtype=int)
    for rows, values in thread_map(said, list(zip(trees, seeds, strict=True)), forest.n_jobs):
        totals[rows] += values
        n_counted[rows] += 1
    return totals, n_counted


class OutOfBagClasses:
    """Mixin of forests of classes with the parameter `oob_score`."""

    def _check_oob(self):
        if self.oob_score and not self.bootstrap:
            raise ParameterError("oob_score=True needs bootstrap=True: no example is left out.")

    def _set_oob(self, trees, seeds, examples):
        """Set `oob_score_`, and each example's class shares: NaN where no tree left it out."""
        totals, n_counted = left_out_sums(self, trees, seeds, examples)
        seen, sums = n_counted > 0, totals.sum(axis=1, keepdims=True)
        self.oob_decision_function_ = np.full_like(totals, np.nan)
        np.divide(totals, sums, out=self.oob_decision_function_, where=seen[:, None])
        hits = totals[seen].argmax(axis=1) == examples.y[seen]
        self.oob_score_ = float(hits.mean()) if hits.size else float("nan")


class OutOfBagNumbers(OutOfBagClasses):
    """Mixin of forests of numbers with the parameter `oob_score`."""

    def _set_oob(self, trees, seeds, examples):
        """Set `oob_score_`, R², and each prediction: NaN where no tree left the example out."""
        totals, n_counted = left_out_sums(self, trees, seeds, examples)
        seen = n_counted > 0
        self.oob_prediction_ = np.full(seen.size, np.nan)
        self.oob_prediction_[seen] = totals[seen, 0] / n_counted[seen]
        known = examples.y[seen], self.oob_prediction_[seen]
        self.oob_score_ = float(r2_score(*known)) if seen.sum() > 1 else float("nan")
