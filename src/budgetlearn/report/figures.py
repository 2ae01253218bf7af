"""Figures of the report: frames in, matplotlib figures out."""

from textwrap import fill

import numpy as np
import seaborn as sns
from matplotlib.ticker import FuncFormatter

from ..benchmark.points import of_case
from .smooth import lowess_mean
from .style import house_style, legend_below, message_figure, new_figure

# From here on the faint points are drawn as pixels inside the SVG, which keeps files small.
_MANY_POINTS = 500
_LABEL_WIDTH = 28  # characters of a case's title on one line


def curve_figure(schedules, metadata, dataset, costs):
    """Draw the cost-accuracy curves of a case (Fig. 9 of Yan et al.; Fig. 3 of Nan et al.).

    Where prices differ between runs, cost is the share of what all features cost. Where they do
    not, it is in its own unit, and logarithmic over more than two decades.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetlearn.benchmark.points.compressed_points`.
    metadata : Metadata
        Labels and colours.
    dataset, costs : str
        The case.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = of_case(schedules, dataset, costs)
    if frame.empty:
        return message_figure(f"{metadata.case_title(dataset, costs)}: no run completed.")
    score = metadata.score(dataset)
    with house_style():
        figure = new_figure(6.4, 4.4)
        axes = figure.subplots()
        frame = frame.assign(place=_draw_cost_axis(axes, frame, costs))
        for method in metadata.methods.values():
            own = frame[frame["method"] == method.id]
            if len(own):
                (_draw_control if method.control else _draw_curve)(axes, own, method)
        axes.set(ylabel=f"test {score}", title=metadata.case_title(dataset, costs))
        if score == "accuracy" and costs != "random":
            errors = axes.secondary_yaxis("right", functions=(_complement, _complement))
            errors.set_ylabel("test error")
        legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def _complement(share):
    return 1 - share


def _draw_cost_axis(axes, points, costs):
    """Set the axis of costs up and return where each point stands on it."""
    if costs == "random":
        axes.set(xlim=(-0.02, 1.03), xlabel="acquisition cost (share of all features)")
        return points["cost_fraction"]
    axes.set_xlabel("mean acquisition cost")
    paid = points.loc[points["cost"] > 0, "cost"]
    if not len(paid) or paid.max() <= 100 * paid.min():
        return points["cost"]
    axes.set_xscale("log")
    # Free models have no place there: they stand one decade below the others, labelled as ≤.
    floor = 10.0 ** (np.ceil(np.log10(paid.min())) - 1)
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"≤ {value:g}" if value <= floor else f"{value:g}")
    )
    return points["cost"].clip(lower=floor)


def _draw_curve(axes, points, method):
    """Draw the points of every run faintly and, where there are enough, their lowess mean."""
    forward, back = (np.log, np.exp) if axes.get_xscale() == "log" else (np.array, np.array)
    x, y = points["place"], points["test_score"]
    mean = lowess_mean(forward(x), y)
    style = {"color": method.colour, "marker": method.marker}
    line = {"linestyle": method.line, "linewidth": 2.2}
    axes.scatter(
        x, y, s=18, alpha=0.4, linewidths=0, rasterized=len(points) > _MANY_POINTS, **style,
        label=method.label if mean is None else None,
    )  # fmt: skip
    if mean is not None:
        gap = max(1, mean[0].size // 8)
        axes.plot(
            back(mean[0]), mean[1], markersize=6, markevery=gap, **line, **style,
            label=method.label,
        )  # fmt: skip


def _draw_control(axes, points, method):
    """Draw a control as a level (free) or as a point with its standard deviation."""
    score = points["test_score"]
    if (points["cost"] == 0).all():
        axes.axhline(score.mean(), color=method.colour, linestyle="--", label=method.label)
        return
    axes.errorbar(
        points["place"].mean(), score.mean(),
        yerr=score.std() if len(score) > 1 else None,
        fmt=method.marker, color=method.colour, markersize=9, capsize=3, label=method.label,
        zorder=5,
    )  # fmt: skip


def area_figure(areas, metadata):
    """Draw AUP per case and method: every run, and mean ± standard deviation (Fig. 11).

    Parameters
    ----------
    areas : DataFrame
        From `budgetlearn.benchmark.aggregate.area_table`.
    metadata : Metadata
        Labels and colours; controls are left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown = areas[areas["method"].isin(metadata.competitors)].dropna(subset="aup_test")
    return _run_figure(shown, metadata, "aup_test", "area under the Pareto (AUP), test data")


def _run_figure(frame, metadata, value, label):
    """Draw one value per run by case and method, with mean and standard deviation."""
    if frame.empty:
        return message_figure("No run completed.")
    cases = metadata.cases(frame)
    names = {case: fill(metadata.case_title(*case), _LABEL_WIDTH) for case in cases}
    titles = list(names.values())
    frame = frame.assign(case=[names[tuple(c)] for c in frame[["dataset", "costs"]].to_numpy()])
    methods = [m for m in metadata.methods.values() if m.id in set(frame["method"])]
    shared = {
        "data": frame, "x": value, "y": "case", "order": titles, "hue": "method",
        "hue_order": [m.id for m in methods], "palette": {m.id: m.colour for m in methods},
    }  # fmt: skip
    width = 0.8 * (1 - 1 / len(methods))
    with house_style():
        figure = new_figure(6.4, 1.3 + 0.26 * len(titles) * max(len(methods), 2))
        axes = figure.subplots()
        sns.stripplot(
            **shared, dodge=True, size=4, alpha=0.35, jitter=False, legend=False, ax=axes,
            rasterized=len(frame) > _MANY_POINTS,
        )  # fmt: skip
        sns.pointplot(
            **shared, dodge=width, linestyle="none", errorbar="sd", capsize=0.1, markersize=7,
            err_kws={"linewidth": 1.6}, markers=[m.marker for m in methods], legend=False, ax=axes,
        )  # fmt: skip
        axes.set(xlabel=label, ylabel="", ylim=(len(titles) - 0.5, -0.5))
        for border in range(1, len(titles)):
            axes.axhline(border - 0.5, color="#cccccc", linewidth=0.8)
        marks = [
            axes.plot([], [], linestyle="none", marker=m.marker, color=m.colour)[0] for m in methods
        ]
        legend_below(figure, marks, [m.label for m in methods])
    return figure
