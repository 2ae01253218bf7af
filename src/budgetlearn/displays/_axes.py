"""Shared parts of displays: axes, features with prices, the points that budgets choose."""

import numpy as np

from ..curves import pareto_indices


def axes_of(ax, width=6.4, height=4.8):
    """Return the axes to draw on: `ax`, or those of a new figure.

    An `ImportError` says when matplotlib is not installed.
    """
    # Here, so that fitting and predicting do without matplotlib.
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "budgetlearn.displays needs matplotlib: pip install matplotlib"
        ) from error
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def names_of(estimator):
    """Return the names of the features that an estimator was fitted on, as text."""
    return [str(name) for name in estimator.feature_costs_.labels]


def list_features(ax, places, names, prices):
    """Write "name (price)" of each feature at its place, from the top of `ax` downwards.

    A dollar sign in a name starts no formula.
    """
    labels = [f"{name} ({price:.4g})" for name, price in zip(names, prices, strict=True)]
    ax.set_yticks(places, labels)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
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
