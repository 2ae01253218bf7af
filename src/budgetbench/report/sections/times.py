"""Seconds to fit and to predict, by method and data set."""

from ..section import Section, figure, table
from ..style import house_style, message_figure, new_figure, plain_decades
from ..text import DASH, seconds

# Shorter times are the clock's; a logarithmic axis needs some floor.
_SHORTEST = 1e-4
_PARTS = {"fit": "seconds to fit one run", "predict": "seconds to predict the test part"}
_TIMES = """Seconds to fit all models of a run, and to predict the test part: faint, the mean over
runs of each data set; bars, the median of these; logarithmic."""
_TABLE = """Seconds to fit all models of a run and seconds to predict with one of them on the test
part, mean and standard deviation over runs."""


class Times(Section):
    """Seconds to fit and to predict."""

    id = "times"
    title = "Time"
    place = 90

    @property
    def parts(self):
        return [
            figure("times", "Time", _TIMES, figure="by method and data set"),
            table("times", _TABLE),
        ]

    def tables(self, report):
        return {"times": report.results.times}

    def figures(self, report):
        return {"times": time_figure(report.results.times, report.display)}

    def context(self, report):
        return {"times": time_rows(report.results.times, report.display)}


def time_figure(table, display):
    """Draw the times of every method: each data set's mean, and their median.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.efforts.time_table`.
    """
    shown = _shown(table)
    if shown.empty:
        return message_figure("No run completed.")
    by_speed = shown.groupby("method")["fit_mean"].median().sort_values(kind="stable")
    labels = [display.label(name) for name in by_speed.index]
    with house_style():
        figure = new_figure(8.6, 0.9 + 0.25 * len(labels))
        panels = figure.subplots(1, 2, sharey=True)
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


def _shown(table):
    """Return the times above the clock's resolution, without the control that does nothing."""
    means = [f"{part}_mean" for part in _PARTS]
    shown = table[table["method"] != "constant"]
    return shown.assign(**{name: shown[name].clip(lower=_SHORTEST) for name in means})


def time_rows(table, display):
    """Return the times as the page words them.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.efforts.time_table`.

    Returns
    -------
    dict
        columns: the titles of the cases; fit and predict: for each method its label and texts.
    """
    cases = display.cases(table)
    known = table.set_index(["method", "dataset", "costs"])
    methods = [m for m in display.methods.values() if m.id in set(table["method"])]
    parts = {
        part: [
            {"label": m.label, "texts": [_text(known, (m.id, *case), part) for case in cases]}
            for m in methods
        ]
        for part in _PARTS
    }
    return {"columns": [display.case_title(*case) for case in cases], **parts}


def _text(known, key, part):
    if key not in known.index:
        return DASH
    return seconds(known.loc[key, f"{part}_mean"], known.loc[key, f"{part}_sd"])
