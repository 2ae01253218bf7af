"""Display of the acquisition rate of each feature."""

from dataclasses import dataclass

import numpy as np

from ._axes import axes_of, list_features, names_of


@dataclass(eq=False)
class AcquisitionDisplay:
    """Share of the examples that acquire each feature.

    Made by `from_estimator`.

    Parameters
    ----------
    rates : ndarray of shape (n_features,)
        Shares, between 0 and 1.
    mean_cost : float
        Mean acquisition cost of an example.
    feature_names : list of str
        One for each feature.
    prices : ndarray of shape (n_features,)
        What each costs.

    Attributes
    ----------
    ax_, figure_
        Where it is drawn.
    bars_ : matplotlib BarContainer
        From the feature acquired most often.
    """

    rates: np.ndarray
    mean_cost: float
    feature_names: list
    prices: np.ndarray

    @classmethod
    def from_estimator(cls, estimator, X, *, budget=None, max_cost=None, ax=None, **kwargs):
        """Draw what the predictions of examples acquire.

        Parameters
        ----------
        estimator : BudgetedEstimator
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Examples.
        budget, max_cost : float, default=None
            As for `predict`.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs
            Passed to the bars.

        Returns
        -------
        AcquisitionDisplay
        """
        acquired = estimator.acquired_features(X, budget, max_cost)
        prices = estimator.feature_costs_
        mean_cost = float(prices.total(acquired).mean())
        display = cls(acquired.mean(axis=0), mean_cost, names_of(estimator), prices.costs)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw on `ax`, or on a new figure; features that are never acquired are left out.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs
            Passed to the bars.

        Returns
        -------
        AcquisitionDisplay
        """
        used = np.flatnonzero(self.rates > 0)
        # By rate, the cheaper of equals first.
        used = used[np.lexsort((self.prices[used], -self.rates[used]))]
        ax = axes_of(ax, height=1.4 + 0.26 * len(used))
        places = np.arange(len(used))
        self.bars_ = ax.barh(places, self.rates[used], **kwargs)
        list_features(ax, places, np.array(self.feature_names)[used], self.prices[used])
        ax.set(xlim=(0, 1), xlabel="share of examples for which it is acquired")
        ax.set_title(f"mean cost of an example: {self.mean_cost:.4g}")
        self.ax_, self.figure_ = ax, ax.figure
        return self
