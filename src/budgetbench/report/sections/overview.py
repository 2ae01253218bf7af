"""The first screen: the verdict, and one picture of the five best with their names at the lines."""

import numpy as np

from ...analysis.areas import CONSTANT, mean_curve
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, figure
from ..style import drawing, label_ends, legend_below, message_figure, split_axis
from ..summary import winner_sentences

SHOWN = 5


class Overview(Section):
    """One picture, and who is first."""

    id = "overview"
    title = "Overview"
    place = 5
    under = ACQUISITION

    @property
    def parts(self):
        narrow = figure("overview_narrow", "Overview", "overview", figure="overview, narrow")
        return [figure("overview", "Overview"), narrow]

    def summary(self, report):
        results = report.results
        found = winner_sentences(results.horizons, report.display) if results.completed else []
        return found[:1]  # what qualifies it stands below the picture: see Horizons

    def figures(self, report):
        wide, narrow = overview_figure(report), overview_figure(report, narrow=True)
        return {"overview": wide, "overview_narrow": narrow}

    def context(self, report):
        display = report.display
        return {"case": display.case_title(*report.cases[0]) if report.cases else ""}


def overview_figure(report, narrow=False):
    """Draw the mean curves of the best methods on the first data set, with their names.

    Names stand at the ends of the lines, or below the narrow picture, which a phone shows.
    """
    names = report.results.ranking.mean.index[:SHOWN]
    if not report.cases or not len(names):
        return message_figure("No method completed a run.")
    display = report.display
    frame = of_case(report.results.schedules, *report.cases[0])
    free = frame[frame["method"] == CONSTANT].set_index("run")["test_score"].astype(float)
    with drawing(*((4.0, 2.7) if narrow else (7.6, 3.9))) as (figure, axes):
        ends = []
        for name in names:
            own = mean_curve(frame[frame["method"] == name], "cost_fraction", free)
            if own.empty:
                continue
            method = display.methods[name]
            # From nothing on: left of the cheapest model a budget gets the free constant.
            x, y = np.r_[0, own["budget"], 1], np.r_[free.mean(), own["mean"], own["mean"].iloc[-1]]
            # Some eight markers on a line: enough to tell it without colour.
            gap = max(1, len(x) // 8)
            axes.step(
                x, y, where="post", color=method.colour, linestyle=method.line, linewidth=2.2,
                marker=method.marker, markevery=gap, markersize=6, label=method.label,
            )  # fmt: skip
            ends.append((method.label, y[-1], method.colour))
        constant = display.methods[CONSTANT]
        level = {"color": constant.colour, "linestyle": "--", "linewidth": 1.2}
        axes.axhline(free.mean(), label=constant.label, **level)
        ends.append((constant.label, free.mean(), constant.colour))
        split_axis(axes)
        axes.set(xlim=(0, 1), xlabel="budget (% of what all features cost)")
        axes.set_ylabel(f"test {display.score(report.cases[0][0])}")
        axes.set_title(display.case_title(*report.cases[0]))
        if narrow:
            legend_below(figure, *axes.get_legend_handles_labels())
        else:
            label_ends(axes, ends)
    return figure
