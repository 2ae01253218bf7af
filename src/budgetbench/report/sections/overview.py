"""The first screen: the verdict, and one picture of the five best with their names at the lines."""

import numpy as np

from ...analysis.areas import CONSTANT, mean_curve
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, figure
from ..style import drawing, message_figure
from ..summary import winner_sentences

SHOWN = 5
_APART = 0.045  # of the height, between two labels
_CAPTION = """What each budget gets on one data set: mean test score over runs of the five methods
of the best mean rank, over the share of the full cost that a prediction may spend."""


class Overview(Section):
    """One picture, and who is first."""

    id = "overview"
    title = "Overview"
    place = 5
    under = ACQUISITION

    @property
    def parts(self):
        return [figure("overview", "Overview", _CAPTION)]

    def summary(self, report):
        results = report.results
        return winner_sentences(results.horizons, report.display) if results.completed else []

    def figures(self, report):
        return {"overview": overview_figure(report)}

    def context(self, report):
        display = report.display
        return {"case": display.case_title(*report.cases[0]) if report.cases else ""}


def overview_figure(report):
    """Draw the mean curves of the best methods on the first data set, names at the ends."""
    names = report.results.ranking.mean.index[:SHOWN]
    if not report.cases or not len(names):
        return message_figure("No method completed a run.")
    frame = of_case(report.results.schedules, *report.cases[0])
    free = frame[frame["method"] == CONSTANT].set_index("run")["test_score"].astype(float)
    with drawing(7.6, 3.9) as (figure, axes):
        ends = {}
        for name in names:
            own = mean_curve(frame[frame["method"] == name], "cost_fraction", free)
            if own.empty:
                continue
            method = report.display.methods[name]
            # From nothing on: left of the cheapest model a budget gets the free constant.
            x, y = np.r_[0, own["budget"], 1], np.r_[free.mean(), own["mean"], own["mean"].iloc[-1]]
            gap = max(1, len(x) // 8)
            axes.step(
                x, y, where="post", color=method.colour, linestyle=method.line, linewidth=2.2,
                marker=method.marker, markevery=gap, markersize=6,
            )  # fmt: skip
            ends[name] = y[-1]
        axes.axhline(free.mean(), color="#222222", linestyle="--", linewidth=1.2)
        ends[CONSTANT] = free.mean()
        axes.set(xlim=(0, 1), xlabel="budget (share of what all features cost)")
        axes.set_ylabel(f"test {report.display.score(report.cases[0][0])}")
        axes.set_title(report.display.case_title(*report.cases[0]))
        _label_ends(axes, ends, report.display)
    return figure


def _label_ends(axes, ends, display):
    """Write each method's name beside the end of its line, none over another."""
    low, high = axes.get_ylim()
    places = spread(np.array(list(ends.values())), _APART * (high - low))
    for name, place in zip(ends, places, strict=True):
        colour = display.methods[name].colour
        axes.annotate(
            display.label(name), (1, ends[name]), xytext=(1.02, place), color=colour, va="center",
            textcoords=axes.get_yaxis_transform(), annotation_clip=False, fontsize=9,
        )  # fmt: skip


def spread(heights, apart):
    """Return heights in the same order, at least `apart` from each other, little moved."""
    order = np.argsort(heights, kind="stable")
    steps = apart * np.arange(len(heights))
    # The mean of pushing all up and pushing all down keeps the order and the distances.
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    lowered = np.minimum.accumulate((heights[order] - steps)[::-1])[::-1] + steps
    placed = np.empty_like(heights, dtype=float)
    placed[order] = (raised + lowered) / 2
    return placed
