"""Methods without a choice of budget, beside what others reach at their cost (Yan et al., 5.3)."""

from textwrap import fill

import numpy as np
import pandas as pd

from ..benchmark.aggregate import CONSTANT
from ..benchmark.points import CASE, GROUP, RUN, of_case
from ..benchmark.records import OK
from .style import house_style, legend_below, message_figure, new_figure
from .words import counted, plus_minus

# The cost of the same features, summed in another order, differs in the last bits.
_SLACK = 1e-9
_LABEL_WIDTH = 28  # characters of a case's title on one line
_CASE_RUN = [*CASE, "run"]
_COLUMNS = [*GROUP, "rival", "cost_fraction", "score", "score_sd", "rival_score", "rival_sd"]
_COLUMNS += ["wins", "n_affording", "n_runs"]


def own_cost_table(points, kept, metadata):
    """Return the accuracy of each such method, and of the others within its cost.

    A run in which a rival affords nothing counts with the free constant, as in the area under the
    Pareto (Yan et al., section 5.2).

    Parameters
    ----------
    points : DataFrame
        Operating points.
    kept : DataFrame
        The same, from `budgetlearn.benchmark.points.compressed_points`.
    metadata : Metadata
        `inside.own_cost` names the methods; their last stage counts, the whole model.

    Returns
    -------
    DataFrame
        dataset, costs, method, rival, cost_fraction (mean share of the full cost that `method`
        comes to), score and score_sd of `method`, rival_score and rival_sd at that cost (for a
        control: at its own), wins (runs in which the rival is ahead), n_affording (runs in which
        the rival has a model within that cost), n_runs that both completed.
    """
    good = points[points["status"] == OK].sort_values([*RUN, "stage"])
    whole = good.groupby(RUN).tail(1)[[*RUN, "cost", "cost_fraction", "test_score"]]
    own = whole[whole["method"].isin(metadata.inside.own_cost)]
    free = whole.loc[whole["method"] == CONSTANT, [*_CASE_RUN, "test_score"]]
    own = own.merge(free.rename(columns={"test_score": "free_score"}), on=_CASE_RUN, how="left")
    rows = []
    for rival in [*metadata.competitors, *metadata.controls]:
        if rival in metadata.inside.own_cost:
            continue
        control = metadata.methods[rival].control
        theirs = whole[whole["cost"] > 0] if control else kept
        theirs = theirs[theirs["method"] == rival]
        compared = _with_rival(own, theirs, control)
        rows += [_row(rival, key, part) for key, part in compared.groupby(GROUP)]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _with_rival(own, theirs, control):
    """Add the rival's score in each run, within the own cost unless it is a control."""
    theirs = theirs[[*_CASE_RUN, "cost", "test_score"]]
    pairs = own.merge(theirs, on=_CASE_RUN, suffixes=("", "_rival"))
    affords = control | (pairs["cost_rival"] <= pairs["cost"] * (1 + _SLACK))
    score = pairs["test_score_rival"].where(affords, pairs["free_score"])
    pairs = pairs.assign(affords=affords, rival_score=score).dropna(subset="rival_score")
    return pairs.sort_values([*RUN, "affords", "cost_rival"]).groupby(RUN).tail(1)


def _row(rival, key, part):
    """Return the comparison of one method with one rival in one case."""
    return dict(zip(GROUP, key, strict=True)) | {
        "rival": rival,
        "cost_fraction": part["cost_fraction"].mean(),
        "score": part["test_score"].mean(),
        "score_sd": part["test_score"].std(),
        "rival_score": part["rival_score"].mean(),
        "rival_sd": part["rival_score"].std(),
        "wins": int((part["rival_score"] > part["test_score"]).sum()),
        "n_affording": int(part["affords"].sum()),
        "n_runs": len(part),
    }


def own_cost_figure(table, metadata):
    """Draw test accuracy at the method's own cost by data set, one panel for each method.

    Parameters
    ----------
    table : DataFrame
        From `own_cost_table`.
    metadata : Metadata
        Labels and colours.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if table.empty:
        return message_figure("No run completed.")
    methods = [name for name in metadata.inside.own_cost if (table["method"] == name).any()]
    cases = metadata.cases(table)
    with house_style():
        figure = new_figure(1.8 + 3.4 * len(methods), 2.0 + 0.5 * len(cases))
        grid = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
        for axes, name in zip(grid, methods, strict=True):
            _draw_panel(axes, table[table["method"] == name], metadata, cases)
            axes.set(title=metadata.methods[name].label, xlabel="test accuracy")
        titles = [fill(metadata.case_title(*case), _LABEL_WIDTH) for case in cases]
        grid[0].set_yticks(range(len(cases)), titles)
        grid[0].set_ylim(len(cases) - 0.5, -0.5)
        entries = {
            label: handle
            for axes in grid
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        legend_below(figure, list(entries.values()), list(entries))
    return figure


def _draw_panel(axes, part, metadata, cases):
    """Draw the method and its rivals, each on a line of its own within the data set."""
    own = metadata.methods[part["method"].iloc[0]]
    rivals = [name for name in metadata.methods if name in set(part["rival"])]
    lines = np.linspace(-0.25, 0.25, len(rivals) + 1)
    first = part.drop_duplicates(["dataset", "costs"])
    _dots(axes, first, "score", "score_sd", own, ", at its own cost", lines[0], cases)
    for rival, line in zip(rivals, lines[1:], strict=True):
        method = metadata.methods[rival]
        note = "" if method.control else ", within that cost"
        rows = part[part["rival"] == rival]
        _dots(axes, rows, "rival_score", "rival_sd", method, note, line, cases)


def _dots(axes, rows, score, spread, method, note, line, cases):
    places = [cases.index(tuple(case)) + line for case in rows[["dataset", "costs"]].to_numpy()]
    axes.errorbar(
        rows[score], places, xerr=rows[spread], fmt=method.marker, color=method.colour,
        capsize=2, markersize=6, label=method.label + note,
    )  # fmt: skip


def own_cost_rows(table, metadata):
    """Return what the page shows: one row for each data set, method and rival."""
    return [
        {
            "title": metadata.case_title(row.dataset, row.costs),
            "method": metadata.methods[row.method].label,
            "share": f"{100 * row.cost_fraction:.1f} %",
            "score": plus_minus(row.score, row.score_sd),
            "rival": metadata.methods[row.rival].label,
            "rival_score": plus_minus(row.rival_score, row.rival_sd),
            "wins": f"{row.wins} of {row.n_runs}",
            "note": ""
            if row.n_affording == row.n_runs
            else f"{row.n_affording} of {counted(row.n_runs, 'run')} afford a model",
        }
        for case in metadata.cases(table)
        for row in of_case(table, *case).itertuples()
    ]
