"""Seconds to fit and to predict, by method and data set."""

from ...analysis.areas import CONSTANT
from ..section import Section, figure, table
from ..style import drawing, message_figure, plain_decades
from ..text import DASH, seconds

# Shorter times are the clock's; a logarithmic axis needs some floor.
_SHORTEST = 1e-4
_PARTS = {"fit": "seconds to fit one run", "predict": "seconds to predict the test part"}


class Times(Section):
    """Seconds to fit and to predict."""

    id = "times"
    title = "Time"
    place = 90

    @property
    def parts(self):
        return [figure("times", "Time", figure="by method and data set"), table("times")]

    def tables(self, report):
        return {"times": report.results.times}

    def figures(self, report):
        return {"times": time_figure(report.results.times, report.display)}

    def context(self, report):
        return {"times": time_rows(report.results.times, report.display)}


def time_figure(table, display):
    """Draw the times of every method: each data set's mean, and their median."""
    means = [f"{part}_mean" for part in _PARTS]
    # The constant does nothing, and its time would stretch the axis.
    shown = table[table["method"] != CONSTANT]
    shown = shown.assign(**shown[means].clip(lower=_SHORTEST))
    if shown.empty:
        return message_figure("No run completed.")
    # Medians: a large data set would decide a mean of seconds.
    by_speed = shown.groupby("method")["fit_mean"].median().sort_values(kind="stable")
    labels = [display.label(name) for name in by_speed.index]
    with drawing(8.6, 0.9 + 0.25 * len(labels), 1, 2, sharey=True) as (figure, panels):
        for axes, part in zip(panels, _PARTS, strict=True):
            for place, name in enumerate(by_speed.index):
                own = shown.loc[shown["method"] == name, f"{part}_mean"]
                style = {"color": display.methods[name].colour}
                marker = display.methods[name].marker
                axes.plot(own, [place] * len(own), marker, alpha=0.5, markersize=5.5, **style)
                axes.plot([own.median()] * 2, [place - 0.35, place + 0.35], linewidth=2.5, **style)
            axes.set(xscale="log", xlabel=_PARTS[part])
            plain_decades(axes.xaxis, shown[f"{part}_mean"])
        panels[0].set_yticks(range(len(labels)), labels)
        panels[0].set_ylim(len(labels) - 0.4, -0.6)
    return figure


def time_rows(table, display):
    """Return the titles of the cases, and for fit and predict each method's label and texts."""
    cases = display.cases(table)
    known = table.set_index(["method", "dataset", "costs"]).to_dict("index")
    methods = [m for m in display.methods.values() if m.id in set(table["method"])]
    parts = {
        part: [
            {"label": m.label, "texts": [_text(known.get((m.id, *case)), part) for case in cases]}
            for m in methods
        ]
        for part in _PARTS
    }
    return {"columns": [display.case_title(*case) for case in cases], **parts}


def _text(row, part):
    return DASH if row is None else seconds(row[f"{part}_mean"], row[f"{part}_sd"])
