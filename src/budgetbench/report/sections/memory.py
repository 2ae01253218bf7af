"""Error against memory, for studies that compare models of several sizes."""

import numpy as np
import pandas as pd

from ...analysis.budgets import best_in_little, size_table
from ...analysis.schedules import of_case
from ...study.study import MEMORY
from ..section import Section, case_name
from ..style import bars, drawing, label_ends, message_figure, plain_decades
from ..text import counted, counts_of, number, plus_minus, seconds, setting_shown

# With more sizes (for example every tree of a forest) only points are drawn, without a line.
_FEW_SIZES = 12
# With more variants of a method only points are drawn, as the shades could not be told apart.
_FEW_VARIANTS = 5
# Column of the table: scale factor and label of the axis.
_SIZES = {"n_nodes": (1, "nodes of the model"), "n_bytes": (1e-3, "kB of the model")}
_ERRORS = {"accuracy": "test error", "R²": "test mean squared error"}  # the error of each score


class Memory(Section):
    """Test error over nodes and over bytes."""

    id = "memory"
    place = 70
    under = MEMORY
    stem, category = "memory", "Error against memory"
    names = ("memory",)

    def tables(self, report):
        # Among several settings, validation data choose within each budget of nodes.
        tuned = [(d, m) for d, _, m in self.study.cells if "space" in self.study.spec(m, d)]
        points = report.display.under(MEMORY, report.results.points)
        return {"memory": size_table(points, report.display.competitors, tuned)}

    def draw(self, report, *case):
        frame, display = of_case(report.tables["memory"], *case), report.display
        if frame.empty:
            return message_figure(f"{display.case_title(*case)}: no model has nodes.")
        sizes = [size for size in _SIZES if frame[size].notna().any()]
        with drawing(6.4, 4.4, len(sizes)) as (figure, grid):
            for axes, size in zip(grid, sizes, strict=True):
                scale, name = _SIZES[size]
                drawn = frame.assign(size=scale * frame[size]).dropna(subset=["size"])
                ends = [
                    end
                    for method in display.methods.values()
                    for end in _draw_method(axes, drawn[drawn["method"] == method.id], method)
                ]
                axes.set(xscale="log", xlabel=name)
                plain_decades(axes.xaxis, drawn["size"])
            grid[0].set_ylabel(_error_name(display, case[0]))
            figure.suptitle(display.case_title(*case))
            # Names stand beside the line ends of the last panel.
            label_ends(grid[-1], ends)
        return figure

    def summary(self, report):
        table, display, found = report.tables["memory"], report.display, {}
        labels = {name: method.label for name, method in display.methods.items()}
        for size, unit in (("n_nodes", "nodes"), ("n_bytes", "bytes")):
            best = pd.Series(best_in_little(table, display.cases(table), size), dtype=object)
            # With a single method its variants compete; they have no label.
            counts = counts_of(best).rename(lambda name: labels.get(name, name))
            alone = len(best) == 1  # no count after the winner of a single data set
            winners = ", ".join(name if alone else f"{name} ({n})" for name, n in counts.items())
            if winners:
                found.setdefault((counted(len(best), "data set"), winners), []).append(unit)
        return [
            f"In the fewest {' or '.join(units)} in which every method has a model, the lowest "
            f"mean test error on {cases} comes from {winners}."
            for (cases, winners), units in found.items()
        ]

    def context(self, report):
        table, display = report.tables["memory"], report.display
        return {"cases": [_case(table, case, display) for case in display.cases(table)]}


def _error_name(display, dataset):
    score = display.score(dataset)
    return _ERRORS.get(score, f"1 − test {score}")


def _draw_method(axes, own, method):
    """Draw a method's variants, later ones paler; return (name, height of the end, colour)."""
    from matplotlib.colors import to_rgb

    variants = list(own.groupby("variant", sort=False))
    # Many lines would overlap; points alone show the front.
    joined = len(variants) <= _FEW_VARIANTS
    if not joined:
        variants = [("", own)]
    ends = []
    for (name, line), pale in zip(variants, np.linspace(0, 0.7, len(variants)), strict=True):
        label = f"{method.label}, {name}" if name else method.label
        arms = bars(line["error"], line["error_sd"], 0)
        axes.errorbar(
            line["size"], line["error"],
            yerr=None if np.isnan(arms).any() else arms,
            color=tuple(pale + (1 - pale) * part for part in to_rgb(method.colour)),
            marker=method.marker, capsize=3, linewidth=1.6,
            linestyle=method.line if joined and len(line) <= _FEW_SIZES else "none", label=label,
        )  # fmt: skip
        # In full colour, as the pale shades are too faint for text.
        ends += [(label, error, method.colour) for error in line.nlargest(1, "size")["error"]]
    return ends


def _case(table, case, display):
    frame = of_case(table, *case)
    rows = [
        [
            display.label(method),
            setting_shown(row.setting),
            number(row.n_nodes, ",.0f"),
            number(row.n_bytes, ",.0f"),
            plus_minus(row.error, row.error_sd, 4),
            seconds(row.fit_seconds),
        ]
        for method in display.competitors
        for row in frame[frame["method"] == method].itertuples()
    ]
    titles = {"title": display.case_title(*case), "error": _error_name(display, case[0])}
    return {"name": case_name(*case), "rows": rows} | titles
