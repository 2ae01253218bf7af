"""The importance of the variables (Fig. 2 of Yan et al.)."""

import numpy as np

from .style import house_style, message_figure, new_figure

_MOST_VARIABLES = 40


def importance_figure(metadata, dataset):
    """Draw the importance of each variable, the most important first.

    Parameters
    ----------
    metadata : Metadata
        With `inside.importance`, and the names of the variables.
    dataset : str
        The data set.

    Returns
    -------
    matplotlib.figure.Figure
    """
    importance = metadata.inside.importance
    importance = importance[importance["dataset"] == dataset]
    title = metadata.datasets[dataset].get("title", dataset)
    if importance.empty:
        return message_figure(f"{title}: no importance was computed.")
    groups = importance.groupby("variable")["importance"]
    table = groups.agg(["mean", "std", "count"]).sort_values("mean", ascending=False, kind="stable")
    shown = table.head(_MOST_VARIABLES)
    names = _names(metadata, dataset)
    with house_style():
        figure = new_figure(6.4, 1.2 + 0.2 * len(shown))
        axes = figure.subplots()
        places = np.arange(len(shown))
        spread = shown["std"] if (shown["count"] > 1).all() else None
        axes.barh(places, shown["mean"], xerr=spread, color="#0072b2", height=0.7)
        axes.set_yticks(places, [names.get(v, f"x{v}") for v in shown.index])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        more = len(table) - len(shown)
        left_out = f" ({more} less important ones left out)" if more else ""
        axes.set(xlabel=f"fall in validation accuracy when shuffled{left_out}", title=title)
    return figure


def _names(metadata, dataset):
    """Return {index: name} of the variables of a data set."""
    own = metadata.profiles[metadata.profiles["dataset"] == dataset]
    return dict(enumerate(own["feature"].drop_duplicates()))
