"""Pictures of a fitted estimator: its schedule, its score against cost."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .curves import pareto_indices
from .exceptions import extra
from .protocol.documenting import described

__all__ = ["CostAccuracyDisplay", "ScheduleDisplay"]
SHARED = """\
estimator : BudgetedEstimator
    Fitted.
X : array-like of shape (n_samples, n_features)
    Examples; others than those that it was fitted on, for an honest picture.
y : array-like of shape (n_samples,)
    Their targets.
ax : matplotlib Axes, default=None
    Where to draw; None: a new figure.
**kwargs
    Passed to the line or the cells."""


def axes_of(ax, width=6.4, height=4.8):
    """Return the axes to draw on: `ax`, or those of a new figure."""
    # Here, so that fitting and predicting do without matplotlib.
    with extra(None, "budgetlearn.displays"):
        from matplotlib import pyplot
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def names_of(estimator):
    """Return the names of the features that an estimator was fitted on, as text."""
    return [str(name) for name in estimator.feature_costs_.labels]


def list_features(ax, places, names, prices):
    """Write "name (price)" of each feature at its place, from the top of `ax` downwards."""
    labels = [f"{name} ({price:.4g})" for name, price in zip(names, prices, strict=True)]
    ax.set_yticks(places, labels)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a dollar sign in a name starts no formula
    ax.set_ylabel("feature (price)")
    ax.invert_yaxis()


def chosen_points(estimator):
    """Return the indices of the stages that some budget chooses, from the least expensive.

    Those on the front of validation cost and score; all stages of an estimator that measured none.
    """
    if "operating_points_" not in vars(estimator):
        return np.arange(estimator.n_stages_)
    points = estimator.operating_points_
    return pareto_indices(points["cost"], points["score"])


class _Display:
    """Base: what is known is drawn by `plot`."""

    @partial(described, shared=SHARED)
    def plot(self, ax=None, **kwargs):
        """Draw on `ax`, or on a new figure; features that are never acquired are left out.

        Returns
        -------
        self
        """
        self.ax_ = self._drawn(ax, **kwargs)
        self.figure_ = self.ax_.figure
        return self


@dataclass(eq=False)
class CostAccuracyDisplay(_Display):
    """Score of each operating point against what its predictions cost.

    Made by `from_estimator`.

    Parameters
    ----------
    costs : ndarray of shape (n_points,)
        Mean acquisition cost of an example.
    scores : ndarray of shape (n_points,)
        Score on the same examples.
    chosen : ndarray of int
        The points that some budget chooses, from the least expensive.
    estimator_name : str, default=None
        For the legend.
    score_name : str, default="score"
        For the axis.

    Attributes
    ----------
    ax_, figure_
        Where it is drawn.
    line_ : matplotlib Line2D
        The staircase of the points that budgets choose.
    points_ : matplotlib Line2D
        The other operating points.
    """

    costs: np.ndarray
    scores: np.ndarray
    chosen: np.ndarray
    _: KW_ONLY
    estimator_name: str | None = None
    score_name: str = "score"

    @classmethod
    @partial(described, shared=SHARED)
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **kwargs):
        """Apply every operating point to examples and draw what it costs and scores.

        Parameters
        ----------
        name : str, default=None
            Name in the legend; None: that of the class.

        Returns
        -------
        CostAccuracyDisplay
        """
        scoring, points = getattr(estimator, "scoring", None), estimator.measure(X, y)
        plain = "accuracy" if is_classifier(estimator) else "R²"
        display = cls(
            points["cost"].to_numpy(),
            points["score"].to_numpy(),
            chosen_points(estimator),
            estimator_name=type(estimator).__name__ if name is None else name,
            score_name=plain if scoring is None else str(getattr(scoring, "__name__", scoring)),
        )
        return display.plot(ax=ax, **kwargs)

    def _drawn(self, ax, **kwargs):
        ax = axes_of(ax)
        # The front of the validation data, in the order of what it costs here.
        line = self.chosen[np.argsort(self.costs[self.chosen], kind="stable")]
        style = {"marker": "o", "markersize": 4, "label": self.estimator_name, **kwargs}
        (self.line_,) = ax.step(self.costs[line], self.scores[line], where="post", **style)
        others = np.setdiff1d(np.arange(len(self.costs)), self.chosen)
        (self.points_,) = ax.plot(
            self.costs[others],
            self.scores[others],
            linestyle="none",
            marker=".",
            color=self.line_.get_color(),
            alpha=0.3,
        )
        ax.set(xlabel="mean acquisition cost of an example", ylabel=self.score_name)
        if self.estimator_name is not None:
            ax.legend(loc="lower right")
        return ax


@dataclass(eq=False)
class ScheduleDisplay(_Display):
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
    @partial(described, shared=SHARED)
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the schedule of an estimator that was fitted with validation data.

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

    def _drawn(self, ax, **kwargs):
        n_points = len(self.acquired)
        used = np.flatnonzero(self.acquired.any(axis=0))
        # In the order in which each appears first: the picture becomes a staircase.
        used = used[np.lexsort((self.prices[used], self.acquired[:, used].argmax(axis=0)))]
        ax = axes_of(ax, max(5.5, 3 + 0.5 * n_points), 1.8 + 0.24 * len(used))
        cells = self.acquired[:, used].T
        style = {"cmap": "Blues", "vmin": 0, "vmax": 1.4, "edgecolors": "white", "linewidth": 1}
        self.image_ = ax.pcolormesh(cells, **style | kwargs)
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
            axis.spines[:].set_visible(False)
        return ax
