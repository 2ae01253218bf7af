"""Numbers as the page words them: frames in, rows of texts out."""

import pandas as pd

from ..benchmark.points import of_case

DASH = "–"


def counted(number, noun):
    """Return "1 run", "2 runs"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plus_minus(mean, sd, digits=3):
    """Return "mean ± sd"; a dash for no mean, no ± where a single run has no spread."""
    if pd.isna(mean):
        return DASH
    return f"{mean:.{digits}f}" if pd.isna(sd) else f"{mean:.{digits}f} ± {sd:.{digits}f}"


def seconds(mean, sd=float("nan")):
    """Return seconds with three digits that matter, with their spread."""
    if pd.isna(mean):
        return DASH
    return f"{mean:.3g}" if pd.isna(sd) else f"{mean:.3g} ± {sd:.2g}"


def scope(table, metadata):
    """Return in one sentence what was compared.

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.benchmark.aggregate.coverage_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    str
    """
    runs = table[[name for name in table if name.startswith("n_")]].sum(axis=1)
    least, most = int(runs.min()), int(runs.max())
    span = counted(most, "run") if least == most else f"{least} to {most} runs"
    cases = counted(len(metadata.cases(table)), "data set")
    peers = [name for name in metadata.competitors if metadata.methods[name].peer]
    others = [name for name in metadata.competitors if name not in peers]
    parts = [_listed(metadata, others)] if others else []
    parts += [f"as peers {_listed(metadata, peers)}"] if peers else []
    parts.append(f"as controls {_listed(metadata, metadata.controls)}")
    return f"{'; '.join(parts)}; {cases}, {span} each."


def _listed(metadata, names):
    """Return the labels of methods as a list in words."""
    labels = [metadata.methods[name].label for name in names]
    return (
        " and ".join([", ".join(labels[:-1]), labels[-1]]) if len(labels) > 1 else "".join(labels)
    )


def run_note(count):
    """Return a note on the number of runs that a mean is over."""
    return "no run" if pd.isna(count) or count == 0 else counted(int(count), "run")


def leads(table, metadata):
    """Return the leads of `budgetlearn.benchmark.aggregate.lead_table` as words."""
    rows = []
    ordered = [of_case(table, *case) for case in metadata.cases(table)]
    for row in (row for part in ordered for row in part.to_dict("records")):
        alone = pd.isna(row["runner_up"])
        rows.append(
            {
                "title": metadata.case_title(row["dataset"], row["costs"]),
                "best": metadata.methods[row["best"]].label,
                "runner_up": DASH if alone else metadata.methods[row["runner_up"]].label,
                "lead": plus_minus(row["lead"], row["lead_sd"]),
                "wins": DASH if alone else f"{row['wins']:.0f} of {row['n_runs']:.0f}",
            }
        )
    return rows


def offered(table):
    """Return {method: how many models it offers in a run, least to most over the data sets}.

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.benchmark.aggregate.time_table`.

    Returns
    -------
    dict of str to str
    """
    spans = table.groupby("method")["n_points"].agg(["min", "max"]).round().astype(int)
    return {
        name: f"{low}" if low == high else f"{low}–{high}" for name, low, high in spans.itertuples()
    }


def coverage(table, metadata):
    """Return completed runs of every method in every case, and what kept the others from it.

    Returns
    -------
    tuple of (list of str, list of dict, list of str)
        Titles of the cases; rows of a method's label and cells (text, good); one line for each
        method that lacks something.
    """
    cases = metadata.cases(table)
    titles = [metadata.case_title(*case) for case in cases]
    known = {tuple(row[:3]): row for row in table.itertuples(index=False)}
    rows, gaps = [], []
    for method in metadata.methods.values():
        cells = []
        for title, case in zip(titles, cases, strict=True):
            row = known.get((*case, method.id))
            text, good = _coverage_text(row)
            cells.append({"text": text, "good": good})
            if not good:
                message = row.message or "no record of it was found"
                gaps.append(f"{title}, {method.label}: {text} ({message})")
        rows.append({"label": method.label, "cells": cells})
    return titles, rows, gaps


def _coverage_text(row):
    """Return how many runs were completed, and whether that is all of them."""
    if row is None:
        return DASH, True
    counts = {
        "ok": row.n_ok,
        "in part": row.n_partial,
        "failed": row.n_failed,
        "missing": row.n_missing,
    }
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    return ", ".join(parts), bool(sum(counts.values()) == row.n_ok)


def n_classes(classes):
    """Return the number of classes from a number, or from a mapping from class to rows."""
    return as_text(len(classes) if isinstance(classes, dict) else classes)


def as_text(value):
    """Return a setting or a provenance entry in words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {as_text(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(inner) for inner in value)
    if value is None:
        return DASH
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
