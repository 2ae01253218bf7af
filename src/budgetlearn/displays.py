"""A picture of a fitted estimator: its score against cost."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from sklearn.base import is_classifier

from .curves import pareto_indices
from .exceptions import extra
from .protocol.documenting import described

__all__ = ["CostAccuracyDisplay"]
SHARED = """\
estimator : BudgetedEstimator or BudgetPipeline
    Fitted.
X : array-like of shape (n_samples, n_features)
    Examples; others than those that it was fitted on, for an honest picture.
y : array-like of shape (n_samples,)
    Their targets.
ax : matplotlib Axes, default=None
    Where to draw; None: a new figure.
**kwargs
    Passed to the line."""


@dataclass(eq=False)
class CostAccuracyDisplay:
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
        model = getattr(estimator, "_final_estimator", estimator)  # the last step of a pipeline
        scoring, points = getattr(model, "scoring", None), estimator.measure(X, y)
        chosen = np.arange(len(points))
        # Budgets choose by what was measured before; where nothing was, by the order of stages.
        if (known := vars(model).get("operating_points_")) is not None:
            chosen = pareto_indices(known["cost"], known["score"])
        plain = "accuracy" if is_classifier(estimator) else "R²"
        display = cls(
            points["cost"].to_numpy(),
            points["score"].to_numpy(),
            chosen,
            estimator_name=type(model).__name__ if name is None else name,
            score_name=plain if scoring is None else str(getattr(scoring, "__name__", scoring)),
        )
        return display.plot(ax=ax, **kwargs)

    @partial(described, shared=SHARED)
    def plot(self, ax=None, **kwargs):
        """Draw on `ax`, or on a new figure.

        Returns
        -------
        self
        """
        # Here, so that fitting and predicting do without matplotlib.
        with extra(None, "budgetlearn.displays"):
            from matplotlib import pyplot
        self.ax_ = ax = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = ax.figure
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
        return self
