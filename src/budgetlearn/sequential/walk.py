"""What test points bought, in which order, and what was believed after each purchase."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Walk:
    """Record of the purchases of m test points with d features.

    Parameters
    ----------
    order : ndarray of int of shape (m, d)
        Bought features in the order of purchase, -1 after the last one.
    value : ndarray of shape (m, d)
        What each purchase was chosen for (the expected accuracy, or its gain, less the weighted
        price); 0 after the last one.
    estimate : ndarray of shape (m, d + 1)
        Estimated probability that the prediction is right after 0, 1, ... d purchases; the last
        one reached is repeated.
    winner : ndarray of int of shape (m, d + 1)
        Index of the predicted class after 0, 1, ... d purchases; the last one is repeated.
    """

    order: np.ndarray
    value: np.ndarray
    estimate: np.ndarray
    winner: np.ndarray

    @classmethod
    def empty(cls, n_rows, n_features):
        """Return a record to be filled in, with nothing bought."""
        return cls(
            order=np.full((n_rows, n_features), -1, dtype=np.intp),
            value=np.zeros((n_rows, n_features)),
            estimate=np.zeros((n_rows, n_features + 1)),
            winner=np.zeros((n_rows, n_features + 1), dtype=np.intp),
        )

    @classmethod
    def join(cls, walks):
        """Stack the records of consecutive blocks of test points."""
        return cls(*(np.concatenate([getattr(w, f.name) for w in walks]) for f in fields(cls)))

    @property
    def n_bought(self):
        """Number of features bought for each test point, shape (m,)."""
        return (self.order >= 0).sum(axis=1)

    def acquired(self, stage=None):
        """Return which features were bought within the first `stage` purchases (None: all).

        Parameters
        ----------
        stage : int, default=None
            Number of purchases.

        Returns
        -------
        ndarray of bool of shape (m, d)
        """
        order = self.order[:, :stage]
        acquired = np.zeros(self.order.shape, dtype=bool)
        rows, places = np.nonzero(order >= 0)
        acquired[rows, order[rows, places]] = True
        return acquired

    def probabilities(self, stage, n_classes):
        """Return class probabilities after `stage` purchases.

        Parameters
        ----------
        stage : int
            Number of purchases.
        n_classes : int
            Number of classes.

        Returns
        -------
        ndarray of shape (m, n_classes)
            The estimate for the predicted class; the other classes share the rest evenly.
        """
        right = self.estimate[:, stage]
        shared = (1.0 - right) / (n_classes - 1)
        probabilities = np.repeat(shared[:, None], n_classes, axis=1)
        probabilities[np.arange(right.size), self.winner[:, stage]] = right
        return probabilities
