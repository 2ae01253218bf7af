"""Methods without a choice of budget, beside what others reach at their cost (Yan et al., 5.3)."""

from textwrap import fill

import numpy as np

from ...analysis.budgets import own_cost_table
from ...analysis.schedules import CASE, of_case
from ..section import Section, figure, table
from ..style import LABEL_WIDTH, bars, drawing, legend_below, message_figure
from ..text import counted, plus_minus


class OwnCost(Section):
    """Scores at the cost of methods without a choice of budget."""

    id = "own-cost"
    title = "At their own cost"
    place = 84

    def applies(self):
        return bool(self._methods)

    @property
    def _methods(self):
        return self.study.config.get("own_cost", [])

    @property
    def parts(self):
        return [figure("own_cost", "Inside msB"), table("own_cost")]

    def tables(self, report):
        results = report.results
        compared = own_cost_table(results.bought, results.schedules, self._methods, report.display)
        return {"own_cost": compared}

    def figures(self, report):
        table = report.tables["own_cost"]
        return {"own_cost": own_cost_figure(table, report.display, self._methods)}

    def context(self, report):
        return {"rows": own_cost_rows(report.tables["own_cost"], report.display)}


def own_cost_figure(table, display, own_cost):
    """Draw test accuracy at the method's own cost by data set, one panel for each method."""
    if table.empty:
        return message_figure("No run completed.")
    methods = [name for name in own_cost if (table["method"] == name).any()]
    cases = display.cases(table)
    size = 1.8 + 3.4 * len(methods), 2.0 + 0.5 * len(cases)
    with drawing(*size, 1, len(methods), sharey=True, squeeze=False) as (figure, grid):
        entries = {}  # of the legend: a rival stands in it once, whatever panels it is in
        for axes, name in zip(grid[0], methods, strict=True):
            _draw_panel(axes, table[table["method"] == name], display, cases)
            axes.set(title=display.label(name), xlabel="test accuracy")
            handles, labels = axes.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        titles = [fill(display.case_title(*case), LABEL_WIDTH) for case in cases]
        grid[0][0].set_yticks(range(len(cases)), titles)
        grid[0][0].set_ylim(len(cases) - 0.5, -0.5)
        legend_below(figure, list(entries.values()), list(entries))
    return figure


def _draw_panel(axes, part, display, cases):
    """Draw the method and its rivals, each on a line of its own within the data set."""
    own = display.methods[part["method"].iloc[0]]
    rivals = [name for name in display.methods if name in set(part["rival"])]
    # The method first, its rivals below it, all within the strip of the data set.
    lines = np.linspace(-0.25, 0.25, len(rivals) + 1)
    first = part.drop_duplicates(CASE)
    _dots(axes, first, "score", "score_sd", own, ", at its own cost", lines[0], cases)
    for rival, line in zip(rivals, lines[1:], strict=True):
        method = display.methods[rival]
        note = "" if method.control else ", within that cost"
        rows = part[part["rival"] == rival]
        _dots(axes, rows, "rival_score", "rival_sd", method, note, line, cases)


def _dots(axes, rows, score, spread, method, note, line, cases):
    # Each on its own line, or intervals would hide each other.
    places = [cases.index(tuple(case)) + line for case in rows[CASE].to_numpy()]
    axes.errorbar(
        rows[score], places, xerr=bars(rows[score], rows[spread], 0, 1), fmt=method.marker,
        color=method.colour, capsize=2, markersize=6, label=method.label + note,
    )  # fmt: skip


def own_cost_rows(table, display):
    """Return the rows of the page, one for each data set, method and rival."""
    return [
        {
            "title": display.case_title(row.dataset, row.costs),
            "method": display.label(row.method),
            "share": f"{100 * row.cost_fraction:.1f} %",
            "score": plus_minus(row.score, row.score_sd),
            "rival": display.label(row.rival),
            "rival_score": plus_minus(row.rival_score, row.rival_sd),
            "wins": f"{row.wins} of {row.n_runs}",
            "note": ""
            if row.n_affording == row.n_runs
            else f"{row.n_affording} of {counted(row.n_runs, 'run')} afford a model",
        }
        for case in display.cases(table)
        for row in of_case(table, *case).itertuples()
    ]
