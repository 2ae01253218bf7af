"""Printed and ours, as the page words them."""

from .words import DASH, counted, plus_minus

# Digits that matter, by quantity; three for all others.
_DIGITS = {"cost_percent": 1, "n_features": 1, "cost": 1, "n_nodes": 0}
_NAMES = {
    "aup": "AUP",
    "cost": "mean cost",
    "cost_percent": "% of the full cost",
    "estimated_score": "estimated test score",
    "n_features": "features",
    "n_nodes": "nodes",
    "test_error": "test error",
    "test_score": "test score",
}


def published_sections(table, metadata):
    """Return what the page shows of each published table that the study reruns.

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.benchmark.published.published_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of dict
        title; quantities (names of the groups of columns); rows of title, method, setting and
        cells (printed, ours, difference: texts); notes; left_out (how many numbers of the table
        we have nothing beside, in words).
    """
    return [_section(part, metadata) for _, part in table.groupby("source", sort=False)]


def _section(table, metadata):
    first = table.iloc[0]
    rerun = table[table["n_runs"] > 0]
    quantities = list(rerun["quantity"].drop_duplicates())
    keys = ["run_on", "costs", "method", "setting"]
    return {
        "title": f"{first['paper']}, table {first['table']}",
        "quantities": [_NAMES[name] for name in quantities],
        "rows": [
            {
                "title": metadata.case_title(run_on, costs),
                "method": metadata.methods[method].label,
                "setting": setting or DASH,
                "cells": _cells(part.set_index("quantity"), quantities),
            }
            for (run_on, costs, method, setting), part in rerun.groupby(keys, sort=False)
        ],
        "notes": _notes(rerun, metadata),
        "left_out": _left_out(int((table["n_runs"] == 0).sum())),
    }


def _left_out(count):
    return f"{counted(count, 'more number')} of the table" if count else ""


def _cells(numbers, quantities):
    """Return printed, ours and difference of each quantity."""
    cells = []
    for name in quantities:
        if name not in numbers.index:
            cells.append((DASH, DASH, DASH))
            continue
        row, digits = numbers.loc[name], _DIGITS.get(name, 3)
        own = plus_minus(row["ours"], row["sd"], digits)
        cells.append((f"{row['value']:.{digits}f}", own, f"{row['difference']:+.{digits}f}"))
    return cells


def _notes(rerun, metadata):
    """Return one sentence on each data set: how many runs, and whether it is the paper's."""
    notes = []
    for (run_on, paper), part in rerun.groupby(["run_on", "dataset"], sort=False):
        title = metadata.datasets[run_on].get("title", run_on)
        least, most = int(part["n_runs"].min()), int(part["n_runs"].max())
        runs = counted(most, "run") if least == most else f"{least} to {most} runs"
        other = "" if run_on == paper else f", other rows than the paper's {paper}: expect a gap"
        notes.append(f"{title}: mean over {runs} of ours{other}.")
    return notes
