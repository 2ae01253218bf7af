"""Paired differences of every method from a reference, with intervals, wins and losses."""

from ...analysis import differences as paired
from ...study.study import ACQUISITION
from ..section import Section
from ..text import DASH, interval


class Differences(Section):
    """Paired differences from the best peer, or from the best method without one."""

    id = "differences"
    title = "How sure"
    place = 22
    under = ACQUISITION
    names = ("differences", "differences_overall")

    def tables(self, report):
        results, display = report.results, report.display
        methods, reference = display.rivals(results.summary), paired.reference_of(results)
        ratios, bounded = display.test_ratios, display.bounded
        each = paired.difference_table(results.areas, methods, reference, ratios, bounded)
        return {"differences": each, "differences_overall": paired.overall_table(each)}

    def context(self, report):
        reference, display = paired.reference_of(report.results), report.display
        each, overall = report.tables["differences"], report.tables["differences_overall"]
        titles, rows = display.matrix(each, overall["method"], _cell)
        return {
            "reference": None if reference is None else display.methods[reference],
            "fewest": paired.FEWEST_CASES,
            "n_datasets": each["dataset"].nunique(),
            "overall": [
                [
                    display.label(row.method),
                    interval(row.mean, row.low, row.high),
                    f"{row.wins} / {row.ties} / {row.losses}",
                    row.n_cases,
                ]
                for row in overall.itertuples()
            ],
            "titles": titles,
            "rows": rows,
        }


def _cell(row):
    """Return the cell of a difference, coloured only if its interval excludes 0."""
    if not row:  # the study does not include both methods here
        return DASH
    kind = "better" if row["low"] > 0 else "worse" if row["high"] < 0 else ""
    return {"text": interval(row["mean"], row["low"], row["high"]), "kind": kind}
