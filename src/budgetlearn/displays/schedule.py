"""Display of the features that each operating point acquires."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._axes import axes_of, chosen_points, list_features, names_of


@dataclass(eq=False)
class ScheduleDisplay:
    """The features that each operating point may acquire, from the cheapest point upwards.

    Made by `from_estimator`.

    Parameters
    ----------
    acquired : ndarray of bool of shape (n_points, n_features)
        What each point acquires for some example.
    costs, scores : ndarray of shape (n_points,)
        Mean cost and score of each point on validation data.
    feature_names : list of str
        One for each feature.
    prices : ndarray of shape (n_features,)
        What each costs.

    Attributes
    ----------
    ax_, figure_
        Where it is drawn.
    image_ : matplotlib QuadMesh
        The cells.
    """

    acquired: np.ndarray
    costs: np.ndarray
    scores: np.ndarray
    feature_names: list
    prices: np.ndarray

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the schedule of an estimator that was fitted with validation data.

        Parameters
        ----------
        estimator : BudgetedEstimator
            Fitted, with `operating_points_`.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ScheduleDisplay
        """
        check_is_fitted(estimator)
        points = estimator.operating_points_.iloc[chosen_points(estimator)]
        own = estimator.feature_costs_.labels
        acquired = np.array([[name in set(point) for name in own] for point in points["variables"]])
        costs, scores = points["cost"].to_numpy(), points["score"].to_numpy()
        prices = estimator.feature_costs_.costs
        return cls(acquired, costs, scores, names_of(estimator), prices).plot(ax=ax)

    def plot(self, ax=None):
        """Draw on `ax`, or on a new figure.

        Features stand in the order in which they first appear; those never acquired are left out.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        ScheduleDisplay
        """
        n_points = len(self.acquired)
        used = np.flatnonzero(self.acquired.any(axis=0))
        # By the point where each appears first: the picture becomes a staircase.
        used = used[np.lexsort((self.prices[used], self.acquired[:, used].argmax(axis=0)))]
        ax = axes_of(ax, max(5.5, 3 + 0.5 * n_points), 1.8 + 0.24 * len(used))
        cells = self.acquired[:, used].T
        self.image_ = ax.pcolormesh(
            cells, cmap="Blues", vmin=0, vmax=1.4, edgecolors="white", linewidth=1
        )
        rows = np.arange(len(used)) + 0.5
        list_features(ax, rows, np.array(self.feature_names)[used], self.prices[used])
        places = np.arange(n_points) + 0.5
        ax.set_xticks(places, [f"{cost:.4g}" for cost in self.costs], rotation=90)
        top = ax.secondary_xaxis("top")
        top.set_xticks(places, [f"{score:.3f}" for score in self.scores], rotation=90)
        ax.set_xlabel("mean cost of an example")
        top.set_xlabel("validation score")
        for axis in (ax, top):
            axis.tick_params(length=0)
        ax.spines[:].set_visible(False)
        top.spines[:].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
