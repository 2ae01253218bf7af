"""Error against memory, where a study compares models of several sizes."""

import pandas as pd

from ..benchmark.points import CASE, of_case
from ..benchmark.records import OK
from .style import house_style, message_figure, new_figure
from .words import counted, plus_minus

# Above this many sizes (every tree of a forest, say) points alone are drawn: they need no line.
_FEW_SIZES = 12


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
        dataset, costs, method, setting, n_nodes, error (mean squared error in regression, else 1 −
        score), error_sd, n_runs; sorted by nodes within a method.
    """
    shown = points[
        (points["status"] == OK)
        & points["n_nodes"].notna()
        & points["method"].isin(metadata.competitors)
    ]
    errors = shown["test_mse"].where(shown["test_mse"].notna(), 1 - shown["test_score"])
    keys = [*CASE, "method", "setting"]
    groups = shown.assign(error=errors).groupby(keys, dropna=False)
    table = groups.agg(
        n_nodes=("n_nodes", "mean"),
        error=("error", "mean"),
        error_sd=("error", "std"),
        n_runs=("run", "nunique"),
    ).reset_index()
    return table.sort_values([*CASE, "method", "n_nodes"], ignore_index=True)


def error_name(score):
    """Return what the error is called where predictions are scored by `score`."""
    names = {"accuracy": "test error", "R²": "test mean squared error"}
    return names.get(score, f"1 − test {score}")


def memory_figure(table, metadata, dataset, costs):
    """Draw test error against the number of nodes, logarithmic, one line for each method.

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
        figure = new_figure(6.4, 4.8)
        axes = figure.subplots()
        for method in metadata.methods.values():
            own = frame[frame["method"] == method.id]
            if len(own):
                axes.errorbar(
                    own["n_nodes"], own["error"],
                    yerr=own["error_sd"] if own["error_sd"].notna().all() else None,
                    color=method.colour, marker=method.marker, capsize=3, linewidth=1.6,
                    linestyle=method.line if len(own) <= _FEW_SIZES else "none",
                    label=method.label,
                )  # fmt: skip
        axes.set(
            xscale="log",
            xlabel="nodes of the model",
            ylabel=error_name(metadata.score(dataset)),
            title=metadata.case_title(dataset, costs),
        )
        figure.legend(loc="outside lower center", ncols=4)
    return figure


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
    is represented by its largest model within it.

    Parameters
    ----------
    table : DataFrame
        From `memory_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of str
        One sentence; none for an empty table.
    """
    cases = metadata.cases(table)
    if not cases:
        return []
    best = pd.Series([_best_in_little(of_case(table, *case)) for case in cases])
    counts = best.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    winners = ", ".join(f"{metadata.methods[name].label} on {n}" for name, n in counts.items())
    return [
        "Lowest mean test error within the fewest nodes that hold a model of every method, "
        f"of {counted(len(cases), 'data set')}: {winners}."
    ]


def _best_in_little(frame):
    """Return the method of lowest error in the smallest memory that every method fits into."""
    little = frame.groupby("method")["n_nodes"].min().max()
    within = frame[frame["n_nodes"] <= little].sort_values("n_nodes", kind="stable")
    return within.groupby("method")["error"].last().idxmin()


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
            }
            for method in metadata.competitors
            for row in frame[frame["method"] == method].to_dict("records")
        ],
    }
