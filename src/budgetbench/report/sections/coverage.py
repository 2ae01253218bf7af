"""Completed runs, and the reasons why others were not."""

from pathlib import Path

from ...analysis.schedules import GROUP
from ...study.study import PUBLISHED, place_of
from ..section import Section, table
from ..text import DASH

_WORDS = {"n_ok": "ok", "n_partial": "in part", "n_failed": "failed", "n_missing": "missing"}


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
        return [table("coverage")]

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

    Returned are the titles of the cases; a method's label and its cells (text, whether all is well)
    for each row; and one line for each method that lacks something.
    """
    titles = {case: display.case_title(*case) for case in display.cases(table)}
    known = table.set_index(GROUP).to_dict("index")
    rows, gaps = [], []
    for method in display.methods.values():
        cells = []
        for case, title in titles.items():
            row = known.get((*case, method.id), {})
            counts = {word: row[name] for name, word in _WORDS.items() if row and row[name]}
            # Nothing was asked for where there is no row: that is no gap.
            text = ", ".join(f"{count} {word}" for word, count in counts.items()) if row else DASH
            good = set(counts) <= {"ok"}
            cells.append((text, good))
            if not good:
                message = row["message"] or "no record of it was found"
                gaps.append(f"{title}, {method.label}: {text} ({message})")
        rows.append((method.label, cells))
    return list(titles.values()), rows, gaps
