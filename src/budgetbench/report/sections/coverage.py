"""Completed runs, and the reasons why others were not."""

from pathlib import Path

from ...study.study import PUBLISHED, place_of
from ..section import Section, table
from ..text import DASH

_CAPTION = """Runs that completed (``n_ok``), completed in part, failed, or left no record, by data
set and method, with the first message."""


class Coverage(Section):
    """Completed runs by method and data set."""

    id = "coverage"
    title = "Coverage"
    place = 95

    @property
    def inputs(self):
        """All tables of printed numbers where some are rerun: those of other studies are named."""
        folder = Path(place_of(PUBLISHED, self.study.root))
        return sorted(map(str, folder.glob("*.csv"))) if self.study.published else []

    @property
    def parts(self):
        return [table("coverage", _CAPTION)]

    def tables(self, report):
        return {"coverage": report.results.coverage}

    def context(self, report):
        titles, rows, gaps = coverage_rows(report.results.coverage, report.display)
        rerun = {Path(path).stem for path in self.study.published}
        printed = [Path(path).stem for path in self.inputs]
        elsewhere = [name for name in printed if name not in rerun]
        return {"columns": titles, "rows": rows, "gaps": gaps, "elsewhere": elsewhere}


def coverage_rows(table, display):
    """Return completed runs of every method in every case, and what kept the others from it.

    Returns
    -------
    tuple of (list of str, list of dict, list of str)
        Titles of the cases; rows of a method's label and cells (text, good); one line for each
        method that lacks something.
    """
    cases = display.cases(table)
    titles = [display.case_title(*case) for case in cases]
    known = {tuple(row[:3]): row for row in table.itertuples(index=False)}
    rows, gaps = [], []
    for method in display.methods.values():
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
    """Return the number of completed runs in words, and whether these are all."""
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
