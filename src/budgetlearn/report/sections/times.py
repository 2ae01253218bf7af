"""Seconds to fit and to predict: by method and data set, and over the size of the data."""

from ...analysis.schedules import of_case
from ..display import MARKERS, PALETTE
from ..section import Section, figure, table
from ..style import house_style, legend_below, message_figure, new_figure, plain_decades
from ..text import DASH, seconds

# Shorter times are the clock's; a logarithmic axis needs some floor.
_SHORTEST = 1e-4
_PARTS = {"fit": "seconds to fit one run", "predict": "seconds to predict the test part"}
_TIMES = """Seconds to fit all models of a run, and to predict the test part: mean over runs, bars
are standard deviations, logarithmic."""
_GROWTH = """The same times over the rows of the data set. Data sets differ in features and classes
too."""
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
            figure("growth", "Time", _GROWTH, figure="over rows"),
            table("times", _TABLE),
        ]

    def tables(self, report):
        return {"times": report.results.times}

    def figures(self, report):
        times, display = report.results.times, report.display
        return {"times": time_figure(times, display), "growth": growth_figure(times, display)}

    def context(self, report):
        return {"times": time_rows(report.results.times, report.display)}


def time_figure(table, display):
    """Draw the mean times of every method, one mark for each data set (Fig. 12 of Yan et al.).

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.analysis.durations.time_table`.
    display : Display
        Labels and colours.

    Returns
    -------
    matplotlib.figure.Figure
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
            for turn, case in enumerate(display.cases(shown)):
                own = of_case(shown, *case)
                axes.errorbar(
                    own[f"{part}_mean"], [by_speed.index.get_loc(name) for name in own["method"]],
                    xerr=own[f"{part}_sd"].fillna(0), linestyle="none", capsize=2,
                    color=PALETTE[turn % len(PALETTE)], marker=MARKERS[turn % len(MARKERS)],
                    markersize=5.5, linewidth=1.2, label=display.case_title(*case),
                )  # fmt: skip
            axes.set(xscale="log", xlabel=_PARTS[part])
            plain_decades(axes.xaxis, shown[f"{part}_mean"])
        panels[0].set_yticks(range(len(labels)), labels)
        panels[0].set_ylim(len(labels) - 0.4, -0.6)
        legend_below(figure, *panels[0].get_legend_handles_labels())
    return figure


def growth_figure(table, display):
    """Draw the mean times of every method over the number of rows of the data.

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.analysis.durations.time_table`.
    display : Display
        Labels, colours and rows of the data sets.

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown = _with_rows(_shown(table), display)
    if not _grows(shown):
        return message_figure("All data sets have the same number of rows: no growth to show.")
    methods = [m for m in display.methods.values() if m.id in set(shown["method"])]
    with house_style():
        figure = new_figure(8.6, 4.4)
        panels = figure.subplots(1, 2)
        for axes, part in zip(panels, _PARTS, strict=True):
            for method in methods:
                own = shown[shown["method"] == method.id]
                axes.plot(
                    own["rows"], own[f"{part}_mean"], color=method.colour, marker=method.marker,
                    linestyle=method.line, markersize=5, linewidth=1.4, label=method.label,
                )  # fmt: skip
            axes.set(xscale="log", yscale="log", xlabel="rows of the data set", ylabel=_PARTS[part])
            plain_decades(axes.yaxis, shown[f"{part}_mean"])
            axes.set_xticks(*_size_ticks(shown["rows"]))
            axes.minorticks_off()
        legend_below(figure, *panels[0].get_legend_handles_labels())
    return figure


def _with_rows(table, display):
    """Return the times with the rows of their data set, small to large, where they are known."""
    rows = {name: sheet.rows for name, sheet in display.datasets.items()}
    table = table.assign(rows=table["dataset"].map(rows))
    return table.dropna(subset="rows").sort_values("rows", kind="stable")


def _grows(table):
    """Whether there are two sizes to compare."""
    return table["rows"].nunique() > 1


def _size_ticks(rows):
    """Return where the data sets' sizes are marked and how, those too close to another left out."""
    ticks = []
    for size in sorted(set(rows)):
        if not ticks or size > 1.35 * ticks[-1]:
            ticks.append(size)
    return ticks, [f"{size:,.0f}" for size in ticks]


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
        From `budgetlearn.analysis.durations.time_table`.
    display : Display
        Order and labels.

    Returns
    -------
    dict
        columns: the titles of the cases; fit and predict: for each method its label and texts;
        grows: whether the data sets differ in rows.
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
    grows = _grows(_with_rows(table, display))
    return {"columns": [display.case_title(*case) for case in cases], "grows": grows, **parts}


def _text(known, key, part):
    if key not in known.index:
        return DASH
    return seconds(known.loc[key, f"{part}_mean"], known.loc[key, f"{part}_sd"])
