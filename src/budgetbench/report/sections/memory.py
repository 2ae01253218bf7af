"""Error against memory, where a study compares models of several sizes."""

import numpy as np
import pandas as pd

from ...analysis.schedules import of_case
from ...analysis.sizes import best_in_little, size_table
from ...study.study import MEMORY
from ..section import Section, figure, table
from ..style import house_style, legend_below, message_figure, new_figure, plain_decades
from ..text import counted, plus_minus, seconds

# Above this many sizes (every tree of a forest, say) points alone are drawn: they need no line.
_FEW_SIZES = 12
# Above this many variants of a method points alone are drawn: shades could not be told apart.
_FEW_VARIANTS = 5
_CAPTION = """Test error over the nodes that a model keeps, and over the bytes that a device stores
of it (splits and values of leaves in 32 bits): mean and standard deviation over runs. A method that
tries several settings shows, within 1, 2, 5, 10, … nodes, the model that validation data choose."""
# Column of the table, factor of what is drawn, and how the axis is called.
_SIZES = {"n_nodes": (1, "nodes of the model"), "n_bytes": (1e-3, "kB of the model")}


class Memory(Section):
    """Test error over nodes and over bytes."""

    id = "memory"
    title = "Memory"
    place = 70

    def applies(self):
        return bool(self.study.cases_under(MEMORY))

    @property
    def parts(self):
        figures = [
            figure(
                f"memory_{dataset}_{costs}",
                "Error against memory",
                _CAPTION,
                **{"data set": dataset, "costs": costs},
            )
            for dataset, costs in self.study.cases_under(MEMORY)
        ]
        return [*figures, table("memory", _CAPTION)]

    def tables(self, report):
        tuned = [
            (dataset, method)
            for dataset, _, method in self.study.cells
            if "space" in self.study.spec(method, dataset)
        ]
        return {"memory": size_table(report.results.stored, report.display.competitors, tuned)}

    def figures(self, report):
        table, display = report.tables["memory"], report.display
        return {
            f"memory_{'_'.join(case)}": memory_figure(table, display, *case)
            for case in display.cases(report.results.stored)
        }

    def summary(self, report):
        return memory_sentences(report.tables["memory"], report.display)

    def context(self, report):
        return {"cases": memory_cases(report.tables["memory"], report.display)}


def error_name(score):
    """Return the name of the error that belongs to a score."""
    names = {"accuracy": "test error", "R²": "test mean squared error"}
    return names.get(score, f"1 − test {score}")


def memory_figure(table, display, dataset, costs):
    """Draw test error against nodes and bytes, logarithmic, one line for each variant.

    Bytes are left out where no model's are known.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.sizes.size_table`.
    """
    frame = of_case(table, dataset, costs)
    if frame.empty:
        return message_figure(f"{display.case_title(dataset, costs)}: no model has nodes.")
    sizes = [size for size in _SIZES if frame[size].notna().any()]
    with house_style():
        figure = new_figure(6.4, 4.4)
        panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for axes, size in zip(panels, sizes, strict=True):
            scale, name = _SIZES[size]
            drawn = frame.assign(size=scale * frame[size]).dropna(subset=["size"])
            for method in display.methods.values():
                _draw_method(axes, drawn[drawn["method"] == method.id], method)
            axes.set(xscale="log", xlabel=name)
            plain_decades(axes.xaxis, drawn["size"])
        panels[0].set_ylabel(error_name(display.score(dataset)))
        figure.suptitle(display.case_title(dataset, costs))
        legend_below(figure, *panels[0].get_legend_handles_labels())
    return figure


def _draw_method(axes, own, method):
    """Draw a method's variants over `size`, from its colour to pale, or many as points alone."""
    from matplotlib.colors import to_rgb

    variants = list(own.groupby("variant", sort=False))
    # Many lines would hide each other; their points alone show the front.
    joined = len(variants) <= _FEW_VARIANTS
    if not joined:
        variants = [("", own)]
    for (name, line), pale in zip(variants, np.linspace(0, 0.7, len(variants)), strict=True):
        axes.errorbar(
            line["size"], line["error"],
            yerr=line["error_sd"] if line["error_sd"].notna().all() else None,
            color=tuple(pale + (1 - pale) * part for part in to_rgb(method.colour)),
            marker=method.marker, capsize=3, linewidth=1.6,
            linestyle=method.line if joined and len(line) <= _FEW_SIZES else "none",
            label=f"{method.label}, {name}" if name else method.label,
        )  # fmt: skip


def memory_cases(table, display):
    """Return name, title, error's name and rows of texts of each case for the page.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.sizes.size_table`.
    """
    return [_case(of_case(table, *case), case, display) for case in display.cases(table)]


def memory_sentences(table, display):
    """Return a sentence on the methods of lowest mean test error in little memory.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.sizes.size_table`.

    Returns
    -------
    list of str
        A sentence for nodes and one for bytes; none where nothing competes, or not all bytes are
        known.
    """
    labels, sentences = {name: method.label for name, method in display.methods.items()}, []
    for size, unit in (("n_nodes", "nodes"), ("n_bytes", "bytes")):
        best = pd.Series(best_in_little(table, display.cases(table), size), dtype=object)
        # Stable: equal counts stay in the order of the data sets.
        counts = best.value_counts(sort=False).sort_values(ascending=False, kind="stable")
        winners = "; ".join(f"{labels.get(name, name)} on {n}" for name, n in counts.items())
        if winners:
            sentences.append(
                f"Where memory is short (the fewest {unit} in which every method has a model), the "
                f"lowest mean test error, of {counted(len(best), 'data set')}: {winners}."
            )
    return sentences


def _case(frame, case, display):
    return {
        "name": "_".join(case),
        "title": display.case_title(*case),
        "error": error_name(display.score(case[0])),
        "rows": [
            {
                "method": display.label(row["method"]),
                "setting": row["setting"] if pd.notna(row["setting"]) else "",
                "nodes": f"{row['n_nodes']:,.0f}",
                "bytes": f"{row['n_bytes']:,.0f}" if pd.notna(row["n_bytes"]) else "–",
                "error": plus_minus(row["error"], row["error_sd"], 4),
                "seconds": seconds(row["fit_seconds"]),
            }
            for method in display.competitors
            for row in frame[frame["method"] == method].to_dict("records")
        ],
    }
