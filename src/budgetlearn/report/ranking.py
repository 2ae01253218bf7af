"""Who wins over all data sets: the critical-difference diagram and the table of standings."""

import pandas as pd
from scikit_posthocs import critical_difference_diagram

from ..benchmark.points import of_case
from ..benchmark.ranking import LEVEL
from .style import house_style, message_figure, new_figure
from .words import DASH, counted, plus_minus, run_note

# The cell of a method that the study does not ask for on a data set.
_EMPTY = {"text": DASH, "best": False, "note": ""}


def rank_figure(ranking, metadata):
    """Draw the critical-difference diagram: mean ranks, bars joining what may be chance.

    Parameters
    ----------
    ranking : Ranking
        From `budgetlearn.benchmark.ranking.ranking_of`.
    metadata : Metadata
        Labels and colours.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if ranking.pairs is None:
        return message_figure("Ranks need two data sets and three methods to be tested.")
    labels = {name: metadata.methods[name].label for name in ranking.ranks}
    colours = {labels[name]: metadata.methods[name].colour for name in labels}
    mean = ranking.mean.rename(labels)
    pairs = ranking.pairs.rename(index=labels, columns=labels)
    with house_style():
        figure = new_figure(7.6, 1.2 + 0.15 * len(mean))
        axes = figure.subplots()
        drawn = critical_difference_diagram(
            mean, pairs, alpha=LEVEL, ax=axes, color_palette=colours,
            label_fmt_left="{label}  {rank:.1f} ", label_fmt_right=" {rank:.1f}  {label}",
            text_h_margin=0.02,
            crossbar_props={"color": "#222222", "linewidth": 2.4},
        )  # fmt: skip
        # A bar goes through its methods in the order of a set, which is another in each process.
        for (bar,) in drawn["crossbars"]:
            bar.set_xdata(sorted(bar.get_xdata()))
        axes.set_title(f"mean rank over {counted(len(ranking.ranks), 'data set')}, 1 is the best")
    return figure


def rank_sentences(ranking, metadata):
    """Return in words what the tests say, and whom they leave out.

    Parameters
    ----------
    ranking : Ranking
        From `budgetlearn.benchmark.ranking.ranking_of`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of str
    """
    sentences = []
    if ranking.pairs is not None:
        n_cases = counted(len(ranking.ranks), "data set")
        alike = "may be chance" if ranking.friedman >= LEVEL else "are more than chance"
        sentences.append(
            f"Friedman's test over {n_cases}: p = {ranking.friedman:.2g}, so the differences of "
            f"rank {alike} at {LEVEL:g}. Bars join methods that Nemenyi's test does not tell "
            "apart; a data set is one observation, so few data sets tell little."
        )
    if ranking.left_out and len(ranking.ranks):
        names = ", ".join(metadata.methods[name].label for name in ranking.left_out)
        sentences.append(f"Without a rank, as some data set lacks their area: {names}.")
    return sentences


def standings(summary, ranking, metadata, part="test"):
    """Return the table methods × data sets of mean AUP, the best mean rank first.

    Parameters
    ----------
    summary : DataFrame
        From `budgetlearn.benchmark.aggregate.summary_table`.
    ranking : Ranking
        From `budgetlearn.benchmark.ranking.ranking_of`.
    metadata : Metadata
        Order and labels.
    part : {"test", "valid"}, default="test"
        Which reading of the area.

    Returns
    -------
    dict
        columns: title and runs (in words) of each case; rows: for each method its Method,
        mean rank as text and cells, each a dict of text, best (bool) and note (runs it lacks).
    """
    cases = metadata.cases(summary)
    mean = ranking.mean
    rivals = sorted(metadata.rivals(summary), key=lambda name: mean.get(name, float("inf")))
    competing = summary[summary["method"].isin(rivals)]
    columns = [_column(of_case(competing, *case), part) for case in cases]
    rows = [
        {
            "method": metadata.methods[name],
            "rank": f"{mean[name]:.1f}" if name in mean else DASH,
            "cells": [column["cells"].get(name, _EMPTY) for column in columns],
        }
        for name in rivals
    ]
    heads = [
        {"title": metadata.case_title(*case), "runs": counted(column["runs"], "run")}
        for case, column in zip(cases, columns, strict=True)
    ]
    return {"columns": heads, "rows": rows}


def _column(frame, part):
    """Return the cells of one case by method, and the most runs that any method completed."""
    means = frame[f"mean_{part}"].round(12)
    runs = int(frame["n_runs"].max())
    cells = {
        row["method"]: {
            "text": plus_minus(row[f"mean_{part}"], row[f"sd_{part}"]),
            "best": bool(mean == means.max()) and means.count() > 1,
            "note": "" if row["n_runs"] == runs else run_note(row["n_runs"]),
        }
        for row, mean in zip(frame.to_dict("records"), means, strict=True)
    }
    return {"runs": runs, "cells": cells}


def control_rows(scores, metadata):
    """Return for each control its Method and the texts of its mean test score in each case.

    Parameters
    ----------
    scores : DataFrame
        From `budgetlearn.benchmark.aggregate.score_table`.
    metadata : Metadata
        Order and labels.

    Returns
    -------
    list of dict
    """
    known = scores.set_index(["dataset", "costs", "method"])[["mean", "sd"]]
    return [
        {
            "method": metadata.methods[name],
            "texts": [
                plus_minus(*known.loc[(*case, name)]) if (*case, name) in known.index else DASH
                for case in metadata.cases(scores)
            ],
        }
        for name in metadata.controls
        if name in set(scores["method"])
    ]


def peers_ahead(summary, metadata):
    """Return in a sentence where a peer beats every method of the papers; none where it does not.

    Parameters
    ----------
    summary : DataFrame
        From `budgetlearn.benchmark.aggregate.summary_table`.
    metadata : Metadata
        Which methods are peers.

    Returns
    -------
    list of str
    """
    ahead = {}
    cases = metadata.cases(summary)
    for case in cases:
        own = of_case(summary, *case).set_index("method")["mean_test"].dropna()
        own = own[metadata.rivals(own.reset_index())] if len(own) else own
        best = own.idxmax() if len(own) else None
        if best is not None and metadata.methods[best].peer:
            ahead.setdefault(best, []).append(metadata.case_title(*case))
    if not ahead:
        return []
    where = "; ".join(f"{metadata.methods[n].label} on {', '.join(t)}" for n, t in ahead.items())
    count = pd.Series(ahead).map(len).sum()
    return [f"On {count} of {counted(len(cases), 'data set')} what users pick today wins: {where}."]
