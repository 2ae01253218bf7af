"""Error against memory, where a study compares models of several sizes."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb

from ..benchmark.points import GROUP, of_case
from ..benchmark.records import OK, parse_setting, setting_text
from .style import house_style, legend_below, message_figure, new_figure, plain_decades
from .words import counted, plus_minus, seconds

# Above this many sizes (every tree of a forest, say) points alone are drawn: they need no line.
_FEW_SIZES = 12
# Above this many variants of a method points alone are drawn: shades could not be told apart.
_FEW_VARIANTS = 5


def memory_table(points, metadata):
    """Return mean nodes and mean test error of every method at each of its sizes.

    Parameters
    ----------
    points : DataFrame
        Operating points, with n_nodes where a method has nodes.
    metadata : Metadata
        Which methods compete.

    Returns
    -------
    DataFrame
        dataset, costs, method, variant (the settings that a grid fits the method with, "" for a
        method without a grid), setting, n_nodes, error (mean squared error in regression, else 1 −
        score), error_sd, fit_seconds, n_runs; variants in the order of the grid, sorted by nodes.
    """
    shown = points[
        (points["status"] == OK)
        & points["n_nodes"].notna()
        & points["method"].isin(metadata.competitors)
    ]
    errors = shown["test_mse"].where(shown["test_mse"].notna(), 1 - shown["test_score"])
    shown = shown.assign(error=errors, variant=_variants(shown))
    groups = shown.groupby([*GROUP, "fit", "variant", "setting"], dropna=False)
    table = groups.agg(
        n_nodes=("n_nodes", "mean"),
        error=("error", "mean"),
        error_sd=("error", "std"),
        fit_seconds=("fit_seconds", "mean"),
        n_runs=("run", "nunique"),
    ).reset_index()
    table = table.sort_values([*GROUP, "fit", "n_nodes"], ignore_index=True)
    return table.drop(columns="fit")


def _variants(points):
    """Return what the grid of each point's method sets: what all points of its fit share."""
    variants = pd.Series("", index=points.index, dtype=object)
    for _, own in points.groupby(GROUP):
        fits = [stages for _, stages in own.groupby("fit")]
        for stages in fits if len(fits) > 1 else ():
            settings = [parse_setting(text).items() for text in stages["setting"].unique()]
            shared = [pair for pair in settings[0] if all(pair in rest for rest in settings)]
            variants[stages.index] = setting_text(dict(shared))
    return variants


def error_name(score):
    """Return what the error is called where predictions are scored by `score`."""
    names = {"accuracy": "test error", "R²": "test mean squared error"}
    return names.get(score, f"1 − test {score}")


def memory_figure(table, metadata, dataset, costs):
    """Draw test error against the number of nodes, logarithmic, one line for each variant.

    Parameters
    ----------
    table : DataFrame
        From `memory_table`.
    metadata : Metadata
        Labels and colours.
    dataset, costs : str
        The case.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = of_case(table, dataset, costs)
    if frame.empty:
        return message_figure(f"{metadata.case_title(dataset, costs)}: no model has nodes.")
    with house_style():
        figure = new_figure(6.4, 4.4)
        axes = figure.subplots()
        for method in metadata.methods.values():
            _draw_method(axes, frame[frame["method"] == method.id], method)
        axes.set(
            xscale="log",
            xlabel="nodes of the model",
            ylabel=error_name(metadata.score(dataset)),
            title=metadata.case_title(dataset, costs),
        )
        plain_decades(axes.xaxis, frame["n_nodes"])
        legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def _draw_method(axes, own, method):
    """Draw the variants of a method, from its colour to pale, or many of them as points alone."""
    variants = list(own.groupby("variant", sort=False))
    joined = len(variants) <= _FEW_VARIANTS
    if not joined:
        variants = [("", own)]
    for (name, line), pale in zip(variants, np.linspace(0, 0.7, len(variants)), strict=True):
        axes.errorbar(
            line["n_nodes"], line["error"],
            yerr=line["error_sd"] if line["error_sd"].notna().all() else None,
            color=tuple(pale + (1 - pale) * part for part in to_rgb(method.colour)),
            marker=method.marker, capsize=3, linewidth=1.6,
            linestyle=method.line if joined and len(line) <= _FEW_SIZES else "none",
            label=f"{method.label}, {name}" if name else method.label,
        )  # fmt: skip


def memory_sections(table, metadata):
    """Return what the page shows: for each case its name, title, error's name and rows of texts.

    Parameters
    ----------
    table : DataFrame
        From `memory_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of dict
    """
    return [_section(of_case(table, *case), case, metadata) for case in metadata.cases(table)]


def memory_verdict(table, metadata):
    """Return in a sentence who has the lowest mean test error in little memory, and where.

    Little is, in each case, the smallest number of nodes in which every method has a model; each
    is represented by its largest model within it. Where one method alone is fitted with a grid,
    its variants compete.

    Parameters
    ----------
    table : DataFrame
        From `memory_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of str
        One sentence; none where nothing competes.
    """
    frames = [of_case(table, *case) for case in metadata.cases(table)]
    rivals = [rivals for rivals in map(_rivals, frames) if len(set(rivals["rival"])) > 1]
    if not rivals:
        return []
    best = pd.Series([_best_in_little(frame) for frame in rivals])
    counts = best.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    labels = {name: method.label for name, method in metadata.methods.items()}
    winners = "; ".join(f"{labels.get(name, name)} on {n}" for name, n in counts.items())
    return [
        "Lowest mean test error within the fewest nodes that hold a model of every one compared, "
        f"of {counted(len(rivals), 'data set')}: {winners}."
    ]


def _rivals(frame):
    """Add who competes in a case: its methods, or the variants of a method that is alone."""
    alone = len(set(frame["method"])) == 1
    return frame.assign(rival=frame["variant"] if alone else frame["method"])


def _best_in_little(frame):
    """Return the rival of lowest error in the smallest memory that every rival fits into."""
    little = frame.groupby("rival")["n_nodes"].min().max()
    within = frame[frame["n_nodes"] <= little].sort_values("n_nodes", kind="stable")
    largest = within.groupby(["rival", "variant"])["error"].last()
    return largest.idxmin()[0]


def _section(frame, case, metadata):
    return {
        "name": "_".join(case),
        "title": metadata.case_title(*case),
        "error": error_name(metadata.score(case[0])),
        "rows": [
            {
                "method": metadata.methods[row["method"]].label,
                "setting": row["setting"] if pd.notna(row["setting"]) else "",
                "nodes": f"{row['n_nodes']:,.0f}",
                "error": plus_minus(row["error"], row["error_sd"], 4),
                "seconds": seconds(row["fit_seconds"]),
            }
            for method in metadata.competitors
            for row in frame[frame["method"] == method].to_dict("records")
        ],
    }
