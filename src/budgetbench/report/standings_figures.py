"""Figures of the standings: areas of all runs, critical-difference diagram of mean ranks."""

from textwrap import fill

from ..analysis.differences import FEWEST_CASES
from ..analysis.ranks import LEVEL
from .style import MANY_POINTS, house_style, legend_below, message_figure, new_figure
from .text import counted

_LABEL_WIDTH = 28  # characters of a case's title on one line


def rank_figure(ranking, display):
    """Draw the critical-difference diagram: mean ranks, bars joining what may be chance.

    Parameters
    ----------
    ranking : Ranking
        From `budgetbench.analysis.ranks.ranking_of`.
    """
    from scikit_posthocs import critical_difference_diagram

    if ranking.pairs is None or len(ranking.ranks) < FEWEST_CASES:
        return message_figure(
            f"Ranks need {FEWEST_CASES} data sets and three methods to be tested."
        )
    labels = {name: display.label(name) for name in ranking.ranks}
    colours = {labels[name]: display.methods[name].colour for name in labels}
    mean = ranking.mean.rename(labels)
    pairs = ranking.pairs.rename(index=labels, columns=labels)
    with house_style():
        figure = new_figure(7.6, 1.2 + 0.15 * len(mean))
        axes = figure.subplots()
        drawn = critical_difference_diagram(
            mean, pairs, alpha=LEVEL, ax=axes, color_palette=colours,
            label_fmt_left="{label}  {rank:.2f} ", label_fmt_right=" {rank:.2f}  {label}",
            text_h_margin=0.02,
            crossbar_props={"color": "#222222", "linewidth": 2.4},
        )  # fmt: skip
        # A bar goes through its methods in the order of a set, which is another in each process.
        for (bar,) in drawn["crossbars"]:
            bar.set_xdata(sorted(bar.get_xdata()))
        axes.set_title(f"mean rank over {counted(len(ranking.ranks), 'data set')}, 1 is the best")
    return figure


def area_figure(areas, display):
    """Draw AUP per case and method: every run, and mean ± standard deviation (Fig. 11).

    Parameters
    ----------
    areas : DataFrame
        From `budgetbench.analysis.areas.area_table`.
    display : Display
        Labels and colours; controls are left out.
    """
    shown = areas[areas["method"].isin(display.competitors)].dropna(subset="aup_test")
    return _run_figure(shown, display, "aup_test", "area under the Pareto (AUP), test data")


def _run_figure(frame, display, value, label):
    """Draw one value per run by case and method, with mean and standard deviation."""
    import seaborn as sns

    if frame.empty:
        return message_figure("No run completed.")
    cases = display.cases(frame)
    names = {case: fill(display.case_title(*case), _LABEL_WIDTH) for case in cases}
    titles = list(names.values())
    frame = frame.assign(case=[names[tuple(c)] for c in frame[["dataset", "costs"]].to_numpy()])
    methods = [m for m in display.methods.values() if m.id in set(frame["method"])]
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
            rasterized=len(frame) > MANY_POINTS,
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
