"""What each purchase is expected to bring, foretold from what is known of an example."""

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from .cascade_masked import MaskedTrees

# States of knowledge that the gains are learned from.
N_STATES = 10_000
FEWEST_STATES, MOST_STATES = 2, 24
N_TREES = 20
IN_LEAF = 20
# What no model believes is not held against another without limit.
FLOOR = 1e-3


def soft_losses(predictions, reference, scale):
    """Return the loss of predictions in the eyes of a reference.

    Labels and targets are coins thrown once; the reference is what they show on average.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_outputs)
        Probabilities, or one number.
    reference : ndarray of shape (n_samples, n_outputs)
        The same of the best-informed models.
    scale : float or None
        Variance of the target in regression; None: classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Cross-entropy, or squared distance in variances.
    """
    if scale is None:
        return -(reference * np.log(np.maximum(predictions, FLOOR))).sum(axis=1)
    return (reference - predictions)[:, 0] ** 2 / scale


@dataclass(frozen=True, eq=False)
class States:
    """Examples of which parts are known, and what each unit would bring there.

    Attributes
    ----------
    rows : ndarray of int of shape (n_states,)
        The examples.
    X : ndarray of shape (n_states, n_features)
        NaN where nothing is known.
    worth : ndarray of shape (n_states, n_units + 1)
        By how much each unit would lower the loss; and the loss as it is.
    """

    rows: np.ndarray
    X: np.ndarray
    worth: np.ndarray

    @classmethod
    def drawn(cls, X, units, predict, loss, random):
        """Draw states and try every unit in each of them.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Examples.
        units : Units
            What can be bought.
        predict : callable
            From partly known examples and their rows to what models say that had not seen them.
        loss : callable
            From predictions and their rows to losses.
        random : RandomState
            Source of randomness.

        Returns
        -------
        States
        """
        n_copies = int(np.clip(N_STATES // len(X), FEWEST_STATES, MOST_STATES))
        rows = np.repeat(np.arange(len(X)), n_copies)
        if rows.size > 2 * N_STATES:
            rows = np.sort(random.choice(rows, 2 * N_STATES, replace=False))
        bought = units.drawn(rows.size, random)
        hidden = units.hidden(X[rows], bought)
        now = loss(predict(hidden, rows), rows)
        worth = np.zeros((rows.size, units.n_units + 1))
        worth[:, -1] = now
        for unit, features in enumerate(units.features):
            tried, columns = np.flatnonzero(~bought[:, unit]), list(features)
            more = hidden[tried]
            more[:, columns] = X[np.ix_(rows[tried], columns)]
            worth[tried, unit] = now[tried] - loss(predict(more, rows[tried]), rows[tried])
        return cls(rows, hidden, worth)


class GainModel:
    """Extra trees that foretell the worth of every unit at once.

    Parameters
    ----------
    states : States
        What to learn from.
    kept : ndarray of int
        Which of them.
    seed : int
        Source of randomness.
    """

    def __init__(self, states, kept, seed):
        forest = ExtraTreesRegressor(
            N_TREES, min_samples_leaf=IN_LEAF, max_features=0.5, random_state=seed
        )
        self._trees = MaskedTrees(forest, states.X[kept], states.worth[kept], None)

    def predict(self, X):
        """Return the worth of each unit, and the loss as it is, (n_samples, n_units + 1)."""
        return self._trees.predict(X)
