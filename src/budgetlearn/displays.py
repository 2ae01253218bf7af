"""A plot of a fitted estimator's score against cost."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from sklearn.base import is_classifier

from .exceptions import extra
from .protocol.documenting import described

__all__ = ["CostAccuracyDisplay"]
SHARED = """\
estimator : BudgetedEstimator or BudgetPipeline
    Fitted estimator.
X : array-like of shape (n_samples, n_features)
    Examples. Use examples that were not used in `fit`.
y : array-like of shape (n_samples,)
    Targets of the examples.
ax : matplotlib Axes, default=None
    Axes to draw on; None: a new figure.
**kwargs
    Options passed to the line."""


@dataclass(eq=False)
class CostAccuracyDisplay:
    """Plot of the score of each operating point against the mean cost of its predictions.

    Create it with `from_estimator`.

    Parameters
    ----------
    costs : ndarray of shape (n_points,)
        Mean acquisition cost of an example.
    scores : ndarray of shape (n_points,)
        Score on the same examples.
    chosen : ndarray of int
        Indices of the points that budgets can choose, from the least expensive.
    estimator_name : str, default=None
        Name in the legend.
    score_name : str, default="score"
        Label of the axis of scores.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the plot.
    line_ : matplotlib Line2D
        The staircase of the points that budgets can choose.
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
        """Measure every operating point on examples, and plot score against cost.

        Parameters
        ----------
        name : str, default=None
            Name in the legend; None: the name of the class.

        Returns
        -------
        CostAccuracyDisplay
        """
        model = getattr(estimator, "_final_estimator", estimator)  # the last step of a pipeline
        scoring, points = getattr(model, "scoring", None), estimator.measure(X, y)
        chosen = np.arange(len(points))
        # Budgets choose by the measured points; if there are none, by the order of stages.
        if (known := vars(model).get("operating_points_")) is not None:
            chosen = np.array([*dict.fromkeys(map(model.choose, np.sort(known["cost"])))])
        plain = "accuracy" if is_classifier(estimator) else "R²"
        score = plain if scoring is None else str(getattr(scoring, "__name__", scoring))
        name = type(model).__name__ if name is None else name
        costs, scores = points["cost"].to_numpy(), points["score"].to_numpy()
        display = cls(costs, scores, chosen, estimator_name=name, score_name=score)
        return display.plot(ax=ax, **kwargs)

    @partial(described, shared=SHARED)
    def plot(self, ax=None, **kwargs):
        """Draw on `ax`, or on a new figure.

        Returns
        -------
        self
        """
        # Imported here, because fitting and predicting do not need matplotlib.
        with extra(None, "budgetlearn.displays"):
            from matplotlib import pyplot
        self.ax_ = ax = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = ax.figure
        # The Pareto front of the validation data, by cost on these examples.
        line = self.chosen[np.argsort(self.costs[self.chosen], kind="stable")]
        style = {"marker": "o", "markersize": 4, "label": self.estimator_name, **kwargs}
        (self.line_,) = ax.step(self.costs[line], self.scores[line], where="post", **style)
        others = np.setdiff1d(np.arange(len(self.costs)), self.chosen)
        dots = {"linestyle": "none", "marker": ".", "alpha": 0.3, "color": self.line_.get_color()}
        (self.points_,) = ax.plot(self.costs[others], self.scores[others], **dots)
        ax.set(xlabel="mean acquisition cost of an example", ylabel=self.score_name)
        if self.estimator_name is not None:
            ax.legend(loc="lower right")
        return self
